// Paths of resources. Names are bytes on the server, so that a percent-encoded path is what a resource is known by,
// and its text only what is shown.

const lenient = new TextDecoder()

/// One segment of a path, spelled as the server does: all but letters, digits and `-._~` is encoded.
export const segment = (text) =>
    encodeURIComponent(text.toWellFormed?.() ?? text)
        .replace(/[!'()*]/g, (sign) => "%" + sign.charCodeAt(0).toString(16).toUpperCase())

/// The segment that a path ends in, encoded, without slashes; empty for the top.
export const lastSegment = (href) => {
    const end = href.endsWith("/") ? href.length - 1 : href.length
    return href.slice(href.lastIndexOf("/", end - 1) + 1, end)
}

/// The text of a segment. What is no UTF-8 becomes replacement characters.
export const decode = (encoded) => {
    if (!encoded.includes("%")) return encoded
    try {
        return decodeURIComponent(encoded)
    } catch {
        return lenient.decode(bytesOf(encoded))
    }
}

/// The name of a resource, as it is typed; empty for the top.
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

/// The folder above, with a slash at its end.
export const parentOf = (href) => {
    const end = href.endsWith("/") ? href.length - 1 : href.length
    return href.slice(0, href.lastIndexOf("/", end - 1) + 1)
}

/// The path of a member with the name `text`.
export const member = (folderHref, text, isFolder = false) => folderHref + segment(text) + (isFolder ? "/" : "")

/// Whether `href` is the folder, or below it, for the browser that resolves it: `//host/` is another server, and `..` leads up.
export const isWithin = (href, folderHref) => {
    let url
    try {
        url = new URL(href, location.origin)
    } catch {
        return false
    }
    const withSlash = (path) => (path.endsWith("/") ? path : `${path}/`)
    return url.origin === location.origin && withSlash(canonical(url.pathname)).startsWith(withSlash(folderHref))
}

/// The same path in the server's spelling, whatever wrote it: the browser leaves some signs as they are.
export const canonical = (path) =>
    path.split("/").map((part) =>
        part.replace(/%[0-9a-fA-F]{2}|[^A-Za-z0-9\-._~%]|%/gu, (sign) => {
            if (sign.length !== 3 || sign[0] !== "%") return segment(sign)
            const code = parseInt(sign.slice(1), 16)
            const letter = String.fromCharCode(code)
            return /[A-Za-z0-9\-._~]/.test(letter) ? letter : sign.toUpperCase()
        })).join("/")

/// A name for people: what would turn or hide the text around it is made visible.
export const visible = (name) =>
    name.replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (sign) => {
        const code = sign.charCodeAt(0)
        if (code < 32) return String.fromCharCode(0x2400 + code)
        return code === 127 ? "\u2421" : "\ufffd"
    })

/// A path below a folder, for people.
export const pathText = (path) => visible(path.split("/").filter(Boolean).map(decode).join(" / "))
