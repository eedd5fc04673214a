// Checks before an upload starts: names, existing folders, free space and conflicts.

import { dialog, confirm } from "../dialog.js"
import { propfind, quota } from "../dav.js"
import { element } from "../element.js"
import { member, nameOf, visible } from "../href.js"
import { later } from "../load.js"
import { readSetting, writeSetting } from "../settings.js"
import { bytes, t } from "../strings.js"
import { checkName, freeName } from "../names.js"

const maxListed = 200
const conflictDialog = later(() => import("../change/conflict.js"))
const maxConcurrentListings = 4

/// Asks about names that are not portable. Returns the entries with usable names, or undefined if the user cancels.
export async function resolveNames(entries) {
    const wrong = new Map()
    for (const { path } of entries) {
        for (const name of path) if (!wrong.has(name)) wrong.set(name, checkName(name))
    }
    for (const [name, found] of wrong) if (!found) wrong.delete(name)
    if (wrong.size === 0) return entries
    const refused = [...wrong].filter(([, { isRefused }]) => isRefused)
    const isQuiet = readSetting("anyNames", ["no", "yes"]) === "yes"
    const choice = refused.length === 0 && isQuiet ? "keep" : await askAboutNames(wrong, refused.length > 0)
    if (choice === undefined) return undefined
    const better = new Map()
    for (const [name, { isRefused, suggestion }] of wrong) {
        if (choice === "rename" || isRefused) better.set(name, suggestion)
    }
    return renamed(entries, better)
}

// Renames entries, so that no two members of a folder get the same name. `better` contains the new names.
function renamed(entries, better) {
    const byPath = new Map()
    const key = (path) => path.join("/")
    const taken = new Set(entries.filter(({ path }) => !path.some((name) => better.has(name))).map(({ path }) => key(path)))
    const pathFor = (path) => {
        const own = key(path)
        if (byPath.has(own)) return byPath.get(own)
        const above = path.length > 1 ? pathFor(path.slice(0, -1)) : []
        const name = path.at(-1)
        let renamed = [...above, name]
        if (better.has(name)) renamed = [...above, freeName(better.get(name), { has: (free) => taken.has(key([...above, free])) })]
        taken.add(key(renamed))
        byPath.set(own, renamed)
        return renamed
    }
    return entries.map((entry) => ({ ...entry, path: pathFor(entry.path) }))
}

async function askAboutNames(wrong, isForced) {
    const rows = [...wrong].slice(0, maxListed).map(([name, { key, suggestion }]) =>
        element("li", {}, element("bdi", {}, visible(name)), element("span.why", {}, t(key)),
            element("span.better", {}, t("upload.nameBetter"), " ", element("bdi", {}, visible(suggestion)))))
    if (wrong.size > maxListed) rows.push(element("li", {}, t("upload.more", { count: wrong.size - maxListed })))
    const quiet = element("input", { type: "checkbox" })
    const choice = await dialog({
        title: t("upload.namesTitle", { count: wrong.size }), className: "upload-names",
        body: element("div", {},
            element("p", {}, t(isForced ? "upload.namesRefused" : "upload.namesWindows")),
            element("ul", { tabindex: "0", autofocus: true, "aria-label": t("upload.namesTitle", { count: wrong.size }) }, rows),
            !isForced && element("label.check", {}, quiet, element("span", {}, t("upload.namesQuiet")))),
        actions: [
            { label: t("core.cancel"), value: undefined },
            !isForced && { label: t("upload.namesKeep"), value: "keep" },
            { label: t("upload.namesRename"), value: "rename", kind: "primary" },
        ].filter(Boolean),
    })
    if (choice === "keep" && quiet.checked) writeSetting("anyNames", "yes")
    return choice
}

