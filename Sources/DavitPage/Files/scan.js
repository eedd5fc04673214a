// Streaming parser for multistatus responses (RFC 4918 §14.16). It handles only the elements that listings request, keeps one
// `response` element in memory at a time and builds no tree, because a folder can have 100,000 members.

const named = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }
const text = (raw) =>
    raw.includes("&")
        ? raw.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (all, hex, decimal, name) =>
            hex ? String.fromCodePoint(parseInt(hex, 16)) : decimal ? String.fromCodePoint(+decimal) : named[name] ?? all)
        : raw

const months = { Jan: 0, Feb: 1, Mar: 2, Apr: 3, May: 4, Jun: 5, Jul: 6, Aug: 7, Sep: 8, Oct: 9, Nov: 10, Dec: 11 }

/// Parses an HTTP-date (RFC 9110 §5.6.7) into ms. Date.parse takes ten times as long.
const httpDate = (value) => {
    if (value.length !== 29 || !(value.slice(8, 11) in months)) return Date.parse(value)
    return Date.UTC(+value.slice(12, 16), months[value.slice(8, 11)], +value.slice(5, 7), +value.slice(17, 19),
        +value.slice(20, 22), +value.slice(23, 25))
}

// Fast path: nearly all responses of a listing have the same form and match one expression; others are parsed tag by tag.
const opened = (name) => `<(?:\\w+:)?${name}>`
const closed = (name) => `</(?:\\w+:)?${name}>`
const leaf = (name) => opened(name) + "([^<&]*)" + closed(name)
const usual = new RegExp(opened("response") + leaf("href") + opened("propstat") + opened("prop")
    + opened("resourcetype") + `(?:${opened("collection/")})?` + closed("resourcetype")
    + `(?:${leaf("getcontentlength")})?(?:${leaf("getlastmodified")})?(?:${leaf("getetag")})?`
    + opened("lockdiscovery/") + opened('lock-details xmlns:\\w+="[^"<]*"') + closed("lock-details")
    + `(?:<(?:\\w+:)?rights xmlns:\\w+="[^"<]*">(\\d+)${closed("rights")})?`
    + closed("prop") + opened("status") + "HTTP/1.1 200 OK" + closed("status") + closed("propstat") + closed("response"), "y")

/// Calls `take` for each response: {href, status (of the response as a whole, or 0), size, modified, etag, locks, rights,
/// quota: {used, available}}.
export class MultistatusScanner {
    #take
    #rest = ""
    #path = []
    #found
    #lock
    /// The current element of the `lock-details` property (docs/locks.md): {token, principal, created}.
    #detail
    /// Text since the last tag.
    #text = ""
    /// Properties of the current propstat; discarded if its status is not successful.
    #values

