// Ways in for files: dropped anywhere on the page, pasted, or chosen. What uploads them is loaded with the first.

import { register } from "../actions.js"
import { attempt, later } from "../load.js"
import { page } from "../page.js"
import { gather } from "./gather.js"
import { count } from "./store.js"

const main = later(() => import("./main.js"))

export const share = `${page.root} ${page.user ?? ""}`

/// Uploads `items`, a DataTransferItemList, FileList or array of handles of files, into a folder. To be called in the event itself.
export const startUpload = ({ folder, items, ...more }) => {
    const found = gather([...items])
    return attempt(async () => (await main()).upload(folder, found, more))
}

const input = (attributes) => new Promise((resolve) => {
    const made = Object.assign(document.createElement("input"), { type: "file", ...attributes })
    made.className = "unseen"
    made.tabIndex = -1
    made.setAttribute("aria-hidden", "true")
    // In the document, because some browsers forget the others before the reader has chosen.
    document.body.append(made)
    const end = () => {
        made.remove()
        resolve([...made.files])
    }
    made.addEventListener("change", end)
    made.addEventListener("cancel", end)
    made.click()
})

/// Asks for files. Handles are better where there are some: they can be opened again after a reload.
export const askForFiles = async () => {
    if (window.showOpenFilePicker) {
        try {
            return await window.showOpenFilePicker({ multiple: true, id: "davit-upload" })
        } catch (problem) {
            if (problem.name === "AbortError") return []
        }
    }
    return input({ multiple: true })
}

/// Asks for a folder. `showDirectoryPicker` is not used: members of its handle are missing (see gather.js).
export const askForFolder = () => input({ webkitdirectory: true })

export const chooseFiles = async (folder) => startUpload({ folder, items: await askForFiles() })
export const chooseFolder = async (folder) => {
    const items = await askForFolder()
    if (items.length > 0) await startUpload({ folder, items, isChosenFolder: true })
}

/// Whoever may only read has none of it.
export const start = (app) => {
    if (!page.canWrite) return
    // Who chooses again while that is still read means something else.
    register({
        id: "upload", label: "upload.files", icon: "upload", key: "Mod+u", group: "new", order: 20, scope: "folder", isPrimary: true,
        run: (context) => void chooseFiles(context.folder.href),
    })
    register({
        id: "upload-folder", label: "upload.folder", icon: "upload-folder", group: "new", order: 30, scope: "folder", isBar: false,
        run: (context) => void chooseFolder(context.folder.href),
    })

    // Files from outside. What is moved within the page is another matter.
    const hasFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files")
    const dropFolder = (event) => event.target.closest?.("[data-drop-href]")

    // The veil goes when files leave the window, and also where no event says so: while they are held over it, they say so all
    // the time.
    const stillMilliseconds = 1000
    let veil
    let timer
    let isOver = false

    const hideVeil = () => {
        isOver = false
        clearTimeout(timer)
        veil?.hide()
    }
    const showVeil = async (event) => {
        isOver = true
        clearTimeout(timer)
        timer = setTimeout(hideVeil, stillMilliseconds)
        const row = dropFolder(event)
        try {
            veil ??= (await main()).dropVeil()
        } catch {
            // What is dropped says so.
            return
        }
        if (isOver) veil.show(row, row?.dataset.dropHref ?? app.folder.href)
    }

    for (const type of ["dragenter", "dragover"]) {
        addEventListener(type, (event) => {
            if (!hasFiles(event)) return
            event.preventDefault()
            event.dataTransfer.dropEffect = "copy"
            showVeil(event)
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
        startUpload({ folder, items: event.dataTransfer.items })
    })

    addEventListener("paste", (event) => {
        const items = [...event.clipboardData?.items ?? []].filter((item) => item.kind === "file")
        if (items.length === 0 || event.target.closest?.("input, textarea, [contenteditable]")) return
        event.preventDefault()
        // A picture has no name of its own there.
        const files = items.map((item) => item.getAsFile()).filter(Boolean)
        const found = gather(files)
        attempt(async () => (await main()).upload(app.folder.href, found, { isPasted: true }))
    })

    // What an earlier page has begun is gone on with.
    count(share).then((left) => { if (left > 0) attempt(async () => (await main()).restore()) })
}
