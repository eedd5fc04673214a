// Thumbnails for the grid. They need little data: the embedded EXIF preview of a photograph, or the whole file if it is small.

// The EXIF segment of a JPEG is at most 64 KiB long and usually the first in the file.
const headBytes = 64 << 10
// Larger files without an embedded preview are shown with an icon.
const wholeBytes = 1_000_000
// Maximum number of bytes loaded for one folder.
const folderBytes = 64_000_000
// Size in pixels, for displays with two device pixels per CSS pixel.
const edge = 304
const maxRunning = 2
const maxCachedBytes = 16 << 20
const maxCachedCount = 1000

const drawn = new Set(["png", "gif", "webp", "avif"])
const photographs = new Set(["jpg", "jpeg"])
// Formats that createImageBitmap does not support.
const direct = new Set(["svg", "ico"])

/// Whether an entry can have a thumbnail.
export const canShow = ({ extension, size }) => size > 0
    && (photographs.has(extension) || (size <= wholeBytes && (drawn.has(extension) || direct.has(extension))))

// Cache by href and entity tag: a Blob, or undefined for a file without a thumbnail. Most recently used last.
const cache = new Map()
let cachedBytes = 0
const addToCache = (key, blob) => {
    cache.set(key, blob)
    cachedBytes += blob?.size ?? 0
    for (const [old, one] of cache) {
        if (cachedBytes <= maxCachedBytes && cache.size <= maxCachedCount) break
        cache.delete(old)
        cachedBytes -= one?.size ?? 0
    }
}

/// Fills elements with thumbnails while they are visible.
export class Thumbnails {
    #wanted = new Map()
    #waiting = new Set()
    #running = 0
    #folder = ""
    #spent = 0
    #observer = new IntersectionObserver((changes) => this.#look(changes), { rootMargin: "100px" })

    /// Shows the thumbnail of `entry` in `picture` once it is visible. Calls `fail` if there is none.
    show(picture, entry, fail) {
        this.hide(picture)
        const key = `${entry.href} ${entry.etag}`
        if (cache.has(key)) {
            const blob = cache.get(key)
            cache.delete(key)
            cache.set(key, blob)
            return blob ? place(picture, blob, fail) : fail()
        }
        this.#wanted.set(picture, { entry, key, fail })
        this.#observer.observe(picture)
        return undefined
    }

    /// Stops loading for `picture`.
    hide(picture) {
        const wanted = this.#wanted.get(picture)
        if (!wanted) return
        wanted.controller?.abort()
        this.#wanted.delete(picture)
        this.#waiting.delete(picture)
        this.#observer.unobserve(picture)
    }

    /// Resets the byte limit when another folder is shown.
    enter(folder) {
        if (folder === this.#folder) return
        this.#folder = folder
        this.#spent = 0
    }

    #look(changes) {
        for (const { target, isIntersecting } of changes) {
            const wanted = this.#wanted.get(target)
            if (!wanted) continue
            if (isIntersecting) {
                if (!wanted.controller) this.#waiting.add(target)
            } else {
                this.#waiting.delete(target)
                wanted.controller?.abort()
                wanted.controller = undefined
            }
        }
        this.#pump()
    }

    #pump() {
        for (const picture of this.#waiting) {
            if (this.#running >= maxRunning) return
            this.#waiting.delete(picture)
            this.#run(picture, this.#wanted.get(picture))
        }
    }

    async #run(picture, wanted) {
        const controller = new AbortController()
        wanted.controller = controller
        const { entry, key, fail } = wanted
        this.#running += 1
        let blob
        let isKnown = true
        try {
            const most = photographs.has(entry.extension) ? headBytes : entry.size
            if (this.#spent + most <= folderBytes) blob = await make(entry, controller.signal, (count) => { this.#spent += count })
            else isKnown = false
        } catch {
            // Do not cache failures; a later attempt may succeed.
            isKnown = false
        }
        this.#running -= 1
        if (isKnown) addToCache(key, blob)
        if (this.#wanted.get(picture) === wanted && !controller.signal.aborted) {
            this.hide(picture)
            if (blob) place(picture, blob, fail)
            else fail()
        }
        this.#pump()
    }
}

const place = (picture, blob, fail) => {
    const image = document.createElement("img")
    const address = URL.createObjectURL(blob)
    Object.assign(image, { alt: "", decoding: "async", draggable: false, src: address })
    const { key } = picture.dataset
    image.addEventListener("load", () => URL.revokeObjectURL(address))
    image.addEventListener("error", () => {
        URL.revokeObjectURL(address)
        // The element may show another entry by now.
        if (picture.dataset.key === key) fail()
    })
    picture.replaceChildren(image)
}

