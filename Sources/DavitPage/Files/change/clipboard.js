// Cut, copy and paste of entries, within this tab and between tabs of the same server.
//
// The entries are in local storage. The system clipboard contains their addresses as text, and a random ID that shows whether
// anything else has been copied since. Other origins can write to the clipboard but do not know the ID.

import { propfind } from "../dav.js"
import { canonical, isWithin, parentOf } from "../href.js"
import { attempt, later } from "../load.js"
import { toast } from "../messages.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { load, remove, save } from "../storage.js"
import { t } from "../strings.js"

const place = "davit.clipboard"
const type = "application/x-davit-entries"
const transfers = later(() => import("./transfer.js"))

const read = () => {
    try {
        const found = JSON.parse(load(place))
        const isOwn = (href) => typeof href === "string" && isWithin(href, page.root) && href !== page.root && canonical(href) === href
        return found && Array.isArray(found.hrefs) && found.hrefs.every(isOwn) ? found : undefined
    } catch {
        return undefined
    }
}

class Clipboard {
    #app
    #isTaking = false

    start(app) {
        this.#app = app
        for (const name of ["copy", "cut"]) document.addEventListener(name, (event) => this.#write(event))
        document.addEventListener("paste", (event) => this.#pasted(event))
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !event.defaultPrevented && read()?.isCut && app.folder.cut.size > 0) this.clear()
        })
        addEventListener("storage", ({ key }) => { if (key === place) this.#mark() })
        app.folder.addEventListener("load", () => this.#mark())
        this.#mark()
    }

    get hrefs() { return read()?.hrefs ?? [] }

    take(entries, isCut) {
        const hrefs = entries.map(({ href }) => href)
        save(place, JSON.stringify({ id: crypto.getRandomValues(new Uint32Array(4)).join("-"), hrefs, isCut }))
        this.#isTaking = true
        try { document.execCommand("copy") } finally { this.#isTaking = false }
        this.#mark()
        toast(t(isCut ? "change.isCut" : "change.isCopied", { count: hrefs.length }))
    }

    clear() {
        remove(place)
        this.#mark()
    }

    #write(event) {
        const taken = this.#isTaking && read()
        if (!taken) return
        event.preventDefault()
        event.clipboardData.setData("text/plain", taken.hrefs.map((href) => new URL(href, location.href).href).join("\n"))
        event.clipboardData.setData(type, taken.id)
    }

    #pasted(event) {
        if (event.defaultPrevented || event.target.closest?.("input, textarea, [contenteditable], dialog")) return
        const id = event.clipboardData.getData(type)
        if (!id || event.clipboardData.files.length > 0 || read()?.id !== id || this.#app.folder.query) return
        if (!may("create", this.#app.folder)) return
        event.preventDefault()
        attempt(() => this.paste())
    }

    /// Pastes into the current folder.
    async paste() {
        const taken = read()
        if (!taken) return
        const target = this.#app.folder.href
        const known = await Promise.all(taken.hrefs.map(async (href) => {
            const entry = this.#app.folder.entry(href)
            if (entry) return entry
            try {
                return (await propfind(href, { depth: 0 })).entries[0]
            } catch {
                return undefined
            }
        }))
        const entries = known.filter(Boolean)
        if (entries.length < known.length) toast(t("change.pasteGone", { count: known.length - entries.length }), { kind: "error" })
        if (entries.length === 0) return this.clear()
        // Pasting cut entries into their own folder only clears the clipboard.
        if (taken.isCut && entries.every(({ href }) => parentOf(href) === target)) return this.clear()
        const { transfer } = await transfers()
        const isDone = await transfer(this.#app, entries, target, { isCopy: !taken.isCut })
        if (isDone && taken.isCut && read()?.id === taken.id) this.clear()
    }

    #mark() {
        const taken = read()
        const { folder } = this.#app
        const cut = taken?.isCut ? taken.hrefs : []
        if (cut.length > 0 || folder.cut.size > 0) folder.markCut(cut)
        // Update the Paste action in the toolbar.
        folder.reselect()
    }
}

export const clipboard = new Clipboard()