/// Warns if there is not enough space. Returns whether to continue.
export async function checkSpace(folder, wanted) {
    let available
    try {
        available = (await quota(folder)).available
    } catch {
        // If there is not enough space, the server reports it during the upload.
    }
    if (!Number.isFinite(available) || wanted <= available) return true
    return confirm({
        title: t("upload.noRoomTitle"), action: t("upload.anyway"),
        text: t("upload.noRoom", { needed: bytes(wanted), free: bytes(available) }),
    })
}

/// Reads the existing target folders: a map from their paths (joined with "/"; "" for the target itself) to their members by
/// name. Missing folders are not in the map.
export async function existing(folder, entries, signal) {
    const found = new Map()
    const wanted = new Set([""])
    for (const { path, isFolder } of entries) {
        for (let depth = 1; depth < path.length + (isFolder ? 1 : 0); depth += 1) wanted.add(path.slice(0, depth).join("/"))
    }
    const byDepth = [...wanted].sort((a, b) => depthOf(a) - depthOf(b))
    let next = 0
    const level = async (depth) => {
        while (next < byDepth.length && depthOf(byDepth[next]) === depth) {
            const path = byDepth[next]
            next += 1
            await list(path)
        }
    }
    const list = async (path) => {
        const href = hrefOf(folder, path)
        if (path !== "") {
            const above = found.get(path.slice(0, Math.max(0, path.lastIndexOf("/"))))
            if (!above?.get(path.slice(path.lastIndexOf("/") + 1))?.isFolder) return
        }
        try {
            const { entries: listed } = await propfind(href, { depth: 1, signal })
            found.set(path, new Map(listed.slice(1).map((entry) => [nameOf(entry.href), entry])))
        } catch (problem) {
            if (problem.name === "AbortError" || path === "") throw problem
        }
    }
    for (let depth = 0; next < byDepth.length; depth += 1) {
        await Promise.all(Array.from({ length: maxConcurrentListings }, () => level(depth)))
    }
    return found
}

const depthOf = (path) => (path === "" ? 0 : path.split("/").length)

export const hrefOf = (folder, path, isFolder = true) => {
    const names = Array.isArray(path) ? path : path === "" ? [] : path.split("/")
    return names.reduce((href, name, index) => member(href, name, isFolder || index + 1 < names.length), folder)
}

/// Asks about all existing files in one dialog. Returns the files that are not skipped, each with the version to replace
/// ({etag}) or its new name; undefined if the user cancels.
export async function resolveConflicts(folder, files, found) {
    const conflicts = []
    for (const file of files) {
        const there = found.get(file.path.slice(0, -1).join("/"))?.get(file.path.at(-1))
        if (there) conflicts.push({ file, there })
    }
    if (conflicts.length === 0) return files
    const { askAboutConflicts } = await conflictDialog()
    const byHref = await askAboutConflicts(conflicts.map(({ file, there }) => ({
        name: file.path.join("/"), href: there.href,
        old: { size: there.size, modified: there.modified, isFolder: there.isFolder },
        new: { size: file.size, modified: file.modified, isFolder: false },
    })))
    if (!byHref) return undefined
    const choices = new Map(conflicts.map(({ file, there }) => [file, { there, choice: byHref.get(there.href) ?? "skip" }]))
    const taken = new Set(files.map(({ path }) => path.join("/")))
    const resolved = []
    for (const file of files) {
        const { there, choice } = choices.get(file) ?? {}
        if (choice === "skip") continue
        // A file does not replace a folder with its contents; keep both.
        if (choice === "keep" || (choice === "replace" && there.isFolder)) {
            const above = file.path.slice(0, -1)
            const members = found.get(above.join("/"))
            const name = freeName(file.path.at(-1), { has: (free) => members?.has(free) || taken.has([...above, free].join("/")) })
            taken.add([...above, name].join("/"))
            resolved.push({ ...file, path: [...above, name] })
        } else {
            resolved.push(choice === "replace" ? { ...file, etag: there.etag || undefined } : file)
        }
    }
    return resolved
}
