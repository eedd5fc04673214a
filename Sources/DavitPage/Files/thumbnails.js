// Small pictures of files for the tiles. Little is loaded for them: of a photograph the preview that the camera has put into it,
// of other files only those that are small.

// The EXIF segment of a JPEG is at most 64 KiB long, and first in the file.
const headBytes = 64 << 10
// Larger files without a preview of their own have an icon.
const wholeBytes = 1_000_000
// In all for one folder.
const folderBytes = 64_000_000
// Pixels, for screens with two for each of CSS.
const edge = 304
const mostRunning = 2
const keptBytes = 16 << 20
const keptCount = 1000

const drawn = new Set(["png", "gif", "webp", "avif"])
const photographs = new Set(["jpg", "jpeg"])
// Browsers do not draw these on a canvas.
const direct = new Set(["svg", "ico"])

/// Whether there can be a small picture of an entry.
export const canShow = ({ extension, size }) => size > 0
    && (photographs.has(extension) || (size <= wholeBytes && (drawn.has(extension) || direct.has(extension))))

// Made before, by href and entity tag: a Blob, or undefined for a file without a picture. The latest used is last.
const kept = new Map()
let keptSum = 0
const keep = (key, blob) => {
    kept.set(key, blob)
    keptSum += blob?.size ?? 0
    for (const [old, one] of kept) {
        if (keptSum <= keptBytes && kept.size <= keptCount) break
        kept.delete(old)
        keptSum -= one?.size ?? 0
    }
}

/// Fills elements with small pictures while they can be seen.
export class Thumbnails {
    #wanted = new Map()
    #waiting = new Set()
    #running = 0
    #folder = ""
    #spent = 0
    #observer = new IntersectionObserver((changes) => this.#look(changes), { rootMargin: "100px" })

    /// Shows the picture of `entry` in `picture` once it can be seen. Calls `fail` if there is none.
    show(picture, entry, fail) {
        this.hide(picture)
        const key = `${entry.href} ${entry.etag}`
        if (kept.has(key)) {
            const blob = kept.get(key)
            kept.delete(key)
            kept.set(key, blob)
            return blob ? place(picture, blob, fail) : fail()
        }
        this.#wanted.set(picture, { entry, key, fail })
        this.#observer.observe(picture)
        return undefined
    }

    /// Nothing is loaded for `picture` any more.
    hide(picture) {
        const wanted = this.#wanted.get(picture)
        if (!wanted) return
        wanted.controller?.abort()
        this.#wanted.delete(picture)
        this.#waiting.delete(picture)
        this.#observer.unobserve(picture)
    }

    /// Another folder is shown: what may be loaded in all begins again.
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
            if (this.#running >= mostRunning) return
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
            // Another time it may be there.
            isKnown = false
        }
        this.#running -= 1
        if (isKnown) keep(key, blob)
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

/// A small picture; undefined for a file without one. `spend` is called with the bytes that were loaded.
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
    // A type of its own: content is not looked at to find out.
    if (direct.has(extension)) return new Blob([content], { type: extension === "svg" ? "image/svg+xml" : "image/x-icon" })
    return reduced(new Blob([content]))
}

/// The first bytes of a file, at most `most`.
const load = async (href, signal, most, spend) => {
    const response = await fetch(href, { signal, headers: { Range: `bytes=0-${most - 1}` } })
    if (!response.ok) throw new Error(String(response.status))
    const parts = []
    let count = 0
    // A server that does not know ranges sends all of it.
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

/// The preview in the EXIF segment of a JPEG (Exif 3.0 §4.5), turned as the picture is; undefined without one.
export const previewIn = (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return undefined
    for (let at = 2; at + 10 < bytes.length;) {
        const marker = view.getUint16(at)
        const length = view.getUint16(at + 2)
        // Pictures begin behind the segments.
        if (marker < 0xffc0 || marker === 0xffda || length < 2) return undefined
        const isExif = marker === 0xffe1 && view.getUint32(at + 4) === 0x45786966 && view.getUint16(at + 8) === 0
        if (isExif) return previewAt(view, at + 10, Math.min(bytes.length, at + 2 + length))
        at += 2 + length
    }
    return undefined
}

/// In the TIFF structure from `start` to `end`. Numbers that lead outside of it make it undefined.
const previewAt = (view, start, end) => {
    const isIn = (at, count) => at >= start && at + count <= end
    if (!isIn(start, 8)) return undefined
    const isLittle = view.getUint16(start) === 0x4949
    // The number in a field of a directory, and where the directory after it is.
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
    // The preview does not say how it is to be turned: the field goes into a segment of its own.
    const segment = Uint8Array.of(0xff, 0xd8, 0xff, 0xe1, 0, 34, 0x45, 0x78, 0x69, 0x66, 0, 0, 0x4d, 0x4d, 0, 42, 0, 0, 0, 8,
        0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, turned <= 8 ? turned : 1, 0, 0, 0, 0, 0, 0)
    const content = new Uint8Array(view.buffer, view.byteOffset + from + 2, length - 2)
    return new Blob([segment, content], { type: "image/jpeg" })
}