    constructor(take) { this.#take = take }

    /// Parses the next chunk of the document, which may end inside a tag.
    add(piece) {
        const all = this.#rest + piece
        let at = 0
        for (;;) {
            const open = all.indexOf("<", at)
            if (open < 0) {
                // The chunk may end inside an entity reference.
                const whole = all.lastIndexOf("&") < at ? all.length : all.lastIndexOf("&")
                this.#text += text(all.slice(at, whole))
                this.#rest = all.slice(whole)
                return
            }
            if (this.#path.length === 1 && this.#takeUsual(all, open)) {
                at = usual.lastIndex
                continue
            }
            const close = tagEnd(all, open)
            if (close < 0) {
                this.#text += text(all.slice(at, open))
                this.#rest = all.slice(open)
                return
            }
            if (open > at) this.#text += text(all.slice(at, open))
            this.#tag(all, open, close)
            at = close
        }
    }

    /// Throws a SyntaxError if the document is incomplete.
    finish() {
        if (this.#path.length > 0 || !this.#hasBegun) throw new SyntaxError("Unexpected end of the response")
    }
    #hasBegun = false

    #takeUsual(all, open) {
        usual.lastIndex = open
        const found = usual.exec(all)
        if (!found) return false
        const [, href, size = NaN, modified, etag = "", rights] = found
        this.#take({
            href: href.trim(), status: 0, size: Number(size), modified: modified === undefined ? NaN : httpDate(modified), etag,
            locks: undefined, rights: rights === undefined ? undefined : Number(rights), quota: {},
        })
        return true
    }

    #tag(all, open, close) {
        const second = all.charCodeAt(open + 1)
        if (second === 0x21) {
            if (all.startsWith("<![CDATA[", open)) this.#text += all.slice(open + 9, close - 3)
            return
        }
        if (second === 0x3f) return
        if (second === 0x2f) {
            this.#end(this.#path.pop() ?? "")
            return
        }
        this.#hasBegun = true
        const isEmpty = all.charCodeAt(close - 2) === 0x2f
        let end = open + 1
        let start = end
        for (; end < close - 1; end++) {
            const code = all.charCodeAt(end)
            if (code === 0x3a) start = end + 1
            else if (code === 0x2f || code <= 0x20) break
        }
        const name = all.slice(start, end)
        this.#begin(name)
        if (isEmpty) this.#end(name)
        else this.#path.push(name)
    }

    #begin(name) {
        this.#text = ""
        if (name === "response") {
            this.#found = { href: "", status: 0, size: NaN, modified: NaN, etag: "", locks: undefined, quota: {} }
            this.#values = {}
        } else if (name === "propstat") {
            this.#values = {}
        } else if (name === "activelock") {
            this.#lock = { token: "", owner: "", principal: "", created: NaN, until: NaN, isExclusive: true }
        } else if (name === "lock" && this.#path.at(-1) === "lock-details") {
            this.#detail = { token: "", principal: "", created: NaN }
        }
    }

    #end(name) {
        const value = this.#text
        if (!this.#found) return
        const parent = this.#path.at(-1)
        if (this.#lock) {
            this.#endInLock(name, parent, value)
        } else if (this.#detail) {
            this.#endInDetail(name, parent, value.trim())
        } else {
            switch (name) {
            case "href":
                if (parent === "response") this.#found.href ||= value.trim()
                break
            case "getcontentlength": this.#values.size = Number(value); break
            case "getlastmodified": this.#values.modified = httpDate(value); break
            case "getetag": this.#values.etag = value; break
            case "rights": this.#values.rights = Number(value); break
            case "quota-used-bytes": this.#values.used = Number(value); break
            case "quota-available-bytes": this.#values.available = Number(value); break
            case "status": {
                const status = Number(value.split(" ")[1])
                if (parent === "response") this.#found.status = status
                else this.#values.status = status
                break
            }
            case "propstat": this.#endProperties(); break
            case "response":
                this.#take(this.#found)
                this.#found = undefined
                break
            }
        }
        this.#text = ""
    }

    #endProperties() {
        const { status = 200, used, available, details = [], ...values } = this.#values
        if (status < 200 || status > 299) return
        for (const { token, principal, created } of details) {
            const lock = values.locks?.find((one) => one.token === token)
            if (lock) Object.assign(lock, { principal, created })
        }
        Object.assign(this.#found, values)
        if (used !== undefined) this.#found.quota.used = used
        if (available !== undefined) this.#found.quota.available = available
    }

    #endInLock(name, parent, value) {
        const lock = this.#lock
        const trimmed = value.trim()
        switch (name) {
        case "activelock":
            (this.#values.locks ??= []).push(lock)
            this.#lock = undefined
            break
        case "shared": if (parent === "lockscope") lock.isExclusive = false; break
        case "href":
            if (parent === "locktoken") lock.token = trimmed
            else if (parent !== "lockroot") lock.owner = trimmed
            break
        case "owner": if (trimmed) lock.owner = trimmed; break
        case "timeout":
            if (trimmed.startsWith("Second-")) lock.until = Date.now() + Number(trimmed.slice(7)) * 1000
            break
        }
    }

    #endInDetail(name, parent, value) {
        const detail = this.#detail
        if (name === "href" && parent === "locktoken") {
            detail.token = value
        } else if (name === "principal") {
            detail.principal = value
        } else if (name === "created") {
            detail.created = Date.parse(value)
        } else if (name === "lock") {
            (this.#values.details ??= []).push(detail)
            this.#detail = undefined
        }
    }
}

/// Returns the index after the `>` of the tag at `open`, or -1 if it has not arrived. Attribute values may contain `>`.
const tagEnd = (all, open) => {
    if (all.startsWith("<!--", open)) return behind(all, "-->", open + 4)
    if (all.startsWith("<![CDATA[", open)) return behind(all, "]]>", open + 9)
    // The incomplete markup may still become a comment or a CDATA section.
    if (all.charCodeAt(open + 1) === 0x21 && all.length - open < 9) return -1
    let close = all.indexOf(">", open)
    if (close < 0) return -1
    let quote = firstQuote(all, open, close)
    while (quote >= 0) {
        const end = all.indexOf(all[quote], quote + 1)
        if (end < 0) return -1
        close = all.indexOf(">", end)
        if (close < 0) return -1
        quote = firstQuote(all, end + 1, close)
    }
    return close + 1
}
const behind = (all, mark, from) => {
    const at = all.indexOf(mark, from)
    return at < 0 ? -1 : at + mark.length
}
const firstQuote = (all, from, to) => {
    for (let at = from; at < to; at++) {
        const code = all.charCodeAt(at)
        if (code === 0x22 || code === 0x27) return at
    }
    return -1
}

/// Parses a response body.
export const scan = async (body, take) => {
    const scanner = new MultistatusScanner(take)
    const decoder = new TextDecoder()
    const reader = body.getReader()
    for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        scanner.add(decoder.decode(value, { stream: true }))
    }
    scanner.add(decoder.decode())
    scanner.finish()
}
