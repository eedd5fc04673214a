// Full-page preview of one file, with navigation to the previous and next file by keys, buttons and swipes.

import { DavError, propfind } from "../dav.js"
import { element, fillName, icon, iconButton, styleSheet } from "../element.js"
import { explain } from "../errors.js"
import { isWithin, nameOf, visible } from "../href.js"
import { later } from "../load.js"
import { openMenu } from "../menu.js"
import { announce } from "../messages.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { bytes, dateTime, t } from "../strings.js"
import { languageOf } from "./languages.js"

const pictures = /\.(?:jpe?g|jfif|png|apng|gif|webp|avif|bmp|ico|svg)$/i
const active = /\.(?:html?|xhtml?|svg)$/i
const swipe = 60

// The preview modules. Each has `show(view)`, which receives the view that `fill` creates and may return {close(), key(event),
// isChanged(), isZoomed(), mayLeave()}.
const kinds = {
    editor: later(() => import("./editor.js")), image: later(() => import("./image.js")),
    player: later(() => import("./player.js")), text: later(() => import("./text.js")),
}

/// Returns the kind of preview for an entry: a key of `kinds`, or "other".
const kindOf = (entry) => {
    const { name, type } = entry
    if (pictures.test(name)) return "image"
    if (type === "video" || type === "audio" || type === "pdf") return "player"
    // Try possible text files; do not load files that are certainly something else.
    if (languageOf(name) !== undefined || type === "text" || type === "code" || type === "file") return "text"
    return "other"
}

export class Viewer {
    /// `address`: {open(href), replace(href)}, which show another file with or without adding a history entry.
    constructor(app, address) {
        this.app = app
        this.address = address
        this.title = element("h2", { id: "preview-title", dir: "auto" })
        this.count = element("span.preview-count")
        this.tools = element("div.preview-tools")
        this.stage = element("div.preview-stage")
        this.back = iconButton("previous", t("preview.previous"), () => this.step(-1), "preview-step")
        this.next = iconButton("next", t("preview.next"), () => this.step(1), "preview-step")
        this.closeButton = iconButton("close", t("core.close"), () => this.leave(), "preview-close")
        this.fixed = element("div.preview-fixed", {}, this.closeButton)
        this.dialog = element("dialog.preview", { "aria-labelledby": "preview-title" },
            element("div.preview-header", {}, element("div.preview-name", {}, this.title, this.count), this.tools, this.fixed),
            element("div.preview-body", {}, this.back, this.stage, this.next))
        this.dialog.addEventListener("cancel", (event) => {
            event.preventDefault()
            this.leave()
        })
        // Browsers limit how often a page can cancel closing. Reopen the dialog so that no changes are lost.
        this.dialog.addEventListener("close", async () => {
            if (!this.controller) return
            this.dialog.showModal()
            // An open confirmation is now covered by the preview: close it and ask again.
            const questions = document.querySelectorAll("dialog.confirm[open]")
            for (const one of questions) one.close()
            if (questions.length > 0) await this.shown?.answer
            this.leave()
        })
        app.folder.addEventListener("change", () => { if (this.isOpen) this.showPlace() })
        this.dialog.addEventListener("keydown", (event) => this.key(event))
        this.watchSwipes()
        addEventListener("beforeunload", (event) => { if (this.shown?.isChanged?.()) event.preventDefault() })
    }

    get isOpen() { return this.dialog.open }

