// Paths of resources. Names are arbitrary bytes on the server, so a resource is identified by its percent-encoded path; the
// decoded text is only for display.

const lenient = new TextDecoder()

/// Encodes one path segment as the server does: everything except letters, digits and `-._~`.
export const segment = (text) =>
    encodeURIComponent(text.toWellFormed?.() ?? text)
        .replace(/[!'()*]/g, (sign) => "%" + sign.charCodeAt(0).toString(16).toUpperCase())

/// Returns the last segment, encoded and without slashes; empty for the root.
export const lastSegment = (href) => {
    const end = href.endsWith("/") ? href.length - 1 : href.length
    return href.slice(href.lastIndexOf("/", end - 1) + 1, end)
}

/// Decodes a segment. Invalid UTF-8 becomes replacement characters.
export const decode = (encoded) => {
    if (!encoded.includes("%")) return encoded
    try {
        return decodeURIComponent(encoded)
    } catch {
        return lenient.decode(bytesOf(encoded))
    }
}

/// Returns the decoded name of a resource; empty for the root.
export const nameOf = (href) => decode(lastSegment(href))

const bytesOf = (encoded) => {
    const bytes = []
    for (let at = 0; at < encoded.length; at++) {
        const byte = encoded[at] === "%" ? parseInt(encoded.slice(at + 1, at + 3), 16) : NaN
        if (Number.isNaN(byte)) {
            bytes.push(...new TextEncoder().encode(encoded[at]))
        } else {
            bytes.push(byte)
            at += 2
        }
    }
    return new Uint8Array(bytes)
}

/// Returns the parent folder, with a trailing slash.
export const parentOf = (href) => {
    const end = href.endsWith("/") ? href.length - 1 : href.length
    return href.slice(0, href.lastIndexOf("/", end - 1) + 1)
}

/// Returns the path of the member named `text`.
export const member = (folderHref, text, isFolder = false) => folderHref + segment(text) + (isFolder ? "/" : "")

/// Whether `href`, resolved as browsers do, is the folder or below it. A path that begins with `//` is always outside, because
/// as an address it would refer to another server.
export const isWithin = (href, folderHref) => {
    let url
    try {
        url = new URL(href, location.origin)
    } catch {
        return false
    }
    const withSlash = (path) => (path.endsWith("/") ? path : `${path}/`)
    const path = url.pathname
    return url.origin === location.origin && !path.startsWith("//") && withSlash(canonical(path)).startsWith(withSlash(folderHref))
}

/// Normalizes a path to the server's encoding; browsers leave some characters unencoded.
export const canonical = (path) =>
    path.split("/").map((part) =>
        part.replace(/%[0-9a-fA-F]{2}|[^A-Za-z0-9\-._~%]|%/gu, (sign) => {
            if (sign.length !== 3 || sign[0] !== "%") return segment(sign)
            const code = parseInt(sign.slice(1), 16)
            const letter = String.fromCharCode(code)
            return /[A-Za-z0-9\-._~]/.test(letter) ? letter : sign.toUpperCase()
        })).join("/")

/// Makes control, bidirectional and invisible characters in a name visible: they could reorder or hide the text around them, or make
/// two names look the same. Joiners (U+200C, U+200D) belong to scripts and emoji.
export const visible = (name) =>
    name.replace(/[\u0000-\u001f\u007f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g, (sign) => {
        const code = sign.charCodeAt(0)
        if (code < 32) return String.fromCharCode(0x2400 + code)
        return code === 127 ? "\u2421" : "\ufffd"
    })

/// Formats a relative path for display.
export const pathText = (path) => visible(path.split("/").filter(Boolean).map(decode).join(" / "))
