// Accepts files that are dropped anywhere on the page, pasted or chosen. The upload modules are loaded on first use.

import { register } from "../actions.js"
import { attempt, later } from "../load.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { gather } from "./gather.js"
import { askForFiles, askForFolder } from "./pick.js"
import { count, share } from "./store.js"

const load = later(() => import("./main.js"))
let app

const main = async () => {
    const uploads = await load()
    uploads.start(app)
    return uploads
}

/// Uploads `items`, a DataTransferItemList, FileList or array of file handles, into a folder. Must be called in the event
/// handler.
export const startUpload = ({ folder, items, ...more }) => {
    const found = gather([...items])
    return attempt(async () => (await main()).upload(folder, found, more))
}

const chooseFiles = async (folder) => startUpload({ folder, items: await askForFiles() })
const chooseFolder = async (folder) => {
    const items = await askForFolder()
    if (items.length > 0) await startUpload({ folder, items, isChosenFolder: true })
}

/// Registers the upload actions and the listeners for files. Does nothing for users without write access.
export const start = (application) => {
    if (!page.canWrite) return
    app = application
    // Not awaited, so that the action can run again before the upload ends.
    register({
        id: "upload", label: "upload.files", icon: "upload", key: "Mod+u", group: "new", order: 20, scope: "folder", isPrimary: true,
        enabled: ({ folder }) => may("create", folder), run: (context) => void chooseFiles(context.folder.href),
    })
    register({
        id: "upload-folder", label: "upload.folder", icon: "upload-folder", group: "new", order: 30, scope: "folder", isBar: false,
        enabled: ({ folder }) => may("create", folder), run: (context) => void chooseFolder(context.folder.href),
    })

    // Files from outside the page; drag.js handles entries dragged within it.
    const hasFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files")
    const dropFolder = (event) => event.target.closest?.("[data-drop-href]")
    // A step of the breadcrumbs to a folder without the right to create is no target, rather than the current folder.
    const isAccepted = (event) => dropFolder(event) || (may("create", app.folder) && !event.target.closest?.(".trail a"))

    // Hide the overlay when files leave the window. Not all browsers fire an event for that, so also hide it when no dragover
    // event arrives for a second.
    const stillMilliseconds = 1000
    let veil
    let timer
    let isDragging = false

    const hideVeil = () => {
        isDragging = false
        clearTimeout(timer)
        veil?.hide()
    }
    const showVeil = async (event) => {
        isDragging = true
        clearTimeout(timer)
        timer = setTimeout(hideVeil, stillMilliseconds)
        const row = dropFolder(event)
        try {
            veil ??= (await main()).dropVeil()
        } catch {
            // The drop event hides the overlay.
            return
        }
        if (isDragging) veil.show(row, row?.dataset.dropHref ?? app.folder.href)
    }

    for (const type of ["dragenter", "dragover"]) {
        addEventListener(type, (event) => {
            if (!hasFiles(event)) return
            event.preventDefault()
            event.dataTransfer.dropEffect = isAccepted(event) ? "copy" : "none"
            if (isAccepted(event)) showVeil(event)
        })
    }
    addEventListener("dragleave", (event) => {
        if (hasFiles(event) && event.relatedTarget === null) hideVeil()
    })
    addEventListener("drop", (event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        const folder = dropFolder(event)?.dataset.dropHref ?? app.folder.href
        hideVeil()
        if (!isAccepted(event)) return
        startUpload({ folder, items: event.dataTransfer.items })
    })

    addEventListener("paste", (event) => {
        const items = [...event.clipboardData?.items ?? []].filter((item) => item.kind === "file")
        if (items.length === 0 || event.target.closest?.("input, textarea, [contenteditable]")) return
        event.preventDefault()
        if (!may("create", app.folder)) return
        // Take the files from the items now: pasted images may exist only in the clipboard.
        const files = items.map((item) => item.getAsFile()).filter(Boolean)
        const found = gather(files)
        attempt(async () => (await main()).upload(app.folder.href, found, { isPasted: true }))
    })

    // Resume uploads from earlier pages.
    count(share).then((left) => { if (left > 0) attempt(async () => (await main()).restore()) })
}