    async show(href, { isEdited = false } = {}) {
        if (this.isLeaving) {
            // Opened by a direct link: there is no folder in the history to return to.
            this.isLeaving = false
            this.app.go("", { replace: true })
            return
        }
        if (this.isOpen && this.href === href && this.isEdited === isEdited) return
        if (this.isOpen && !await this.mayLeave()) return this.restoreAddress()
        this.end()
        const controller = new AbortController()
        Object.assign(this, { href, isEdited, controller, shown: undefined })
        await styleSheet("preview/preview.css")
        if (controller.signal.aborted) return
        if (!this.isOpen) {
            document.body.append(this.dialog)
            document.documentElement.classList.add("has-preview")
            this.dialog.showModal()
            // Otherwise a button could be focused that is disabled soon, and keys would be lost.
            this.closeButton.focus()
        }
        const name = visible(nameOf(href))
        fillName(this.title, name)
        // Let screen readers read a split name as one word.
        this.title.setAttribute("aria-label", name)
        this.tools.replaceChildren()
        this.showActions()
        this.stage.replaceChildren(element("p.preview-wait", { hidden: true }, t("core.loading")))
        const wait = this.stage.firstChild
        const timer = setTimeout(() => { wait.hidden = false }, 300)
        try {
            const entry = this.app.folder.entry(href) ?? await this.read(href, controller.signal)
            if (controller.signal.aborted) return
            if (entry.isFolder) {
                this.close()
                this.app.navigate(entry.href, { replace: true })
                return
            }
            await this.fill(entry, controller.signal)
        } catch (error) {
            if (error.name === "AbortError" || controller.signal.aborted) return
            const failure = message("warning", t("preview.notShown"), explain(error))
            const again = () => {
                this.href = undefined
                this.show(href, { isEdited })
            }
            failure.append(element("button.plain", { type: "button", onclick: again }, t("core.retry")))
            this.stage.replaceChildren(failure)
        } finally {
            clearTimeout(timer)
            if (wait.isConnected) wait.remove()
        }
    }

    async read(href, signal) {
        if (!isWithin(href, page.root)) throw new DavError(404, { href })
        return (await propfind(href, { depth: 0, signal })).entries[0]
    }

    async fill(entry, signal) {
        this.entry = entry
        this.showPlace()
        this.showActions(
            ...(may("read", entry) ? [iconButton("download", t("change.download"), () => this.app.run("download", this.app.context([entry])))] : []),
            iconButton("more", t("core.actionsFor", { name: visible(entry.name) }), ({ currentTarget }) => this.menu(currentTarget)))
        const kind = this.isEdited ? "editor" : kindOf(entry)
        const view = {
            app: this.app, entry, stage: this.stage, tools: this.tools, signal,
            fail: (text) => this.showOther(entry, text), edit: () => this.address.replace(`${entry.href}&edit`),
            read: () => this.address.replace(entry.href), open: this.address.open,
        }
        announce(visible(entry.name))
        if (!may("read", entry)) return this.showOther(entry, t("preview.noRight"))
        if (kind === "other") return this.showOther(entry)
        const module = await kinds[kind]()
        if (signal.aborted) return
        const shown = await module.show(view)
        if (signal.aborted) shown?.close?.()
        else this.shown = shown
        this.keepFocus()
    }

    /// Shows these buttons before the close button, which stays in the document and keeps the focus.
    showActions(...buttons) {
        while (this.fixed.firstChild !== this.closeButton) this.fixed.firstChild.remove()
        this.fixed.prepend(...buttons)
        this.keepFocus()
    }

    /// Focuses the close button if the focused button was removed or disabled.
    keepFocus() {
        const focused = document.activeElement
        if (focused === document.body || focused.disabled) this.closeButton.focus()
    }

    /// Shows the details and a download link for a file without a preview.
    showOther(entry, text = t("preview.noPreview")) {
        this.stage.replaceChildren(element("div.preview-other", {}, icon(entry.type, `large type-${entry.type}`),
            element("p", {}, element("bdi", {}, visible(entry.name))),
            element("p.soft", {}, [bytes(entry.size), dateTime(entry.modified)].filter(Boolean).join(" · ")),
            element("p.soft", {}, text),
            may("read", entry) && element("a.primary", { href: entry.href, download: entry.name }, icon("download"), t("change.download"))))
    }

