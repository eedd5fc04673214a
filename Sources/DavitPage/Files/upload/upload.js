// One file on its way: what it is, where it goes, how far it is, and which of the open pages brings it there.

// crypto.randomUUID is not there on plain HTTP.
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")

export const session = newId()

// A page that is open answers at once; this is for one that is busy.
const answerMilliseconds = 400

const open = () => {
    try {
        return new BroadcastChannel("davit-uploads")
    } catch {
        // There is none, or the browser denies it: other pages are not known then.
        return undefined
    }
}
const channel = open()
const alive = new Set([session])

channel?.addEventListener("message", ({ data }) => {
    if (data.ask) channel.postMessage({ session })
    if (data.session) alive.add(data.session)
})

// The sessions that are open now, this one with them.
export async function aliveSessions() {
    alive.clear()
    alive.add(session)
    if (channel) {
        channel.postMessage({ ask: true })
        await new Promise((resolve) => { setTimeout(resolve, answerMilliseconds) })
    }
    return alive
}

export class Upload {
    id = newId()
    /// waiting, running, paused, failed, done, missing (its file is asked for), locked (its file is known, but may be read
    /// only after a click)
    state = "waiting"
    /// The share it belongs to, and the folder that it was given to.
    share
    base
    href
    /// The names from `base` down, as they are shown.
    path
    size
    /// In ms.
    modified
    /// What it replaces; undefined where nothing was.
    etag
    file
    handle
    inner
    blob
    isFolder = false
    /// Why it failed: an Error.
    problem
    /// The key of what it waits for while it runs.
    note
    loaded = 0
    /// Of an upload in parts: its place on the server, how much that has, and whether that is certain.
    url
    offset = 0
    isUnsure = false
    /// The digest of what it has, of Adler32.
    adler
    /// It has begun again from nothing, because all of it had come and was not right.
    isOver = false
    isInParts = false
    mayBeThere = false

    constructor(values) { Object.assign(this, values) }

    get name() { return this.path.at(-1) }

    /// What the database keeps. A file itself is not in it, but where it came from the clipboard (`blob`).
    get record() {
        const { file, problem, state, ...kept } = this
        return { ...kept, session, isPaused: state === "paused" }
    }

    /// From a record of a page that is gone; what was on its way then may have arrived.
    static restored({ session: _, isPaused, ...record }) {
        return new Upload({
            ...record, state: isPaused ? "paused" : "waiting", loaded: record.offset ?? 0, isUnsure: true, mayBeThere: true,
        })
    }
}
