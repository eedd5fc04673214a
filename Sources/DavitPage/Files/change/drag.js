// Drag and drop of rows onto folders and breadcrumbs. Moves, or copies with Ctrl (Option on a Mac).

import { element, icon } from "../element.js"
import { parentOf, visible } from "../href.js"
import { attempt, later } from "../load.js"
import { may } from "../rights.js"
import { t } from "../strings.js"

const transfers = later(() => import("./transfer.js"))

/// The dragged entries; undefined if the drag did not start on this page.
let dragged

const isApple = /Mac|iP(hone|ad|od)/.test(navigator.platform)

const canDrop = (target, isCopy) =>
    may("copy", ...dragged) && !dragged.some((entry) => entry.isFolder && target.startsWith(entry.href))
    && (isCopy || dragged.some((entry) => parentOf(entry.href) !== target))

export const startDragging = (app) => {
    let over
    let image
    const mark = (next) => {
        if (over === next) return
        over?.classList.remove("is-drop-target")
        over = next
        over?.classList.add("is-drop-target")
    }
    const end = () => {
        mark(undefined)
        image?.remove()
        dragged = undefined
    }
    const targetOf = (event) => {
        const found = event.target.closest?.("[data-drop-href]")
        const isCopy = (isApple ? event.altKey : event.ctrlKey) || !may("move", ...dragged)
        return found && canDrop(found.dataset.dropHref, isCopy) ? { found, isCopy } : undefined
    }

    app.views.items.body.addEventListener("dragstart", (event) => {
        const row = event.target.closest(".item")
        const entry = row && app.folder.entry(row.dataset.href)
        if (!entry) return
        const { folder } = app
        if (!folder.selection.has(entry.href)) folder.select([entry.href])
        dragged = folder.selected
        const urls = dragged.map(({ href }) => new URL(href, location.href).href)
        const { dataTransfer } = event
        dataTransfer.effectAllowed = "copyMove"
        dataTransfer.setData("text/uri-list", urls.join("\r\n"))
        dataTransfer.setData("text/plain", urls.join("\n"))
        // Let Chromium create a file when the entry is dropped on the desktop.
        if (dragged.length === 1 && !entry.isFolder) {
            dataTransfer.setData("DownloadURL", `application/octet-stream:${entry.name.replaceAll(":", "_")}:${urls[0]}`)
        }
        image = element("div.drag-image", { "aria-hidden": "true" }, icon(dragged.length === 1 ? entry.type : "copy"),
            element("bdi", {}, dragged.length === 1 ? visible(entry.name) : t("core.selected", { count: dragged.length })))
        document.body.append(image)
        dataTransfer.setDragImage(image, -12, -8)
    })
    document.addEventListener("dragover", (event) => {
        if (!dragged) return
        const target = targetOf(event)
        mark(target?.found)
        if (!target) return
        event.preventDefault()
        event.dataTransfer.dropEffect = target.isCopy ? "copy" : "move"
    })
    document.addEventListener("drop", (event) => {
        if (!dragged) return
        const target = targetOf(event)
        const entries = dragged
        end()
        if (!target) return
        event.preventDefault()
        const { dropHref } = target.found.dataset
        attempt(async () => (await transfers()).transfer(app, entries, dropHref, { isCopy: target.isCopy }))
    })
    document.addEventListener("dragend", end)
    document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(undefined) })
}