    menu(at) {
        const { entry, app } = this
        const context = app.context([entry])
        openMenu([
            { label: t(active.test(entry.name) ? "preview.openSandboxed" : "preview.openTab"), icon: "external", run: () => open(entry.href, "_blank", "noopener") },
            { label: t("core.copyLink"), icon: "link", run: () => app.run("copy-link", context) },
            { label: t("core.details"), icon: "info", run: () => app.run("details", context) },
        ], at, { label: t("core.actions") })
    }

    // Neighbors

    get files() { return this.app.folder.view.filter((entry) => !entry.isFolder) }

    showPlace() {
        const { files } = this
        const at = files.findIndex(({ href }) => href === this.href)
        this.count.textContent = at >= 0 ? t("preview.place", { place: at + 1, total: files.length }) : ""
        this.back.disabled = at <= 0
        this.next.disabled = at < 0 || at === files.length - 1
        if (document.activeElement.disabled) this.keepFocus()
    }

    step(by) {
        if (this.isEdited) return
        const { files } = this
        const at = files.findIndex(({ href }) => href === this.href)
        const next = at < 0 ? undefined : files[at + by]
        if (!next) return
        this.app.folder.setFocus(next.href)
        this.address.replace(next.href)
    }

    key(event) {
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.target.closest("input, textarea, select, video, audio, [role=menu]")) return
        const isRight = document.documentElement.dir === "rtl"
        if (this.shown?.key?.(event)) return event.preventDefault()
        if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
            // Arrow keys scroll text that is wider than the page.
            const scroller = event.target.closest(".preview-scroll")
            if (scroller && scroller.scrollWidth > scroller.clientWidth) return
            this.step((event.key === "ArrowRight") === !isRight ? 1 : -1)
            event.preventDefault()
        }
    }

    watchSwipes() {
        let from
        this.stage.addEventListener("touchstart", ({ touches, target }) => {
            const scroller = target.closest?.(".preview-scroll, video, audio, textarea")
            const isFree = !scroller || scroller.scrollWidth <= scroller.clientWidth
            from = touches.length === 1 && isFree && !this.shown?.isZoomed?.() ? touches[0] : undefined
        }, { passive: true })
        this.stage.addEventListener("touchend", ({ changedTouches }) => {
            if (!from) return
            const x = changedTouches[0].clientX - from.clientX
            const y = changedTouches[0].clientY - from.clientY
            from = undefined
            if (Math.abs(x) < swipe || Math.abs(x) < 2 * Math.abs(y)) return
            this.step((x < 0) === (document.documentElement.dir !== "rtl") ? 1 : -1)
        }, { passive: true })
    }

    // Closing

    async mayLeave() { return await this.shown?.mayLeave?.() ?? true }

    async leave() {
        // Closing twice must go back only once: another step would leave the page.
        if (!await this.mayLeave() || this.isLeaving) return
        // Return to where the preview was opened; after a direct link, stay in the folder.
        const { previews } = history.state ?? {}
        if (previews) {
            this.isLeaving = true
            history.go(-previews)
        } else this.app.go("", { replace: true })
    }

    /// Restores the address when the current file stays open.
    restoreAddress() { this.address.open(this.href + (this.isEdited ? "&edit" : "")) }

    /// Called when the address no longer specifies a file.
    async close() {
        if (!this.isOpen || !this.controller) return
        const mayClose = await this.mayLeave()
        this.isLeaving = false
        if (!mayClose) return this.restoreAddress()
        const { href } = this
        this.end()
        this.dialog.close()
        this.dialog.remove()
        document.documentElement.classList.remove("has-preview")
        this.href = undefined
        if (this.app.folder.entry(href)) this.app.views.items.focusOn(href)
    }

    end() {
        this.controller?.abort()
        this.controller = undefined
        this.shown?.close?.()
        this.shown = undefined
        // Media elements stop loading only when their source is removed.
        for (const media of this.stage.querySelectorAll("video, audio")) {
            media.pause()
            media.removeAttribute("src")
            media.load()
        }
        this.stage.replaceChildren()
    }
}

export const message = (name, ...texts) => element("div.preview-other", {}, icon(name, "large"), texts.map((text) => element("p", {}, text)))
