// What was dropped, pasted or chosen, as one list of folders and files.
//
// A folder is {path, isFolder: true}, a file {path, file, size, modified, handle?, inner?}: path has the names from the
// target down, handle is what the browser can open again after a reload, and inner the way from there to the file.
// What cannot be read has a problem.

/// The items of an event live no longer than it: all are asked for before anything is waited for.
export function gather(items) {
    const found = []
    for (const item of items) {
        if (item instanceof File) {
            found.push(fromInput(item))
        } else if (item.isSameEntry) {
            found.push(walkHandle(item, item, []))
        } else if (item.kind === "file") {
            found.push(fromItem(item))
        }
    }
    return async function* () {
        for (const one of found) yield* await one
    }
}

// Of a file input: with webkitdirectory it says where the file was, but keeps no folder that is empty.
const fromInput = (file) => [fileEntry((file.webkitRelativePath || file.name).split("/"), file)]

const fileEntry = (path, file, more) => ({
    path, file, size: file.size, modified: file.lastModified, ...more,
})

function fromItem(item) {
    const handle = item.getAsFileSystemHandle?.()
    const entry = item.webkitGetAsEntry?.()
    const file = item.getAsFile?.()
    return (async () => {
        try {
            const opened = await handle
            if (opened) return walkHandle(opened, opened, [])
        } catch {
            // Some browsers have the method and refuse it; the older way still works.
        }
        if (entry) return fromEntry(entry, [])
        return file ? [fileEntry([file.name], file)] : []
    })()
}

async function* walkHandle(top, handle, inner) {
    const path = [top.name, ...inner]
    const isFolder = handle.kind === "directory"
    try {
        if (!isFolder) return yield fileEntry(path, await handle.getFile(), { handle: top, inner })
        yield { path, isFolder }
        for await (const [name, member] of handle.entries()) yield* walkHandle(top, member, [...inner, name])
    } catch (problem) {
        yield unread(path, isFolder, problem)
    }
}

// It is listed with what failed, and the rest goes on.
const unread = (path, isFolder, problem) => ({ path, isFolder, problem, size: 0, modified: 0 })

async function* fromEntry(entry, above) {
    const path = [...above, entry.name]
    const isFolder = entry.isDirectory
    try {
        if (!isFolder) return yield fileEntry(path, await new Promise((resolve, reject) => entry.file(resolve, reject)))
        yield { path, isFolder }
        const reader = entry.createReader()
        for (;;) {
            // It gives a hundred at a time, and none at the end.
            const members = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
            if (members.length === 0) return
            for (const member of members) yield* fromEntry(member, path)
        }
    } catch (problem) {
        yield unread(path, isFolder, problem)
    }
}

/// The file behind a handle that was kept, or undefined where it is gone, or is another version than that of the record.
export async function reopen(record, { isAnyVersion = false } = {}) {
    try {
        let handle = record.handle
        for (const [index, name] of record.inner.entries()) {
            handle = index + 1 < record.inner.length
                ? await handle.getDirectoryHandle(name) : await handle.getFileHandle(name)
        }
        const file = await handle.getFile()
        return isAnyVersion || (file.size === record.size && file.lastModified === record.modified) ? file : undefined
    } catch {
        return undefined
    }
}
