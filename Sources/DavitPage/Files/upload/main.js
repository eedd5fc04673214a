// Entry point for uploads: reads the given items, asks about conflicts, fills the queue and resumes uploads from closed pages.

import { DavError } from "../dav.js"
import { element, icon, styleSheet } from "../element.js"
import { explainFor } from "../errors.js"
import { nameOf, parentOf, visible } from "../href.js"
import { announce, toast } from "../messages.js"
import { has, page } from "../page.js"
import { t } from "../strings.js"
import { gather, reopen } from "./gather.js"
import { Panel } from "./panel.js"
import { askForFiles, askForFolder } from "./pick.js"
import { checkSpace, existing, hrefOf, resolveConflicts, resolveNames } from "./prepare.js"
import { Queue, stayAwake } from "./queue.js"
import { claim, share } from "./store.js"
import { isSame, reset, resumableBytes } from "./transfer.js"
import { Upload, aliveSessions, session } from "./upload.js"

// Files from the clipboard up to this size are stored in the database, because they may not exist elsewhere.
const maxStoredBytes = 64 << 20

export const queue = new Queue()
const panel = new Panel(queue, { retry, find, unlock })
stayAwake(queue)
await styleSheet("upload/upload.css")

addEventListener("beforeunload", (event) => {
    if (queue.isBusy || panel.isReading) event.preventDefault()
})

let isStarted = false

/// Shows uploaded entries, in batches, in the open folder of `app`. Only the first call has an effect.
export function start(app) {
    if (isStarted) return
    isStarted = true
    const arrived = new Set()
    let showing
    queue.addEventListener("done", ({ detail: { href, base } }) => {
        const inside = app.folder.href
        if (!inside || !href.startsWith(inside)) return
        // For a tree, show only its top folder.
        const rest = href.slice(inside.length)
        const end = rest.indexOf("/")
        arrived.add(base === inside || end < 0 ? inside + (end < 0 ? rest : rest.slice(0, end + 1)) : href)
        showing ??= setTimeout(() => {
            showing = undefined
            const hrefs = [...arrived].filter((one) => one.startsWith(app.folder.href))
            arrived.clear()
            if (hrefs.length > 0) app.folder.reload(hrefs)
        }, 500)
    })
}

/// Asks about problems and conflicts, and adds the remaining uploads to the queue. `found` is a result of `gather`.
export async function upload(folder, found, { isPasted = false, isChosenFolder = false } = {}) {
    try {
        const entries = await read(found)
        const given = assignToMissing(entries)
        if (isChosenFolder) panel.notes("upload.noEmptyFolders")
        if (given.length > 0) await begin(folder, given, { isPasted, isAgain: given.length < entries.length })
    } catch (problem) {
        if (problem.name === "AbortError") return
        reportNotStarted(folder, problem)
    } finally {
        panel.reads(undefined)
    }
}

const reportNotStarted = (folder, problem) =>
    toast(explainFor("upload.notBegun", problem, { name: visible(nameOf(folder)) || page.title || t("core.files") }), { kind: "error" })

async function read(found) {
    const entries = []
    let last = performance.now()
    for await (const entry of found()) {
        entries.push(entry)
        if (performance.now() - last < 100) continue
        last = performance.now()
        panel.reads(entries.length)
        await new Promise((resolve) => { setTimeout(resolve) })
    }
    return entries
}

