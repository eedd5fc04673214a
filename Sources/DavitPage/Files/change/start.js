// Registers the actions that change resources. Their modules are imported on first use.

import { register } from "../actions.js"
import { styleSheet } from "../element.js"
import { attempt, later } from "../load.js"
import { has, page } from "../page.js"
import { may, mayDownloadAll } from "../rights.js"
import { t } from "../strings.js"
import { clipboard } from "./clipboard.js"
import { startDragging } from "./drag.js"
import { lockBadge } from "./badge.js"

const create = later(() => import("./create.js"))
const renaming = later(() => import("./rename.js"))
const transfers = later(() => import("./transfer.js"))
const removal = later(() => import("./remove.js"))
const locks = later(() => import("./locks.js"))
const downloads = later(() => import("./download.js"))
const trash = later(() => import("./trash.js"))

export const start = (app) => {
    styleSheet("change/change.css")
    const items = app.views.items
    items.decorate(lockBadge)
    registerDownloads()
    if (has("trash")) registerTrash(app)
    if (!page.canWrite) return
    registerChanges(app)
    clipboard.start(app)
    startDragging(app)
    startSlowClick(app)
}

const isFolderShown = ({ folder }) => folder.query === ""
const mayCreate = (context) => isFolderShown(context) && may("create", context.folder)

const registerChanges = (app) => {
    register({
        id: "new-folder", label: "change.newFolder", icon: "new-folder", key: "Alt+n", group: "new", order: 10, scope: "folder",
        enabled: mayCreate, run: async () => (await create()).newFolder(app),
    })
    register({
        id: "new-file", label: "change.newFile", icon: "new-file", key: "Alt+t", group: "new", order: 20, scope: "folder",
        isBar: false, enabled: (context) => mayCreate(context) && may("change", context.folder),
        run: async () => (await create()).newFile(app),
    })
    register({
        id: "rename", label: "change.rename", icon: "rename", key: "F2", group: "edit", order: 10, enabled: ({ entries }) => entries.length === 1 && may("rename", ...entries),
        run: async ({ entries }) => (await renaming()).rename(app, entries[0]),
    })
    register({
        id: "move", label: "change.moveTo", icon: "move", group: "edit", order: 20, enabled: ({ entries }) => may("move", ...entries),
        run: async ({ entries }) => (await transfers()).askAndTransfer(app, entries, { isCopy: false }),
    })
    register({
        id: "copy-to", label: "change.copyTo", icon: "copy", group: "edit", order: 30, isBar: false, enabled: ({ entries }) => may("copy", ...entries),
        run: async ({ entries }) => (await transfers()).askAndTransfer(app, entries, { isCopy: true }),
    })
    // Selected text takes precedence over selected entries.
    const hasNoText = () => getSelection().isCollapsed
    register({
        id: "cut", label: "change.cut", icon: "cut", key: "Mod+x", group: "edit", order: 40, isBar: false,
        enabled: ({ entries }) => hasNoText() && may("move", ...entries), run: ({ entries }) => clipboard.take(entries, true),
    })
    register({
        id: "copy", label: "change.copy", icon: "copy", key: "Mod+c", group: "edit", order: 50, isBar: false,
        enabled: ({ entries }) => hasNoText() && may("copy", ...entries), run: ({ entries }) => clipboard.take(entries, false),
    })
    // No shortcut: the browser's paste event shows whether the clipboard contains files instead.
    register({
        id: "paste", label: ({ folder }) => t("change.paste", { count: clipboard.hrefs.length, name: folder.href }), icon: "paste",
        group: "new", order: 30, scope: "folder", enabled: (context) => mayCreate(context) && clipboard.hrefs.length > 0,
        // Not awaited, so that another paste can start before this one ends.
        run: () => void attempt(() => clipboard.paste()),
    })
    register({
        id: "delete", label: "change.delete", icon: "delete", key: ["Delete", "Mod+Backspace"], group: "edit", order: 90, isDanger: true,
        enabled: ({ entries }) => may("remove", ...entries), run: async ({ entries }) => (await removal()).remove(app, entries),
    })
    register({
        id: "break-lock", label: "change.breakLock", icon: "lock", group: "edit", order: 80, isBar: false,
        enabled: ({ entries }) => has("locks") && entries.length === 1 && entries[0].locks.length > 0
            && (may("manage", entries[0]) || entries[0].locks.every(({ principal }) => principal === page.user)),
        run: async ({ entries }) => (await locks()).breakLock(app, entries[0].href),
    })
}

const registerDownloads = () => {
    register({
        id: "download", label: "change.download", icon: "download", group: "transfer", order: 10,
        enabled: ({ entries }) => may("read", ...entries) && (has("archive") || entries.every((entry) => !entry.isFolder)),
        run: async ({ entries, folder }) => (await downloads()).download(folder, entries),
    })
    register({
        id: "download-folder", label: "change.downloadFolder", icon: "download", group: "transfer", order: 20, scope: "folder",
        isBar: false, enabled: (context) => has("archive") && isFolderShown(context) && context.folder.entries.size > 0 && mayDownloadAll(context.folder),
        run: async ({ folder }) => (await downloads()).downloadFolder(folder.href),
    })
}

const registerTrash = (app) => {
    register({
        id: "trash", label: "change.trash", icon: "delete", group: "other", order: 20, scope: "folder", isBar: false,
        run: () => app.go("?trash"),
    })
    const route = () => attempt(async () => {
        const isRequested = () => new URL(location.href).searchParams.has("trash")
        if (isRequested()) {
            const { showTrash } = await trash()
            if (isRequested()) await showTrash(app)
        } else if (document.querySelector(".trash")) {
            app.showView(undefined)
        }
    })
    app.addEventListener("route", route)
    route()
}

// A second, slow click next to the name of the selected entry starts renaming.
const pause = 600
const startSlowClick = (app) => {
    let timer
    let pressed
    const { body } = app.views.items
    body.addEventListener("pointerdown", (event) => {
        clearTimeout(timer)
        const row = event.target.closest(".item")
        const { selection } = app.folder
        const isPlain = event.pointerType === "mouse" && event.button === 0
            && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
        pressed = isPlain && row && selection.size === 1 && selection.has(row.dataset.href) ? row.dataset.href : undefined
    }, true)
    body.addEventListener("click", (event) => {
        const row = event.target.closest(".item")
        if (!pressed || row?.dataset.href !== pressed || event.detail > 1) return
        if (!event.target.closest(".cell.name") || event.target.closest("a, button, input")) return
        const href = pressed
        timer = setTimeout(() => attempt(async () => {
            const entry = app.folder.entry(href)
            if (entry && may("rename", entry) && app.folder.selection.has(href)) (await renaming()).rename(app, entry)
        }), pause)
    })
    for (const type of ["dblclick", "dragstart", "keydown"]) body.addEventListener(type, () => clearTimeout(timer))
}
