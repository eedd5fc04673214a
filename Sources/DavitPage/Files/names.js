// Rules for member names: validity, portability, splitting into stem and extension, and free names.

const encoder = new TextEncoder()

// The limit of common file systems.
const maximumBytes = 255

const device = /^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(\.|$)/i
const reserved = /^\.davit-[a-z2-7]{16}$/
const forbidden = /[<>:"|?*\\\u0000-\u001f]/

export const byteLength = (name) => encoder.encode(name).length

/// Splits a name into stem and extension. `.tar.gz` is one extension; `.profile` has none.
export function splitName(name) {
    const match = /^(.+?)((?:\.tar)?\.[^. ]{1,12})$/isu.exec(name)
    return match ? [match[1], match[2]] : [name, ""]
}

// Truncates the stem at a character boundary so that the name fits the limit.
function joined(stem, ending) {
    const room = maximumBytes - byteLength(ending)
    let prefix = "", used = 0
    for (const character of stem) {
        used += byteLength(character)
        if (used > room) break
        prefix += character
    }
    return prefix + ending
}

/// Returns `name` if it is free, otherwise the first free name of the form `name (1).ext`, as the server chooses it
/// (MemberNames). `taken` has a method `has`.
export function freeName(name, taken, isFolder = false) {
    if (!taken.has(name)) return name
    const [whole, ending] = isFolder ? [name, ""] : splitName(name)
    const numbered = /^(.+) \((\d{1,3})\)$/s.exec(whole)
    const stem = numbered ? numbered[1] : whole
    for (let number = numbered ? Number(numbered[2]) + 1 : 1; ; number += 1) {
        const candidate = joined(stem, ` (${number})${ending}`)
        if (!taken.has(candidate)) return candidate
    }
}

/// Checks a name before uploading: the server rejects few names, Windows rejects many. Returns undefined for a portable name,
/// or the key of the reason, whether the server would reject it, and a suggested portable name.
export function checkName(name) {
    const problem = (key, isRefused) => ({ key, isRefused, suggestion: suggestion(name) })
    if (name === "" || name === "." || name === ".." || /[/\u0000]/.test(name)) return problem("upload.nameImpossible", true)
    if (!isWellFormed(name)) return problem("upload.nameBroken", true)
    if (byteLength(name) > maximumBytes) return problem("upload.nameLong", true)
    if (reserved.test(name)) return problem("upload.nameReserved", true)
    if (forbidden.test(name)) return problem("upload.nameCharacters", false)
    if (device.test(name)) return problem("upload.nameDevice", false)
    if (/[. ]$/.test(name)) return problem("upload.nameEnd", false)
    return undefined
}

function isWellFormed(name) {
    try {
        encodeURIComponent(name)
        return true
    } catch {
        return false
    }
}

function suggestion(name) {
    // Encoding and decoding replaces unpaired surrogates with U+FFFD.
    let better = new TextDecoder().decode(encoder.encode(name))
    better = better.replace(/[<>:"|?*\\/\u0000-\u001f]/g, "_").replace(/[. ]+$/, "")
    if (better === "") better = "_"
    if (device.test(better)) better = `_${better}`
    if (reserved.test(better)) better = `_${better}`
    return joined(...splitName(better))
}

/// Returns the key of the message for an invalid name entered by the user; undefined if the name is valid.
export function nameProblem(name) {
    if (name.trim() === "") return "change.nameEmpty"
    if (name === "." || name === "..") return "change.nameDots"
    if (name.includes("/")) return "change.nameSlash"
    if (/[\0-\x1f\x7f]/.test(name)) return "change.nameControl"
    if (byteLength(name) > maximumBytes) return "change.nameLong"
    return undefined
}
