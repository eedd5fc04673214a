// The page's WebDAV client. All requests use fetch. All failures are DavErrors, except cancelled requests.

import { Entry } from "./entry.js"
import { locale, page } from "./page.js"
import { hasRights, inherited } from "./rights.js"
import { MultistatusScanner } from "./scan.js"

/// A failed request. `status` is 0 if there was no complete response; `condition` is the element of RFC 4918 §16, the last
/// component of a problem type (RFC 9457), or, for a listing, "cut" if it is incomplete and "network" if it failed; `retryAfter`
/// is in seconds; `needsSignIn` is true if the session has ended; `failures` lists members that were refused: {href, status}.
export class DavError extends Error {
    constructor(status, { href, condition = "", retryAfter, needsSignIn = false, failures = [] } = {}) {
        super(`${status} ${condition} ${href}`)
        this.name = "DavError"
        Object.assign(this, { status, href, condition, retryAfter, needsSignIn, failures })
    }
}

// Asks the user to sign in again; resolves with whether the user has.
let askToSignIn = async () => false
/// Sets the function that asks the user to sign in again after a session has ended.
export const onSessionEnd = (ask) => { askToSignIn = ask }

let renewal
/// Calls `send`. If the session has ended, asks the user to sign in again, once for all requests, and repeats the call.
export const renewing = async (send) => {
    try {
        return await send()
    } catch (error) {
        if (!error?.needsSignIn) throw error
        renewal ??= askToSignIn().finally(() => { renewal = undefined })
        if (!await renewal) throw error
        return send()
    }
}

/// Like fetch, but throws a DavError for unsuccessful responses, with its `retryAfter` and `condition` set.
export const request = (method, href, options) => renewing(() => requestOnce(method, href, options))

const requestOnce = async (method, href, { headers = {}, body } = {}) => {
    let response
    try {
        response = await fetch(href, { method, headers, body })
    } catch {
        throw new DavError(0, { href })
    }
    if (response.status === 207 && method !== "REPORT") {
        const failures = []
        const scanner = new MultistatusScanner(({ href, status }) => { if (status >= 400) failures.push({ href, status }) })
        scanner.add(await response.text())
        if (failures.length > 0) throw new DavError(failures[0].status, { href: failures[0].href, failures })
        return response
    }
    if (response.ok) return response
    throw await refusal(href, response.status, response.headers, await response.text().catch(() => ""))
}

/// Creates the error for an unsuccessful response. `headers` is any object with a method `get`.
export const refusal = (href, status, headers, text) => {
    const after = headers.get("Retry-After")
    const retryAfter = !after ? undefined : /^\d+$/.test(after) ? Number(after) : Math.max(0, (Date.parse(after) - Date.now()) / 1000)
    let condition = ""
    if ((headers.get("Content-Type") ?? "").includes("json")) {
        try {
            condition = String(JSON.parse(text).type ?? "").split(/[/#:]/).pop()
        } catch { /* The status is sufficient. */ }
    } else {
        condition = /<(?:[\w.-]+:)?error\b[^>]*>\s*<(?:[\w.-]+:)?([\w.-]+)/.exec(text)?.[1] ?? ""
    }
    if (status === 403) whenForbidden?.()
    // The server uses this scheme only if it has a form (docs/decisions/signing-in.md). A visitor who has not signed in has no
    // session that could end.
    const needsSignIn = status === 401 && Boolean(page.user) && /^Cookie\b/.test(headers.get("WWW-Authenticate") ?? "")
    return new DavError(status, { href, condition, retryAfter, needsSignIn })
}

let whenForbidden
/// Sets the function that is called when the server refuses a request because of the user's rights.
export const onForbidden = (run) => { whenForbidden = run }

const xml = { "Content-Type": "application/xml; charset=utf-8" }
const listed = "<resourcetype/><getcontentlength/><getlastmodified/><getetag/><lockdiscovery/>"
    // The owner of each lock and its creation time (docs/locks.md).
    + '<lock-details xmlns="urn:davit:property"/>'
    + (hasRights ? '<rights xmlns="urn:davit:property"/>' : "")
const quotas = "<quota-used-bytes/><quota-available-bytes/>"

// A single worker reads all listings; it is started on first use.
let worker
let latest = 0
const readers = new Map()
const startWorker = () => {
    worker = new Worker(new URL("listing-worker.js", import.meta.url), { type: "module" })
    worker.onmessage = ({ data }) => readers.get(data.id)?.(data)
    worker.onerror = () => {
        for (const [id, take] of readers) take({ id, failed: "network" })
        worker = undefined
    }
}

/// Sends a request that is answered with a multistatus. Calls `onEntries` with entries as they arrive.
const readEntries = (method, href, options) => renewing(() => readEntriesOnce(method, href, options))

const readEntriesOnce = (method, href, { headers, body, signal, onEntries, firstLimit }) =>
    new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        if (!worker) startWorker()
        const id = ++latest
        const all = []
        let quota
        const cancel = () => worker?.postMessage({ id, cancel: true })
        const end = (settle, value) => {
            readers.delete(id)
            signal?.removeEventListener("abort", cancel)
            settle(value)
        }
        readers.set(id, (data) => {
            if (data.hrefs !== undefined) {
                const entries = unpack(data)
                for (const entry of entries) {
                    // Members of a folder have its rights unless others are specified.
                    entry.rights ??= inherited(all[0]?.rights)
                    all.push(entry)
                }
                onEntries?.(entries)
            } else if (data.quota) {
                quota = data.quota
            } else if (data.done) {
                data.ranks.forEach((rank, index) => { all[index].rank = rank })
                end(resolve, { entries: all, quota, others: data.others })
            } else if (data.refused !== undefined) {
                end(reject, refusal(href, data.refused, new Headers(data.fields), data.text))
            } else {
                end(reject, data.failed === "abort" ? new DOMException("", "AbortError")
                    : new DavError(0, { href, condition: data.failed }))
            }
        })
        signal?.addEventListener("abort", cancel)
        worker.postMessage({ id, href, method, headers, body, locale, firstLimit })
    })