/// Creates a thumbnail; undefined for a file without one. `spend` is called with the number of bytes loaded.
const make = async (entry, signal, spend) => {
    const { href, extension, size } = entry
    if (photographs.has(extension)) {
        const head = await load(href, signal, headBytes, spend)
        const preview = previewIn(head)
        if (preview) return preview
        if (size > wholeBytes) return undefined
        if (size <= head.length) return reduced(new Blob([head]))
    }
    const content = await load(href, signal, wholeBytes, spend)
    // Set the media type explicitly, because blobs are not sniffed.
    if (direct.has(extension)) return new Blob([content], { type: extension === "svg" ? "image/svg+xml" : "image/x-icon" })
    return reduced(new Blob([content]))
}

/// Loads at most the first `most` bytes of a file.
const load = async (href, signal, most, spend) => {
    const response = await fetch(href, { signal, headers: { Range: `bytes=0-${most - 1}` } })
    if (!response.ok) throw new Error(String(response.status))
    const parts = []
    let count = 0
    // A server without range support sends the whole file.
    const reader = response.body.getReader()
    while (count < most) {
        const { done, value } = await reader.read()
        if (done) break
        parts.push(value)
        count += value.length
        spend(value.length)
    }
    reader.cancel().catch(() => {})
    return new Uint8Array(await new Blob(parts).arrayBuffer()).subarray(0, most)
}

const reduced = async (content) => {
    const bitmap = await createImageBitmap(content).catch(() => undefined)
    if (!bitmap) return undefined
    const scale = Math.min(1, edge / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement("canvas")
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    const context = canvas.getContext("2d")
    context.imageSmoothingQuality = "high"
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    bitmap.close()
    return await new Promise((resolve) => { canvas.toBlob((blob) => resolve(blob ?? undefined), "image/webp", 0.85) })
}

/// Returns the EXIF preview of a JPEG (Exif 3.0 §4.5) with the orientation of the image; undefined if there is none.
export const previewIn = (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return undefined
    for (let at = 2; at + 10 < bytes.length;) {
        const marker = view.getUint16(at)
        const length = view.getUint16(at + 2)
        // The image data begins after the segments.
        if (marker < 0xffc0 || marker === 0xffda || length < 2) return undefined
        const isExif = marker === 0xffe1 && view.getUint32(at + 4) === 0x45786966 && view.getUint16(at + 8) === 0
        if (isExif) return previewAt(view, at + 10, Math.min(bytes.length, at + 2 + length))
        at += 2 + length
    }
    return undefined
}

/// Finds the preview in the TIFF structure from `start` to `end`. Returns undefined if an offset is out of bounds.
const previewAt = (view, start, end) => {
    const isIn = (at, count) => at >= start && at + count <= end
    if (!isIn(start, 8)) return undefined
    const isLittle = view.getUint16(start) === 0x4949
    // Reads the fields of a directory and the offset of the next directory.
    const read = (at) => {
        if (!isIn(at, 2)) return undefined
        const count = view.getUint16(at, isLittle)
        const fields = new Map()
        for (let index = 0; index < count; index++) {
            const field = at + 2 + 12 * index
            if (!isIn(field, 12)) return undefined
            const isShort = view.getUint16(field + 2, isLittle) === 3
            fields.set(view.getUint16(field, isLittle), isShort ? view.getUint16(field + 8, isLittle) : view.getUint32(field + 8, isLittle))
        }
        const next = at + 2 + 12 * count
        return { fields, next: isIn(next, 4) ? view.getUint32(next, isLittle) : 0 }
    }
    const first = read(start + view.getUint32(start + 4, isLittle))
    if (!first || first.next === 0) return undefined
    const second = read(start + first.next)
    const from = start + (second?.fields.get(0x201) ?? NaN)
    const length = second?.fields.get(0x202) ?? 0
    if (!(length > 4) || !isIn(from, length) || view.getUint16(from) !== 0xffd8) return undefined
    const turned = first.fields.get(0x112) ?? 1
    // The preview has no orientation of its own, so copy the field into a new EXIF segment.
    const segment = Uint8Array.of(0xff, 0xd8, 0xff, 0xe1, 0, 34, 0x45, 0x78, 0x69, 0x66, 0, 0, 0x4d, 0x4d, 0, 42, 0, 0, 0, 8,
        0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, turned <= 8 ? turned : 1, 0, 0, 0, 0, 0, 0)
    const content = new Uint8Array(view.buffer, view.byteOffset + from + 2, length - 2)
    return new Blob([segment, content], { type: "image/jpeg" })
}
