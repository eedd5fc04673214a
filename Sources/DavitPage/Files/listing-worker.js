// Reads listings in a worker, so that the page stays responsive while a long one arrives. Messages are packed: numbers in
// transferred arrays, strings joined by line breaks, which neither paths nor entity tags contain.

import { scan } from "./scan.js"
import { decode, lastSegment } from "./href.js"

const running = new Map()
const batchLimit = 4096

onmessage = async ({ data }) => {
    if (data.cancel) {
        running.get(data.id)?.abort()
        return
    }
    const controller = new AbortController()
    running.set(data.id, controller)
    try {
        await read(data, controller.signal)
    } catch (problem) {
        postMessage({ id: data.id, failed: problem.name === "AbortError" ? "abort" : problem.name === "SyntaxError" ? "cut" : "network" })
    }
    running.delete(data.id)
}

const read = async ({ id, href, method, headers, body, locale, firstLimit }, signal) => {
    const response = await fetch(href, { method, headers, body, signal })
    if (response.status !== 207) {
        postMessage({ id, refused: response.status, fields: [...response.headers], text: (await response.text()).slice(0, 4096) })
        return
    }
    let batch = []
    let limit = firstLimit ?? batchLimit
    const names = []
    const others = []
    const send = () => {
        const sizes = new Float64Array(batch.length)
        const times = new Float64Array(batch.length)
        const locks = []
        batch.forEach((found, index) => {
            sizes[index] = found.size
            times[index] = found.modified
            if (found.locks) locks.push([index, found.locks])
        })
        const rights = batch.some((found) => found.rights !== undefined) ? batch.map((found) => found.rights) : undefined
        const message = {
            id, sizes, times, locks, rights,
            hrefs: batch.map((found) => found.href).join("\n"), etags: batch.map((found) => found.etag).join("\n"),
        }
        postMessage(message, [sizes.buffer, times.buffer])
        batch = []
        limit = batchLimit
    }
    await scan(response.body, (found) => {
        if (found.status >= 300) {
            others.push({ href: found.href, status: found.status })
            return
        }
        if (found.quota.used !== undefined || found.quota.available !== undefined) postMessage({ id, quota: found.quota })
        names.push(decode(lastSegment(found.href)))
        batch.push(found)
        if (batch.length >= limit) send()
    })
    if (batch.length > 0) send()
    postMessage({ id, done: true, ranks: ranks(names, locale), others })
}

/// Returns the rank of each name. Collators are slow, so the names are first sorted by a key that approximates their order.
const ranks = (names, locale) => {
    const collator = new Intl.Collator(locale, { numeric: true })
    const keys = names.map((name) => name.toLowerCase().replace(/\d+/g, (digits) => String.fromCharCode(48 + digits.length) + digits))
    const found = new Uint32Array(names.length)
    const order = Array.from(keys.keys())
    order.sort((a, b) => (keys[a] < keys[b] ? -1 : 1))
        .sort((a, b) => collator.compare(names[a], names[b]) || (names[a] < names[b] ? -1 : 1))
        .forEach((index, rank) => { found[index] = rank })
    return found
}
