// A text editor. Locks the file while it is open, overwrites only a version that the user has seen, and keeps the line endings
// and, if it supports all characters, the encoding.

import { DavError, propfind, put } from "../dav.js"
import { dialog } from "../dialog.js"
import { element, icon, iconButton } from "../element.js"
import { explain } from "../errors.js"
import { lastSegment, member, parentOf, visible } from "../href.js"
import { attempt, later } from "../load.js"
import { announce, toast } from "../messages.js"
import { freeName } from "../names.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { readSetting, writeSetting } from "../settings.js"
import { bytes as size, dateTime, t } from "../strings.js"
import { decode, encode, LineEnds } from "./encoding.js"
import { EditLock } from "./lock.js"
import { editable } from "./text.js"

const locks = later(() => import("../change/locks.js"))

export const show = async (view) => {
    const { entry, stage, fail, signal } = view
    if (entry.size > editable) return fail(t("preview.tooLarge", { size: size(editable) }))
    const lock = new EditLock(entry.href)
    // Lock before reading, so that no other client writes in between.
    if (may("change", entry)) await lock.take()
    const file = await load(entry.href, signal).catch((error) => {
        lock.end()
        throw error
    })
    if (!file || signal.aborted) {
        lock.end()
        return signal.aborted ? undefined : fail()
    }
    const editor = new Editor(view, file, lock)
    stage.replaceChildren(editor.element)
    editor.field.focus()
    return editor
}

/// Loads a file as text: {plain, ends, encoding, hasMark, etag}; undefined if it is not text.
const load = async (href, signal) => {
    const response = await fetch(href, { signal, cache: "no-cache" })
    if (!response.ok) throw new DavError(response.status, { href })
    const found = decode(new Uint8Array(await response.arrayBuffer()))
    if (!found) return undefined
    const ends = new LineEnds(found.text)
    return { ...found, ends, plain: ends.plain, etag: response.headers.get("ETag") ?? "" }
}

class Editor {
    #isBusy = false
    #saving
    #hurry

    constructor(view, file, lock) {
        Object.assign(this, { view, file, lock, href: view.entry.href, saved: file.plain })
        this.isReadOnly = !page.canWrite || !may("change", view.entry) || lock.isForeign
        this.numbers = element("pre.editor-numbers", { "aria-hidden": "true" })
        this.field = element("textarea.editor-text", {
            wrap: "off", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
            "aria-label": t("preview.contentOf", { name: visible(view.entry.name) }), readonly: this.isReadOnly,
        })
        this.field.value = file.plain
        this.note = element("div.editor-note", { role: "status", hidden: true })
        this.status = element("span")
        this.place = element("span")
        this.indent = element("button.plain", { type: "button", title: "Ctrl+M", onclick: () => this.switchTab() }, t("preview.tabKey"))
        this.element = element("div.editor", {}, this.note, element("div.editor-body", {}, this.numbers, this.field),
            element("div.editor-footer", {}, this.status, this.place, element("span", {}, this.about), this.indent))
        this.save_ = element("button.primary", { type: "button", title: "Ctrl+S", onclick: () => this.save() }, icon("save"), t("preview.save"))
        view.tools.replaceChildren(...[
            iconButton("eye", t("preview.read"), () => this.stop()), !this.isReadOnly && this.save_].filter(Boolean))
        this.field.addEventListener("input", () => this.changed())
        this.field.addEventListener("scroll", () => { this.numbers.style.transform = `translateY(${-this.field.scrollTop}px)` })
        this.element.addEventListener("keydown", (event) => this.key(event))
        document.addEventListener("selectionchange", this.moved)
        addEventListener("pagehide", this.left)
        lock.onLost = () => this.showStatus(t("preview.lockLost"))
        if (lock.isForeign) this.showStatus(t("preview.readOnlyLocked", { who: lock.holder || t("change.somebody") }))
        this.showTab()
        this.changed()
    }

    get about() {
        const { encoding, hasMark, ends } = this.file
        const ending = ends.isMixed ? t("preview.mixedEnds") : { "\n": "LF", "\r\n": "CRLF", "\r": "CR" }[ends.usual]
        return `${encoding.toUpperCase()}${hasMark ? " BOM" : ""} · ${ending}`
    }

    showStatus(text, ...buttons) {
        this.note.hidden = false
        this.note.replaceChildren(icon("warning"), element("p", {}, text), ...buttons)
    }

    // Editing

    isChanged() { return this.field.value !== this.saved }