async function begin(folder, given, { isPasted, isAgain }) {
    let entries = await resolveNames(given)
    if (!entries) return
    panel.reads(entries.length)
    const there = await existing(folder, entries)
    // Exclude files that cannot be sent from the checks for space and conflicts.
    for (const entry of entries) {
        if (entry.size > (page.maximumFileBytes ?? Infinity)) entry.problem ??= new DavError(413)
    }
    const refused = entries.filter(({ problem }) => problem)
    entries = entries.filter(({ problem }) => !problem)
    const folders = entries.filter(({ isFolder }) => isFolder)
    let files = entries.filter(({ isFolder }) => !isFolder)
    // Ignore files that are already being uploaded.
    files = files.filter((file) => !isUploading(hrefOf(folder, file.path, false), file))
    // If a tree is given again to resume it, skip the files that have already arrived.
    if (isAgain) files = files.filter((file) => !hasArrived(file, there))
    const found = files.length + refused.length
    files = await resolveConflicts(folder, files, there)
    if (!files) return
    const total = files.reduce((sum, { size }) => sum + size, 0)
    if (!await checkSpace(folder, total)) return
    const isNew = ({ path }) => !there.has(path.join("/"))
    const uploads = [
        ...folders.filter(isNew).sort((a, b) => a.path.length - b.path.length).map((entry) => new Upload({
            share, base: folder, href: hrefOf(folder, entry.path), path: entry.path, size: 0, modified: 0, isFolder: true,
        })),
        ...[...files, ...refused].map((entry) => newUpload(folder, entry, isPasted)),
    ]
    if (uploads.length === 0) return
    panel.show()
    if (files.some(({ size }) => size > resumableBytes) && !has("uploads")) panel.notes("upload.cannotResume")
    announce(files.length > 0 ? t("upload.begun", { count: files.length }) : t("upload.failedCount", { count: refused.length }))
    queue.add(uploads, found)
}

const newUpload = (folder, { path, isFolder, file, size, modified, handle, inner, etag, problem }, isPasted) => new Upload({
    share, base: folder, href: hrefOf(folder, path, false), path, isFolder, size, modified, file, handle, inner, etag, problem,
    blob: isPasted && size <= maxStoredBytes ? file : undefined,
    state: problem ? "failed" : "waiting",
})

const hasArrived = (one, there) => isSame(one, there.get(one.path.slice(0, -1).join("/"))?.get(one.path.at(-1)))

const isUploading = (href, { size, modified }) => queue.find((one) =>
    one.href === href && one.size === size && one.modified === modified && ["running", "waiting", "paused"].includes(one.state))

// Assigns files to interrupted uploads from earlier pages. Returns the other entries.
function assignToMissing(entries) {
    const missing = [...queue.uploads("missing"), ...queue.uploads("locked")]
    if (missing.length === 0) return entries
    const key = (name, size, modified) => `${size} ${modified} ${name}`
    const wanted = new Map()
    for (const upload of missing) {
        const own = key(upload.name, upload.size, upload.modified)
        wanted.set(own, [...wanted.get(own) ?? [], upload])
    }
    const found = []
    const rest = entries.filter((entry) => {
        if (entry.isFolder || !entry.file) return true
        const candidates = wanted.get(key(entry.path.at(-1), entry.size, entry.modified)) ?? []
        const path = entry.path.join("/")
        // Of several matching uploads, prefer the one with the same path.
        let at = candidates.findIndex((one) => one.path.join("/") === path)
        if (at < 0) at = candidates.length === 1 || entry.path.length === 1 ? candidates.length - 1 : -1
        if (at < 0) return true
        const [upload] = candidates.splice(at, 1)
        Object.assign(upload, { file: entry.file, handle: entry.handle ?? upload.handle, inner: entry.inner ?? upload.inner })
        found.push(upload)
        return false
    })
    if (found.length === 0) return entries
    panel.show()
    queue.resume(found)
    // Folders of a tree that is given again already exist or are created with the files.
    return rest.some(({ isFolder }) => !isFolder) ? rest : []
}

/// Resumes uploads from closed pages.
export async function restore() {
    const alive = await aliveSessions()
    const records = await claim(share, session, (one) => alive.has(one))
    if (records.length === 0) return
    const uploads = await withoutArrived(records.map((record) => Upload.restored(record)))
    if (uploads.length === 0) return
    for (const one of uploads) {
        if (one.blob) one.file = one.blob
        else if (one.handle) one.state = await isReadable(one.handle) ? one.state : "locked"
        else one.state = "missing"
        if (one.state === "missing" || one.state === "locked") continue
        one.file ??= await reopen(one)
        if (!one.file) one.state = "missing"
    }
    panel.show()
    queue.add(uploads)
    const asked = queue.count("missing") + queue.count("locked")
    announce(asked > 0 ? t("upload.asksAgain", { count: asked }) : t("upload.continues", { count: uploads.length }))
}

// Removes uploads that were completed just before their page was closed.
async function withoutArrived(uploads) {
    const left = []
    for (const base of new Set(uploads.map((one) => one.base))) {
        const own = uploads.filter((one) => one.base === base)
        // If the folder cannot be read, assume that nothing has arrived.
        const there = await existing(base, own).catch(() => new Map())
        for (const one of own) {
            if (hasArrived(one, there)) queue.cancel([one])
            else left.push(one)
        }
    }
    return left
}

