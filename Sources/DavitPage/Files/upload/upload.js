// The state of one upload, and which of the open pages it belongs to.

// crypto.randomUUID is not available over plain HTTP.
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")

export const session = newId()

// Open pages usually respond immediately; this allows for a busy one.
const answerMilliseconds = 400

const open = () => {
    try {
        return new BroadcastChannel("davit-uploads")
    } catch {
        // Not supported or denied: other pages cannot be detected.
        return undefined
    }
}
const channel = open()
const alive = new Set([session])

channel?.addEventListener("message", ({ data }) => {
    if (data.ask) channel.postMessage({ session })
    if (data.session) alive.add(data.session)
})

// Returns the sessions of all open pages, including this one.
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
    /// waiting, running, paused, failed, done, cancelled, missing (the user must choose the file again) or locked (reading the
    /// file requires a click)
    state = "waiting"
    /// The share, the folder that was chosen as the target, and the resource to create in or below it.
    share
    base
    href
    /// The names below `base`.
    path
    size
    /// Modification time in ms.
    modified
    /// The entity tag of the version to replace; undefined for a new resource.
    etag
    file
    handle
    inner
    blob
    isFolder = false
    /// The Error with which the upload failed.
    problem
    /// The key of a status text while the upload is running.
    note
    loaded = 0
    /// For uploads in parts: the URL on the server, the received bytes, and whether that number is uncertain.
    url
    offset = 0
    isUnsure = false
    /// The Adler-32 checksum of the received bytes.
    adler
    /// Whether the upload was restarted because the complete file was corrupted.
    wasRestarted = false
    isInParts = false
    mayBeThere = false

    constructor(values) { Object.assign(this, values) }

    get name() { return this.path.at(-1) }

    /// The record for the database. It contains the content (`blob`) only if it came from the clipboard.
    get record() {
        const { file, problem, state, ...stored } = this
        return { ...stored, session, isPaused: state === "paused" }
    }

    /// Restores an upload from a record of a closed page; its last request may have succeeded.
    static restored({ session: _, isPaused, ...record }) {
        return new Upload({
            ...record, state: isPaused ? "paused" : "waiting", loaded: record.offset ?? 0, isUnsure: true, mayBeThere: true,
        })
    }
}
