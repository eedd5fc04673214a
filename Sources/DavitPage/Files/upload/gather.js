// Converts dropped, pasted or chosen items into one list of folders and files.
//
// A folder is {path, isFolder: true}, a file {path, file, size, modified, handle?, inner?}: `path` contains the names below the
// target, `handle` can be reopened by the browser after a reload, and `inner` is the path from the handle to the file. Items
// that cannot be read have a `problem`.
//
// Folders are read through entries, never through handles: Chromium silently omits names it considers unsafe from the members
// of a handle (`a?b`, `~a`, `a.lnk`, `desktop.ini`, …). Handles are used only to reopen files.

/// Returns a generator function for the folders and files in `items`. Must be called in the event handler, because the items
/// are readable only there.
export function gather(items) {
    const found = []
    for (const [index, item] of items.entries()) {
        if (item instanceof File) {
            found.push(fromInput(item))
        } else if (item.isSameEntry) {
            found.push(fromHandle(item))
        } else if (item.kind === "file") {
            found.push(fromItem(item, index))
        }
    }
    return async function* () {
        const folders = new Set()
        for (const one of found) {
            for await (const entry of await one) {
                // File inputs list only files, so add their folders.
                for (let depth = 1; depth < entry.path.length; depth += 1) {
                    const path = entry.path.slice(0, depth)
                    const key = path.join("/")
                    if (folders.has(key)) continue
                    folders.add(key)
                    yield { path, isFolder: true }
                }
                if (entry.isFolder) folders.add(entry.path.join("/"))
                yield entry
            }
        }
    }
}

// Reads a file from a file input. With webkitdirectory, the file includes its path, but empty folders are missing. A backslash
// in a name becomes a slash in the path, but not in the name of the file.
const fromInput = (file) => {
    const above = file.webkitRelativePath.slice(0, -file.name.length)
    return [fileEntry([...above.split("/").filter(Boolean), file.name], file)]
}

const fileEntry = (path, file, more) => ({
    path, file, size: file.size, modified: file.lastModified, ...more,
})

/// Creates an entry for an item that could not be read; the others are uploaded.
const unread = (path, isFolder, problem) => ({ path, isFolder, problem, size: 0, modified: 0 })

async function* fromHandle(handle) {
    try {
        yield fileEntry([handle.name], await handle.getFile(), { handle, inner: [] })
    } catch (problem) {
        yield unread([handle.name], false, problem)
    }
}

function fromItem(item, index) {
    // Some browsers do not support handles or deny them.
    const handle = Promise.resolve(item.getAsFileSystemHandle?.()).catch(() => undefined)
    const entry = item.webkitGetAsEntry?.()
    const file = item.getAsFile?.()
    return (async () => {
        if (entry) return fromEntry(entry, await handle)
        if (file) return [fileEntry([file.name], file)]
        return [unread([String(index + 1)], false, new DOMException("", "NotFoundError"))]
    })()
}

/// Yields an entry and everything below it, each folder before its members.
async function* fromEntry(top, handle) {
    const waiting = [{ entry: top, above: [] }]
    while (waiting.length > 0) {
        const { entry, above } = waiting.pop()
        const path = [...above, entry.name]
        try {
            if (entry.isDirectory) {
                yield { path, isFolder: true }
                const members = await membersOf(entry)
                for (const member of members.reverse()) waiting.push({ entry: member, above: path })
            } else {
                const file = await new Promise((resolve, reject) => { entry.file(resolve, reject) })
                yield fileEntry(path, file, handle && { handle, inner: path.slice(1) })
            }
        } catch (problem) {
            yield unread(path, entry.isDirectory, problem)
        }
    }
}

const membersOf = async (entry) => {
    const reader = entry.createReader()
    const found = []
    for (;;) {
        // readEntries returns a limited number of entries per call, in Chromium a hundred, and none at the end.
        const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject) })
        if (some.length === 0) return found
        found.push(...some)
    }
}

/// Reopens the file of a stored handle. Returns undefined if the file is missing or, unless `isAnyVersion` is set, if it differs
/// from the record.
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