const isReadable = async (handle) => !handle.queryPermission || await handle.queryPermission({ mode: "read" }) === "granted"

/// Asks for permission to read the files again; requires a user gesture.
async function unlock(uploads) {
    const ready = []
    for (const one of uploads) {
        if (await one.handle.requestPermission?.({ mode: "read" }).catch(() => {}) !== "granted") continue
        one.file = await reopen(one)
        if (one.file) ready.push(one)
        else queue.park(one)
    }
    queue.resume(ready)
}

/// Assigns files chosen by the user to interrupted uploads.
async function find(items) {
    const before = queue.count("missing")
    const entries = await read(gather(items))
    if (entries.length === 0) return
    const rest = assignToMissing(entries).filter(({ isFolder }) => !isFolder)
    const left = queue.count("missing")
    if (rest.length > 0 && left === before) toast(t("upload.notTheSame", { name: visible(rest[0].path.at(-1)) }), { kind: "error" })
}

/// Retries failed uploads: asks about changes on the server, and rereads changed files.
async function retry(uploads) {
    const unread = uploads.filter(({ problem }) => problem.name === "FileUnreadable" || problem instanceof DOMException)
    const changed = uploads.filter(({ problem }) => problem.status === 412)
    // Open the file picker first, because the browser allows it only right after a click.
    chooseAgain(unread.filter(({ handle }) => !handle))
    for (const one of unread) if (one.handle) one.file = await reread(one)
    queue.resume(uploads.filter((one) => !changed.includes(one) && (one.handle || !unread.includes(one))))
    // Do not ask again while a dialog is open.
    if (isAsking) return
    isAsking = true
    for (const base of new Set(changed.map((one) => one.base))) await again(base, changed.filter((one) => one.base === base))
    isAsking = false
}
let isAsking = false

// Without a handle, a changed file can be read only if the user chooses it again. It then becomes a new upload to the same
// place.
async function chooseAgain(uploads) {
    if (uploads.length === 0) return
    const [{ href, isFolder }] = uploads
    const folder = parentOf(href)
    const items = await (isFolder ? askForFolder() : askForFiles())
    if (items.length === 0) return
    queue.cancel(uploads.filter((one) => one.isFolder === isFolder && parentOf(one.href) === folder), { isReplaced: true })
    await upload(folder, gather([...items]))
}

// Rereads a file; if it has changed, replaces the upload with a new one.
async function reread(upload) {
    const file = await reopen(upload, { isAnyVersion: true })
    if (!file || (file.size === upload.size && file.lastModified === upload.modified)) return file
    reset(upload, { size: file.size, modified: file.lastModified })
    return file
}

async function again(base, uploads) {
    const files = uploads.map((one) => ({ path: one.path, size: one.size, modified: one.modified, upload: one }))
    let resolved
    try {
        resolved = await resolveConflicts(base, files, await existing(base, files))
    } catch (problem) {
        return reportNotStarted(base, problem)
    }
    if (!resolved) return
    // Skip uploads that were started or cancelled while the dialog was open.
    const left = new Set(uploads.filter(({ state }) => state === "failed"))
    for (const { upload: one, path, etag } of resolved) {
        if (!left.delete(one)) continue
        reset(one, { path, etag, href: hrefOf(base, path, false) })
        queue.resume([one])
    }
    queue.cancel([...left])
}

/// Creates the overlay that is shown while files are dragged over the page.
export function dropVeil() {
    const text = element("p", {})
    const node = element("div.drop-veil", { "aria-hidden": "true" }, element("div", {}, icon("upload"), text))
    let marked
    let shown
    return {
        show(row, href) {
            if (href !== shown) text.textContent = href === page.root ? t("upload.dropHere") : t("upload.dropInto", { name: visible(nameOf(href)) })
            shown = href
            if (marked !== row) {
                marked?.classList.remove("is-drop-target")
                row?.classList.add("is-drop-target")
                marked = row
            }
            if (!node.isConnected) document.body.append(node)
        },
        hide() {
            marked?.classList.remove("is-drop-target")
            marked = undefined
            node.remove()
        },
    }
}
