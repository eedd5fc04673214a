// Sends requests with upload progress, which fetch does not provide, and waits for an unreachable server.

import { DavError, refusal, renewing } from "../dav.js"
import { page } from "../page.js"

export const isWrongDigest = (problem) => problem.status === 400 && problem.condition === "digest-mismatch"

// Timeouts in ms: to wait for one of the browser's few connections; without progress; and for the response after the last byte,
// while the server compares a digest and waits for its disk.
const startMilliseconds = 120_000
const stallMilliseconds = 30_000
const answerMilliseconds = 300_000
// Timeout without progress after the browser goes offline or online. Requests to a server in the local network may still make
// progress.
const offlineMilliseconds = 5_000

const running = new Set()
for (const name of ["offline", "online"]) {
    globalThis.addEventListener?.(name, () => { for (const watch of running) watch(offlineMilliseconds) })
}

/// Sends a request; after the end of a session, again once the user has signed in.
export const send = (method, url, options) => renewing(() => sendOnce(method, url, options))

function sendOnce(method, url, { fields = {}, body, onProgress, signal } = {}) {
    return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const request = new XMLHttpRequest()
        let timer
        const watch = (milliseconds) => {
            clearTimeout(timer)
            timer = setTimeout(() => request.abort(), milliseconds)
        }
        const abort = () => request.abort()
        const end = () => {
            clearTimeout(timer)
            running.delete(watch)
            signal?.removeEventListener("abort", abort)
        }
        request.open(method, url)
        for (const [name, value] of Object.entries(fields)) {
            if (value !== undefined) request.setRequestHeader(name, value)
        }
        request.upload.onprogress = (event) => {
            watch(stallMilliseconds)
            onProgress?.(event.loaded)
        }
        request.upload.onload = () => watch(answerMilliseconds)
        request.onload = () => {
            end()
            const { status } = request
            const field = (name) => request.getResponseHeader(name)
            if (status >= 200 && status <= 299) resolve({ status, field })
            else reject(refusal(url, status, { get: field }, request.responseText))
        }
        request.onerror = () => {
            end()
            reject(new DavError(0, { href: url }))
        }
        request.onabort = () => {
            end()
            reject(signal?.aborted ? signal.reason : new DavError(0, { href: url }))
        }
        signal?.addEventListener("abort", abort)
        running.add(watch)
        watch(body?.size > 0 ? startMilliseconds : answerMilliseconds)
        request.send(body ?? null)
    })
}

// Header fields of all uploads

/// Returns the precondition field: the resource must not exist, or must be the version that was displayed.
export const conditionFields = (upload) => (upload.etag ? { "If-Match": upload.etag } : { "If-None-Match": "*" })

/// Returns the modification time in whole seconds, for the field X-OC-Mtime.
export const timeField = (upload) => String(Math.floor(upload.modified / 1000))

// Reconnection: all interrupted uploads wait for the same probe

const firstMilliseconds = 500
const maxMilliseconds = 20_000

let waiting
let wake

globalThis.addEventListener?.("online", () => wake?.())

async function isThere() {
    try {
        const answer = await fetch(page.root, {
            method: "OPTIONS", cache: "no-store", signal: AbortSignal.timeout(10_000),
        })
        // These statuses come from a proxy whose server is down, or from a server that is not ready.
        return ![502, 503, 504].includes(answer.status)
    } catch {
        return false
    }
}

async function probe() {
    for (let delay = firstMilliseconds; ; delay = Math.min(delay * 2, maxMilliseconds)) {
        // Add jitter, so that not all clients reconnect at the same moment.
        const milliseconds = delay * (0.75 + Math.random() / 2)
        await new Promise((resolve) => {
            wake = resolve
            setTimeout(resolve, milliseconds)
        })
        wake = undefined
        if (await isThere()) break
    }
    waiting = undefined
}

// Waits until the given number of seconds has passed and the server responds; rejects when the signal is aborted.
export function restored(signal, seconds = 0) {
    waiting ??= probe()
    const both = Promise.all([waiting, new Promise((resolve) => { setTimeout(resolve, seconds * 1000) })])
    return new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason)
        if (signal.aborted) return abort()
        signal.addEventListener("abort", abort, { once: true })
        both.then(() => {
            signal.removeEventListener("abort", abort)
            resolve()
        })
    })
}