    changed() {
        const isChanged = this.isChanged()
        this.save_.disabled = !isChanged || this.#isBusy
        this.status.textContent = this.isReadOnly ? t("preview.readOnly") : t(this.#isBusy ? "preview.saving" : isChanged ? "preview.unsaved" : "preview.saved")
        const count = this.field.value.split("\n").length
        if (count !== this.lines) {
            this.lines = count
            this.numbers.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n")
        }
        this.moved()
    }

    moved = () => {
        if (document.activeElement !== this.field) return
        const lines = this.field.value.slice(0, this.field.selectionStart).split("\n")
        this.place.textContent = t("preview.position", { line: String(lines.length), column: String(lines.at(-1).length + 1) })
    }

    key(event) {
        const isMod = event.ctrlKey || event.metaKey
        if (isMod && event.key.toLowerCase() === "s") {
            event.preventDefault()
            this.save()
        } else if (event.ctrlKey && event.key.toLowerCase() === "m") {
            event.preventDefault()
            this.switchTab()
        } else if (event.key === "Tab" && event.target === this.field && !isMod && !event.altKey && !this.isReadOnly && this.indents) {
            event.preventDefault()
            this.shift(event.shiftKey)
        }
    }

    get indents() { return readSetting("tab", ["indents", "leaves"]) === "indents" }

    switchTab() {
        writeSetting("tab", this.indents ? "leaves" : "indents")
        this.showTab()
        announce(t(this.indents ? "preview.tabIndents" : "preview.tabLeaves"))
    }

    showTab() {
        this.indent.setAttribute("aria-pressed", String(this.indents))
        this.indent.hidden = this.isReadOnly
    }

    /// Indents the selected lines, or unindents them with `isBack`. `insertText` keeps the browser's undo history.
    shift(isBack) {
        const { field } = this
        const { value, selectionStart: start, selectionEnd: end } = field
        const unit = /^\t/m.test(value) || !/^ {2}/m.test(value) ? "\t" : /^ {1,3}\S/m.test(value) ? "  " : "    "
        if (!isBack && !value.slice(start, end).includes("\n")) {
            document.execCommand("insertText", false, unit)
            return
        }
        const from = start === 0 ? 0 : value.lastIndexOf("\n", start - 1) + 1
        // A selection that ends at the start of a line does not include that line.
        const last = end > start && value[end - 1] === "\n" ? end - 1 : end
        const to = value.indexOf("\n", last) < 0 ? value.length : value.indexOf("\n", last)
        const lines = value.slice(from, to).split("\n")
        const shifted = lines.map((line) => (isBack ? line.replace(/^(?:\t| {1,4})/, "") : line && unit + line))
        const text = shifted.join("\n")
        if (text === value.slice(from, to)) return
        field.setSelectionRange(from, to)
        document.execCommand("insertText", false, text)
        const moved = Math.max(from, start + shifted[0].length - lines[0].length)
        field.setSelectionRange(lines.length === 1 ? moved : from, lines.length === 1 ? moved : from + text.length)
    }

    // Saving

    bytes() {
        const text = this.file.ends.restore(this.field.value)
        const same = encode(text, this.file.encoding, this.file.hasMark)
        return same ?? encode(text, "utf-8", false)
    }

    /// Resolves with whether the file is saved. Saves run one at a time.
    async save() {
        if (this.isReadOnly) return false
        while (this.#saving) {
            if (!await this.#saving) return false
            if (!this.isChanged()) return true
        }
        this.#saving = this.#write()
        try {
            return await this.#saving
        } finally {
            this.#saving = undefined
        }
    }

    async #write({ etag = this.file.etag } = {}) {
        const plain = this.field.value
        const isOther = encode(this.file.ends.restore(plain), this.file.encoding, this.file.hasMark) === undefined
        this.#isBusy = true
        this.changed()
        let refusal
        try {
            await this.lock.take()
            const fresh = await put(this.href, this.bytes(), { etag, lock: this.lock.token })
                || (await propfind(this.href, { depth: 0 })).entries[0].etag
            const text = this.file.ends.restore(plain)
            Object.assign(this.file, { etag: fresh, ends: new LineEnds(text) })
            if (isOther) Object.assign(this.file, { encoding: "utf-8", hasMark: false })
            this.saved = plain
            this.note.hidden = true
            if (isOther) this.showStatus(t("preview.nowUTF8"))
            announce(t("preview.saved"))
            this.view.app.folder.reload([this.href])
        } catch (error) {
            refusal = error
        }
        this.#isBusy = false
        this.changed()
        return !refusal || this.refused(refusal)
    }

    async refused(error) {
        if (error.status === 412) return this.resolveConflict()
        if (error.status === 404 || error.status === 410 || error.status === 409) {
            this.showStatus(t("preview.isGone"), this.button("preview.saveCopy", () => this.saveCopy()))
        } else if (error.status === 423) {
            this.showStatus(`${t("preview.notSaved")} ${explain(error)}`, this.button("preview.saveCopy", () => this.saveCopy()),
                this.button("change.breakLock", () => attempt(async () => {
                    const { breakLock } = await locks()
                    if (await breakLock(this.view.app, this.href)) this.save()
                })))
        } else {
            this.showStatus(`${t("preview.notSaved")} ${explain(error)}`, this.button("core.retry", () => this.save()))
        }
        return false
    }

    button(key, run) { return element("button.plain", { type: "button", onclick: run }, t(key)) }

    /// Resolves an edit conflict: shows both versions and lets the user choose.
    async resolveConflict() {
        let theirs
        let now
        try {
            now = (await propfind(this.href, { depth: 0 })).entries[0]
            theirs = await load(this.href)
        } catch (error) {
            return error.status === 404 ? this.refused(error) : (this.showStatus(`${t("preview.notSaved")} ${explain(error)}`), false)
        }
        // Only the lock was lost; the file is unchanged.
        if (theirs?.etag === this.file.etag) {
            this.lock.forget()
            if (await this.lock.take()) return this.#write()
            return this.refused(new DavError(423, { href: this.href }))
        }
        const side = (label, text) => element("section", {}, element("h3", {}, label), element("pre", { tabindex: "0", role: "region", "aria-label": label }, text ?? t("preview.noText")))
        const choice = await dialog({
            title: t("preview.conflictTitle", { name: visible(this.view.entry.name) }), className: "edit-conflict",
            body: element("div", {}, element("p", {}, t("preview.conflictText", { time: dateTime(now.modified) })),
                element("div.both", {}, side(t("preview.theirs"), theirs && differing(theirs.plain, this.field.value)),
                    side(t("preview.yours"), differing(this.field.value, theirs?.plain ?? "")))),
            actions: [
                theirs && { label: t("preview.loadTheirs"), value: "load" }, { label: t("preview.overwrite"), value: "overwrite", kind: "danger" },
                { label: t("preview.saveCopy"), value: "copy", kind: "primary" },
            ].filter(Boolean),
        })
        if (choice === "load") {
            Object.assign(this, { file: theirs, saved: theirs.plain })
            this.field.value = theirs.plain
            this.changed()
            return true
        }
        if (choice === "copy") return this.saveCopy()
        if (choice !== "overwrite") return false
        // Overwrite only the version that was just shown.
        return this.#write({ etag: theirs?.etag ?? now.etag })
    }

    async saveCopy() {
        const folder = parentOf(this.href)
        const { name } = this.view.entry
        try {
            const names = new Set((await propfind(folder)).entries.slice(1).map((entry) => entry.name))
            names.add(name)
            for (let tries = 0; tries < 20; tries++) {
                const free = freeName(name, names)
                const href = member(folder, free)
                try {
                    await put(href, this.bytes(), { ifNoneMatch: "*" })
                    this.saved = this.field.value
                    this.changed()
                    toast(t("preview.copySaved", { name: visible(free) }))
                    await this.view.app.folder.reload([href])
                    this.view.app.go(`?preview=${lastSegment(href)}&edit`, { replace: true })
                    return true
                } catch (error) {
                    if (error.status !== 412) throw error
                    names.add(free)
                }
            }
        } catch (error) {
            this.showStatus(`${t("preview.notSaved")} ${explain(error)}`, this.button("core.retry", () => this.saveCopy()))
        }
        return false
    }

    // Closing

    async stop() {
        if (!await this.mayLeave()) return
        this.saved = this.field.value
        this.view.read()
    }

    /// Asks only once for concurrent attempts to leave.
    mayLeave() {
        this.#hurry?.()
        this.answer ??= this.ask().finally(() => { this.answer = undefined })
        return this.answer
    }

    async ask() {
        // Wait for a running save; a second attempt to leave asks immediately.
        if (this.#saving) await Promise.race([this.#saving, new Promise((resolve) => { this.#hurry = resolve })])
        this.#hurry = undefined
        if (!this.isChanged() || this.isForgotten) return true
        const choice = await dialog({
            title: t("preview.unsavedTitle"), className: "confirm", body: element("p", {}, t("preview.unsavedText", { name: visible(this.view.entry.name) })),
            actions: [
                { label: t("preview.discard"), value: "discard" }, { label: t("preview.goOn"), value: undefined },
                { label: t("preview.save"), value: "save", kind: "primary" },
            ],
        })
        if (choice === "discard") this.isForgotten = true
        return choice === "discard" || (choice === "save" && await this.save())
    }

    left = () => this.lock.end(true)

    close() {
        document.removeEventListener("selectionchange", this.moved)
        removeEventListener("pagehide", this.left)
        this.lock.end()
        this.view.app.folder.reload([this.href])
    }
}

/// Returns the part of a text that begins shortly before its first difference from another, for the dialog.
const differing = (text, other) => {
    const limit = 20_000
    let same = 0
    while (same < text.length && text[same] === other[same]) same += 1
    const from = Math.max(0, text.lastIndexOf("\n", text.lastIndexOf("\n", Math.max(0, same - 1)) - 1) + 1)
    return `${from > 0 ? "…\n" : ""}${text.slice(from, from + limit)}${text.length > from + limit ? "\n…" : ""}`
}
