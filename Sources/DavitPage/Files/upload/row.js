// A row of the upload panel.

import { element, fillName, icon, iconButton } from "../element.js"
import { explain } from "../errors.js"
import { visible } from "../href.js"
import { page } from "../page.js"
import { bytes, t } from "../strings.js"
import { isWrongDigest } from "./send.js"

const pictures = { done: "check", failed: "warning", missing: "warning", locked: "warning" }

/// Returns a sentence that explains why an upload failed.
export function reason(problem) {
    if (isWrongDigest(problem)) return t("upload.damaged")
    if (problem.status === 412) return t("upload.changedThere")
    if (problem.status === 413 && page.maximumFileBytes) return t("upload.tooLarge", { limit: bytes(page.maximumFileBytes) })
    if (problem.name === "FileUnreadable") return t("upload.fileChanged")
    if (problem instanceof DOMException) return t("upload.unreadable")
    return explain(problem)
}

const label = (button, text) => { button.title = button.ariaLabel = text }

export class UploadRow {
    element
    #upload
    #name = element("bdi.upload-name", {})
    #status = element("span.upload-status", {})
    #progress = element("progress", { value: "0" })
    #picture = element("span.upload-picture", {})
    #main
    #cancel
    #mainState
    #path

    constructor(upload, queue, handlers) {
        this.#upload = upload
        const run = () => {
            if (upload.state === "running" || upload.state === "waiting") queue.pause([upload])
            else if (upload.state === "failed") handlers.retry([upload])
            else if (upload.state === "locked") handlers.unlock([upload])
            else queue.resume([upload])
        }
        this.#main = iconButton("pause", "", run)
        this.#cancel = iconButton("close", "", () => queue.cancel([upload]))
        this.element = element("li.upload", {}, this.#picture,
            element("div.upload-text", {}, this.#name, this.#progress, this.#status),
            this.#main, this.#cancel)
    }

    update(index, count, top) {
        const { element: own } = this
        const upload = this.#upload
        own.ariaPosInSet = index + 1
        own.ariaSetSize = count
        own.style.transform = `translateY(${top}px)`
        this.#progress.hidden = upload.state === "done" || upload.state === "failed" || upload.isFolder
        // Use the fraction, because the size changes when a changed file is uploaded again.
        const share = upload.loaded / upload.size || 0
        if (this.#progress.value !== share) this.#progress.value = share
        const status = this.#text()
        if (this.#status.textContent !== status) this.#status.textContent = this.#status.title = status
        this.#updateButtons()
    }

    #text() {
        const upload = this.#upload
        const amount = t("upload.amount", { loaded: bytes(upload.loaded), size: bytes(upload.size) })
        switch (upload.state) {
        case "running":
            if (upload.note) return t(upload.note)
            if (upload.isFolder) return t("upload.makesFolder")
            return upload.wasRestarted ? `${amount} · ${t("upload.startedOver")}` : amount
        case "waiting": return upload.loaded > 0 ? `${t("upload.waits")} · ${amount}` : t("upload.waits")
        case "paused": return `${t("upload.paused")} · ${amount}`
        case "failed": return reason(upload.problem)
        case "missing": return t("upload.needsFile")
        case "locked": return t("upload.needsClick")
        default: return upload.isFolder ? t("upload.folderMade") : bytes(upload.size)
        }
    }

    #updateButtons() {
        const { state, path } = this.#upload
        if (state === this.#mainState && path === this.#path) return
        this.element.dataset.state = this.#mainState = state
        this.#path = path
        const whole = visible(path.join("/"))
        fillName(this.#name, whole)
        this.#name.title = whole
        this.#progress.ariaLabel = t("upload.progressOf", { name: whole })
        label(this.#cancel, t("upload.cancelOf", { name: whole }))
        this.#picture.replaceChildren(icon(pictures[state] ?? (this.#upload.isFolder ? "folder" : "file")))
        const name = visible(this.#upload.name)
        const kinds = {
            running: ["pause", "upload.pauseOf"], waiting: ["pause", "upload.pauseOf"], failed: ["refresh", "upload.retryOf"],
            paused: ["play", "upload.resumeOf"], locked: ["play", "upload.resumeOf"],
        }
        const kind = kinds[state]
        const hadFocus = this.element.contains(document.activeElement)
        this.#main.hidden = !kind
        this.#cancel.hidden = state === "done"
        if (kind) {
            this.#main.replaceChildren(icon(kind[0]))
            label(this.#main, t(kind[1], { name }))
        }
        if (hadFocus && !this.element.contains(document.activeElement)) this.element.closest("[tabindex]")?.focus({ preventScroll: true })
    }
}
