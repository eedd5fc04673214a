// One stream of events for all folders that are looked at: browsers keep few connections to a server.

const firstWait = 2000
const longestWait = 60_000
const mostFolders = 64

export class LiveStream {
    #root
    #tell
    #source
    /// Those before, which go on until the new one is there.
    #before = new Set()
    #isOpen = false
    #folders = []
    #latest = ""
    #wait = firstWait
    #timer

    /// `tell` gets {type, lines}: "change", "locks", "gone", "reset" with hrefs as docs/live.md has them; "open" when all that happens from now on
    /// in `folders` will come, with `isWhole` where all since the last news has come as well; "lost" when there is no stream for a while.
    constructor(root, tell) {
        this.#root = root
        this.#tell = tell
    }

    /// Watches these folders, and no others. What happens while the stream is changed over is not missed.
    watch(hrefs) {
        const folders = [...new Set(hrefs)].sort().slice(0, mostFolders)
        if (this.#source && folders.join() === this.#folders.join()) {
            if (this.#isOpen) this.#tell({ type: "open", lines: [], folders, isWhole: true })
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
        // Locks have no history: the server names all folders then. Where the one stream goes on until the other is there, none was missed.
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
            this.#tell({ type: "open", lines: [], folders, isWhole: since !== "" })
        })
        source.addEventListener("error", () => {
            if (source !== this.#source) return
            this.#closeBefore()
            this.#isOpen = false
            isTakenOver = false
            // While it connects again by itself, it says where it was.
            if (source.readyState !== EventSource.CLOSED) return
            this.#source = undefined
            this.#tell({ type: "lost", lines: [] })
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
                if (!isKnown) this.#tell({ type, lines })
            })
        }
    }
}