const unpack = ({ hrefs, etags, sizes, times, locks, rights }) => {
    const etag = etags.split("\n")
    const entries = hrefs.split("\n").map((href, index) => new Entry(href, sizes[index], times[index], etag[index]))
    for (const [index, found] of locks) entries[index].locks = found
    rights?.forEach((found, index) => { entries[index].rights = found })
    return entries
}

/// Returns the resource at `href` and, with depth 1, its members: {entries, quota: {used, available} | undefined}. The first
/// entry is `href` itself. Calls `onEntries` with entries as they arrive; their `rank` by name is set after the last one.
export const propfind = (href, { depth = 1, signal, onEntries, quota = false } = {}) =>
    readEntries("PROPFIND", href, {
        headers: { ...xml, Depth: String(depth), Prefer: "return=minimal" },
        body: `<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>${listed}${quota ? quotas : ""}</prop></propfind>`,
        signal, onEntries,
    })

/// Returns the disk usage: {used, available} in bytes; either may be missing.
export const quota = async (href) => (await propfind(href, { depth: 0, quota: true })).quota ?? {}

/// Finds up to `limit` resources below `href` whose name contains `text`: {entries, isTruncated}.
export const search = async (href, { text, signal, onEntries, limit = 1000 }) => {
    const pattern = `%${text.replace(/[%_\\]/g, "\\$&")}%`
    const body = `<?xml version="1.0" encoding="utf-8"?><searchrequest xmlns="DAV:"><basicsearch><select><prop>${listed}</prop></select>`
        + `<from><scope><href>${escape(href)}</href><depth>infinity</depth></scope></from>`
        + `<where><like caseless="yes"><prop><displayname/></prop><literal>${escape(pattern)}</literal></like></where>`
        + `<limit><nresults>${limit}</nresults></limit></basicsearch></searchrequest>`
    const { entries, others } = await readEntries("SEARCH", href, { headers: xml, body, signal, onEntries, firstLimit: 20 })
    return { entries, isTruncated: others.some(({ status }) => status === 507) }
}

export const escape = (text) =>
    text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
        .replace(/[<>&"]/g, (sign) => ({ "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" })[sign])

/// Returns the conditional header fields of a change. `lock` is the token of a lock that the page holds.
const fields = ({ etag, ifNoneMatch, lock }) => ({
    ...(etag ? { "If-Match": etag } : {}),
    ...(ifNoneMatch ? { "If-None-Match": ifNoneMatch } : {}),
    ...(lock ? { If: `(<${lock}>)` } : {}),
})

export const mkcol = (href) => request("MKCOL", href)

/// Sends DELETE. Returns the ID of the trash entry; null if the resource was not moved to the trash.
export const remove = async (href, conditions) =>
    (await request("DELETE", href, { headers: fields(conditions) })).headers.get("Davit-Trash")

/// Sends MOVE without overwriting.
export const move = (from, to) =>
    request("MOVE", from, { headers: { Destination: new URL(to, location.href).href, Overwrite: "F" } })

/// Sends PUT. Returns the new entity tag if the server provides it.
export const put = async (href, body, conditions) =>
    (await request("PUT", href, { headers: fields(conditions), body })).headers.get("ETag")

/// Takes an exclusive write lock, or refreshes the lock with `token`. Returns the token. `timeout` is in seconds.
export const lock = async (href, { owner, timeout, token }) => {
    const Timeout = `Second-${timeout}`
    const response = await request("LOCK", href, token
        ? { headers: { Timeout, If: `(<${token}>)` } }
        : {
            headers: { ...xml, Timeout, Depth: "0" },
            body: `<?xml version="1.0" encoding="utf-8"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>`
                + `<locktype><write/></locktype><owner>${escape(owner)}</owner></lockinfo>`,
        })
    return token ?? response.headers.get("Lock-Token")?.replace(/^<|>$/g, "") ?? ""
}
export const unlock = (href, token) => request("UNLOCK", href, { headers: { "Lock-Token": `<${token}>` } })

/// Sends REPORT with infinite depth. Returns the response as a document.
export const report = async (href, body) => {
    const response = await request("REPORT", href, { headers: { ...xml, Depth: "infinity" }, body })
    return new DOMParser().parseFromString(await response.text(), "application/xml")
}

/// Sends POST ?action=NAME. `fields` is an object of strings.
export const action = (folderHref, name, fields) =>
    request("POST", `${folderHref}?action=${name}`, { headers: { Accept: "application/json" }, body: new URLSearchParams(fields) })
