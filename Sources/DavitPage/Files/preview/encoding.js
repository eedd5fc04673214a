// Decodes and encodes text so that saving preserves encoding, byte order mark and line endings.

const marks = [
    ["utf-8", [0xEF, 0xBB, 0xBF]],
    ["utf-16le", [0xFF, 0xFE]],
    ["utf-16be", [0xFE, 0xFF]],
]

function decoded(bytes, encoding, isPart) {
    try {
        // A part can end inside a character.
        return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isPart })
    } catch {
        return undefined
    }
}

/// Detects UTF-16 without a byte order mark: more than half of the high bytes are zero, and none of the low bytes.
function guess(bytes) {
    const count = Math.min(bytes.length, 4096) & ~1
    let even = 0
    let odd = 0
    for (let index = 0; index < count; index += 2) {
        if (bytes[index] === 0) even += 1
        if (bytes[index + 1] === 0) odd += 1
    }
    if (odd > count / 4 && even === 0) return "utf-16le"
    if (even > count / 4 && odd === 0) return "utf-16be"
    return undefined
}

/// Decodes bytes as text: `{text, encoding, hasMark}`; undefined if they are not text.
/// @param isPart whether more bytes follow.
export function decode(bytes, isPart = false) {
    for (const [encoding, mark] of marks) {
        if (!mark.every((byte, index) => bytes[index] === byte)) continue
        const text = decoded(bytes.subarray(mark.length), encoding, isPart)
        if (text !== undefined) return { text, encoding, hasMark: true }
    }
    const wide = guess(bytes)
    const text = wide && decoded(bytes, wide, isPart)
    if (text !== undefined) return { text, encoding: wide, hasMark: false }
    if (bytes.includes(0)) return undefined
    const plain = decoded(bytes, "utf-8", isPart)
    if (plain !== undefined) return { text: plain, encoding: "utf-8", hasMark: false }
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252", hasMark: false }
}

/// Encodes a text; undefined if the encoding does not support all of its characters.
export function encode(text, encoding, hasMark) {
    const mark = hasMark ? marks.find(([name]) => name === encoding)?.[1] ?? [] : []
    if (encoding === "utf-8") return joined(mark, new TextEncoder().encode(text))
    if (encoding === "windows-1252") {
        const all = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
        const byte = new Map([...all].map((character, index) => [character, index]))
        const bytes = Array.from(text, (character) => byte.get(character))
        return bytes.includes(undefined) ? undefined : Uint8Array.from(bytes)
    }
    const view = new DataView(new ArrayBuffer(2 * text.length))
    for (let index = 0; index < text.length; index += 1) {
        view.setUint16(2 * index, text.charCodeAt(index), encoding === "utf-16le")
    }
    return joined(mark, new Uint8Array(view.buffer))
}

function joined(mark, bytes) {
    const all = new Uint8Array(mark.length + bytes.length)
    all.set(mark)
    all.set(bytes, mark.length)
    return all
}

/// The line endings of a text; a textarea supports only one kind.
export class LineEnds {
    constructor(text) {
        this.lines = text.split(/\r\n|\r|\n/)
        this.ends = text.match(/\r\n|\r|\n/g) ?? []
        const count = new Map()
        for (const end of this.ends) count.set(end, (count.get(end) ?? 0) + 1)
        /// The most frequent line ending, used for new lines.
        this.usual = [...count].sort((one, other) => other[1] - one[1])[0]?.[0] ?? "\n"
        this.isMixed = count.size > 1
    }

    /// The text with the line endings of a textarea.
    get plain() {
        return this.lines.join("\n")
    }

    /// Restores the line endings of a textarea's text; existing lines keep theirs.
    restore(plain) {
        if (!this.isMixed) return this.usual === "\n" ? plain : plain.replaceAll("\n", this.usual)
        const lines = plain.split("\n")
        let same = 0
        while (same < lines.length - 1 && same < this.ends.length && lines[same] === this.lines[same]) same += 1
        const shift = this.lines.length - lines.length
        let from = lines.length - 1
        while (from > same && from + shift > same && lines[from] === this.lines[from + shift]) from -= 1
        return lines.map((line, index) => {
            if (index === lines.length - 1) return line
            const known = index < same ? this.ends[index] : index > from ? this.ends[index + shift] : undefined
            return line + (known ?? this.usual)
        }).join("")
    }
}
