// One event stream for all watched folders, because browsers limit the connections to a server.

const firstWait = 2000
const longestWait = 60_000
const maxFolders = 64

export class LiveStream {
    #root
    #notify
    #source
    /// Previous streams, kept open until the new one is connected.
    #before = new Set()
    #isOpen = false
    #folders = []
    #latest = ""
    #wait = firstWait
    #timer

    /// Calls `notify` with {type, lines}: "change", "locks", "gone" and "reset" with hrefs as in docs/live.md; "open" when all
    /// further changes in `folders` will be reported, with `isWhole` if no change since the last event was missed; "lost" when
    /// the browser has given up reconnecting, before this class retries.
    constructor(root, notify) {
        this.#root = root
        this.#notify = notify
    }

    /// Sets the watched folders, at most `maxFolders`. No change is missed while the stream is replaced.
    watch(hrefs) {
        const folders = [...new Set(hrefs)].sort().slice(0, maxFolders)
        if (this.#source && folders.join() === this.#folders.join()) {
            if (this.#isOpen) this.#notify({ type: "open", lines: [], folders, isWhole: true })
            return
        }
        this.#folders = folders
        clearTimeout(this.#timer)
        if (folders.length > 0) this.#open()
        else this.close()
    }

    close() {
        clearTimeout(this.#timer)
        this.#source?.close()
        this.#source = undefined
        this.#closeBefore()
        this.#isOpen = false
        this.#folders = []
    }

    #closeBefore() {
        for (const source of this.#before) source.close()
        this.#before.clear()
    }

    #open() {
        if (this.#source && this.#isOpen) this.#before.add(this.#source)
        else this.#source?.close()
        const folders = this.#folders
        const since = this.#latest
        // Locks have no history, so a new stream begins with a `locks` event for all folders. It is ignored if the old stream
        // was open until the new one was connected, because then no change was missed.
        let isTakenOver = this.#before.size > 0
        const query = folders.map((href) => `&in=${href.slice(this.#root.length)}`).join("")
        const source = new EventSource(`${this.#root}?events${query}${since ? `&since=${encodeURIComponent(since)}` : ""}`)
        this.#source = source
        this.#isOpen = false
        source.addEventListener("open", () => {
            if (source !== this.#source) return
            this.#closeBefore()
            this.#isOpen = true
            this.#wait = firstWait
            this.#notify({ type: "open", lines: [], folders, isWhole: since !== "" })
        })
        source.addEventListener("error", () => {
            if (source !== this.#source) return
            this.#closeBefore()
            this.#isOpen = false
            isTakenOver = false
            // When the browser reconnects automatically, it sends the last event ID.
            if (source.readyState !== EventSource.CLOSED) return
            this.#source = undefined
            this.#notify({ type: "lost", lines: [] })
            this.#timer = setTimeout(() => this.#open(), this.#wait)
            this.#wait = Math.min(longestWait, this.#wait * 2)
        })
        const note = (event) => { if (event.lastEventId) this.#latest = event.lastEventId }
        source.addEventListener("message", note)
        for (const type of ["change", "locks", "gone", "reset"]) {
            source.addEventListener(type, (event) => {
                note(event)
                const lines = event.data.split("\n").filter(Boolean)
                const isKnown = isTakenOver && type === "locks" && folders.every((href) => lines.includes(href))
                if (type === "locks") isTakenOver = false
                if (!isKnown) this.#notify({ type, lines })
            })
        }
    }
}
