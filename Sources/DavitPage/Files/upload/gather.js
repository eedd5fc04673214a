// What was dropped, pasted or chosen, as one list of folders and files.
//
// A folder is {path, isFolder: true}, a file {path, file, size, modified, handle?, inner?}: path has the names from the
// target down, handle is what the browser can open again after a reload, and inner the way from there to the file.
// What cannot be read has a problem.
//
// What a folder contains is read from its entry, never from its handle: Chromium leaves names that it takes for unsafe out of
// the members of a handle (`a?b`, `~a`, `a.lnk`, `desktop.ini`, …) without an error. Handles only open files again.

/// Call it inside the event: its items can be read only there.
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
                // An input lists files alone.
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

// Of a file input: with webkitdirectory it says where the file was, but keeps no folder that is empty. A backslash in a name
// is a slash there, but not in the name of the file.
const fromInput = (file) => {
    const above = file.webkitRelativePath.slice(0, -file.name.length)
    return [fileEntry([...above.split("/").filter(Boolean), file.name], file)]
}

const fileEntry = (path, file, more) => ({
    path, file, size: file.size, modified: file.lastModified, ...more,
})

/// It is listed with what failed, and the rest goes on.
const unread = (path, isFolder, problem) => ({ path, isFolder, problem, size: 0, modified: 0 })

async function* fromHandle(handle) {
    try {
        yield fileEntry([handle.name], await handle.getFile(), { handle, inner: [] })
    } catch (problem) {
        yield unread([handle.name], false, problem)
    }
}

function fromItem(item, index) {
    // Some browsers have no handles, or refuse them.
    const asked = Promise.resolve(item.getAsFileSystemHandle?.()).catch(() => undefined)
    const entry = item.webkitGetAsEntry?.()
    const file = item.getAsFile?.()
    return (async () => {
        if (entry) return fromEntry(entry, await asked)
        if (file) return [fileEntry([file.name], file)]
        return [unread([String(index + 1)], false, new DOMException("", "NotFoundError"))]
    })()
}

/// An entry with all that is below it, each folder before its members.
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
        // It returns a hundred at a time, and none at the end.
        const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject) })
        if (some.length === 0) return found
        found.push(...some)
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
