// The upload panel: progress, failures with their reasons, and controls.

import { confirm } from "../dialog.js"
import { element, icon, iconButton } from "../element.js"
import { announce } from "../messages.js"
import { locale } from "../page.js"
import { bytes, duration, t } from "../strings.js"
import { askForFiles, askForFolder } from "./pick.js"
import { UploadRow } from "./row.js"

const rowRems = 4.75
// Rows rendered beyond the visible range, so that scrolling shows no gaps.
const overscan = 4
// Sorting a long list is expensive; updating visible rows is not.
const orderMilliseconds = 200

const rounded = new Intl.NumberFormat(locale, { style: "percent" })

export class Panel {
    #queue
    #handlers
    #rows = new Map()
    #list = []
    #listTime = 0
    #reading
    #quarter = 0
    #wasBusy = false
    #timer
    #parts = {}

    constructor(queue, handlers) {
        this.#queue = queue
        this.#handlers = handlers
        this.#build()
        queue.addEventListener("change", () => this.#render())
        queue.addEventListener("failed", ({ detail }) => announce(t("upload.failedOne", { name: detail.name })))
    }

    get isReading() { return this.#reading !== undefined }

    /// Shows the number of items found so far. `count` is undefined when all items have been read.
    reads(count) {
        this.#reading = count
        if (count !== undefined) this.show()
        else if (this.#queue.isEmpty && this.#parts.section.isConnected) this.#close()
        this.#render()
    }

    show() {
        if (this.#parts.section.isConnected) return
        document.body.append(this.#parts.section)
        document.documentElement.classList.add("has-uploads")
        this.#render()
    }

    /// Shows the text for a key as a note, until the panel is closed.
    notes(key) {
        this.#parts.note.textContent = t(key)
        this.#parts.note.hidden = false
    }

    #close() {
        const hadFocus = this.#parts.section.contains(document.activeElement)
        this.#parts.section.remove()
        this.#parts.note.hidden = true
        document.documentElement.classList.remove("has-uploads")
        if (hadFocus) document.querySelector("[role=grid] [tabindex='0'], main button, main a")?.focus()
    }

    #build() {
        const parts = this.#parts
        const queue = this.#queue
        const tool = (name, label, run) => iconButton(name, label, run, `uploads-${name}`)
        parts.title = element("span.uploads-title", {})
        parts.figures = element("span.uploads-figures", {})
        parts.total = element("progress.uploads-total", { max: "1", value: "0", "aria-label": t("upload.total") })
        parts.toggle = element("button.uploads-toggle", {
            type: "button", "aria-expanded": "true", "aria-controls": "uploads-body", onclick: () => this.#toggle(),
        }, icon("chevron"), parts.title)
        parts.pause = tool("pause", t("upload.pauseAll"), () => queue.pause(queue.list()))
        parts.resume = tool("play", t("upload.resumeAll"), () => queue.resume(queue.uploads("paused")))
        parts.retry = tool("refresh", t("upload.retryAll"), () => this.#handlers.retry(queue.uploads("failed")))
        parts.cancel = tool("close", t("upload.cancelAll"), () => this.#cancelAll())
        parts.close = tool("close", t("core.close"), () => { queue.clearDone(); this.#close() })
        parts.note = element("p.uploads-note", { hidden: true })
        parts.counts = element("p.uploads-note", { hidden: true })
        parts.askText = element("p", {})
        parts.continue = element("button.primary", {
            type: "button", onclick: () => this.#handlers.unlock(queue.uploads("locked")),
        }, t("upload.continue"))
        parts.chooseFiles = element("button.primary", {
            type: "button", onclick: () => this.#find(askForFiles()),
        }, t("upload.chooseFiles"))
        parts.chooseFolder = element("button.plain", {
            type: "button", onclick: () => this.#find(askForFolder()),
        }, t("upload.chooseFolder"))
        parts.ask = element("div.uploads-ask", { hidden: true }, parts.askText,
            element("div", {}, parts.continue, parts.chooseFiles, parts.chooseFolder))
        parts.list = element("ul", { role: "list" })
        parts.scroll = element("div.uploads-list", { tabindex: "0", role: "group", "aria-label": t("upload.list") }, parts.list)
        parts.scroll.addEventListener("scroll", () => this.#renderRows(), { passive: true })
        parts.verify = element("input", { type: "checkbox", onchange: () => { queue.verifies = parts.verify.checked } })
        parts.verify.checked = queue.verifies
        parts.body = element("div.uploads-body", { id: "uploads-body" }, parts.note, parts.counts, parts.ask, parts.scroll,
            element("footer", {}, element("label.check", { title: t("upload.verifyHelp") }, parts.verify, element("span", {}, t("upload.verify")))))
        parts.section = element("section.uploads", { "aria-label": t("upload.region") },
            element("header", {}, parts.toggle, parts.figures,
                element("div.uploads-tools", {}, parts.retry, parts.pause, parts.resume, parts.cancel, parts.close)),
            parts.total, parts.body)
        if (matchMedia("(max-width: 40rem)").matches) this.#toggle()
    }

    async #find(asked) {
        const items = await asked
        if (items.length > 0) this.#handlers.find(items)
    }

    #toggle() {
        const isOpen = this.#parts.body.hidden
        this.#parts.body.hidden = !isOpen
        this.#parts.toggle.setAttribute("aria-expanded", String(isOpen))
        if (isOpen) this.#render()
    }

    async #cancelAll() {
        const all = this.#queue.list().filter(({ state }) => state !== "done")
        const isSure = all.every(({ state }) => state === "failed") || await confirm({
            title: t("upload.cancelTitle", { count: all.length }), text: t("upload.cancelText"), action: t("upload.cancelAll"), danger: true,
        })
        if (isSure) this.#queue.cancel(all)
    }

    #render() {
        const { section, title, figures, total } = this.#parts
        if (!section.isConnected) return
        const queue = this.#queue
        const isBusy = queue.isBusy
        const totals = queue.totals
        const share = totals.bytes > 0 ? totals.loaded / totals.bytes : totals.total > 0 ? totals.done / totals.total : 0
        setText(title, this.#title(totals))
        setText(figures, this.#figures(totals, share, isBusy))
        // Empty files count too: the progress is complete only when every upload is.
        total.value = Math.min(share, totals.done === totals.total ? 1 : 0.999)
        total.hidden = totals.total === 0
        this.#renderCounts()
        this.#renderTools(isBusy)
        this.#announce(totals, share, isBusy)
        if (!this.#parts.body.hidden) this.#renderRows()
        clearTimeout(this.#timer)
        // Update speed and remaining time even if no data is transferred.
        if (isBusy) this.#timer = setTimeout(() => this.#render(), 1000)
    }

    // The number of uploads that wait for the user to choose their files or to permit reading them.
    get #asked() { return this.#queue.count("missing") + this.#queue.count("locked") }

    #title(totals) {
        const queue = this.#queue
        if (this.#reading !== undefined) return t("upload.reading", { count: this.#reading })
        if (queue.isBusy) {
            return t("upload.running", { number: Math.min(totals.done + Math.max(queue.count("running"), 1), totals.total), total: totals.total })
        }
        if (queue.count("paused") > 0) return t("upload.pausedCount", { count: queue.count("paused") })
        if (this.#asked > 0) return t("upload.interrupted", { count: this.#asked })
        if (totals.failed > 0) return t("upload.failedCount", { count: totals.failed })
        return t("upload.doneCount", { count: totals.done })
    }

    // When no upload can continue any more, shows how many of the files that were found were not uploaded.
    #renderCounts() {
        const queue = this.#queue
        const { found, done } = queue.files
        const isAtRest = !queue.isBusy && this.#reading === undefined && queue.count("paused") + this.#asked === 0
        this.#parts.counts.hidden = !isAtRest || found <= done
        setText(this.#parts.counts, t("upload.counts", { found, done, rest: found - done }))
    }

    #figures({ bytes: all, loaded, rate, failed }, share, isBusy) {
        if (!isBusy) return ""
        const parts = [rounded.format(Math.floor(share * 100) / 100)]
        if (rate > 0) parts.push(t("upload.rate", { rate: bytes(rate) }), t("upload.left", { time: duration((all - loaded) / rate) }))
        if (failed > 0) parts.push(t("upload.failedShort", { count: failed }))
        return parts.join(" · ")
    }

    #renderTools(isBusy) {
        const queue = this.#queue
        const { pause, resume, retry, cancel, close, ask, askText, chooseFiles, chooseFolder } = this.#parts
        const had = this.#parts.section.querySelector("header :focus")
        const asked = this.#asked
        const isFinished = !isBusy && queue.count("paused") + asked === 0
        pause.hidden = !isBusy
        resume.hidden = isBusy || queue.count("paused") === 0
        retry.hidden = queue.count("failed") === 0
        cancel.hidden = isFinished
        close.hidden = !isFinished
        if (had?.hidden) this.#parts.toggle.focus()
        const isNew = ask.hidden
        ask.hidden = asked === 0
        if (asked > 0) {
            // Make the request for files visible, on a phone too.
            if (isNew && this.#parts.body.hidden) this.#toggle()
            setText(askText, t("upload.asksAgain", { count: asked }))
            this.#parts.continue.hidden = queue.count("locked") === 0
            chooseFiles.hidden = queue.count("missing") === 0
            chooseFolder.hidden = chooseFiles.hidden || !queue.uploads("missing").some(({ path }) => path.length > 1)
        }
    }

    // Announce quarters only; screen readers would read every percent.
    #announce(totals, share, isBusy) {
        if (isBusy) {
            if (!this.#wasBusy) this.#quarter = 0
            const quarter = Math.min(Math.floor(share * 4), 3)
            if (quarter > this.#quarter) announce(t("upload.progress", { percent: rounded.format(quarter / 4) }))
            this.#quarter = quarter
        } else if (this.#wasBusy) {
            const stopped = totals.failed > 0 || totals.done < totals.total
            announce(stopped ? `${this.#title(totals)}. ${t("upload.doneCount", { count: totals.done })}` : t("upload.doneCount", { count: totals.done }))
        }
        this.#wasBusy = isBusy
    }

    #renderRows() {
        const { list, scroll } = this.#parts
        const now = performance.now()
        if (now - this.#listTime > orderMilliseconds || this.#list.length < 100) {
            this.#list = this.#queue.list()
            this.#listTime = now
        }
        const rowHeight = rowRems * parseFloat(getComputedStyle(document.documentElement).fontSize)
        const height = `${this.#list.length * rowHeight}px`
        if (list.style.height !== height) list.style.height = height
        const first = Math.max(0, Math.floor(scroll.scrollTop / rowHeight) - overscan)
        const last = Math.min(this.#list.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / rowHeight) + overscan)
        const shown = new Set()
        let before = null
        for (let index = first; index < last; index += 1) {
            const upload = this.#list[index]
            shown.add(upload)
            let row = this.#rows.get(upload)
            if (!row) {
                row = new UploadRow(upload, this.#queue, this.#handlers)
                this.#rows.set(upload, row)
            }
            row.update(index, this.#list.length, index * rowHeight)
            // Keep the tab order equal to the visual order. Do not move the focused row, which would lose the focus.
            const place = before ? before.nextSibling : list.firstChild
            if (row.element !== place && !row.element.contains(document.activeElement)) list.insertBefore(row.element, place)
            before = row.element
        }
        for (const [upload, row] of this.#rows) {
            if (shown.has(upload)) continue
            if (row.element.contains(document.activeElement)) scroll.focus({ preventScroll: true })
            row.element.remove()
            this.#rows.delete(upload)
        }
    }
}

const setText = (node, text) => { if (node.textContent !== text) node.textContent = text }
