// Computes digests of blobs in workers.

import { adlerBytes } from "./adler32.js"

const workers = []
const tasks = new Map()
let lastId = 0

function start() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" })
    const own = { worker, load: 0 }
    worker.onmessage = ({ data }) => {
        own.load -= 1
        const task = tasks.get(data.id)
        tasks.delete(data.id)
        if (data.problem === undefined) task.resolve(data)
        else task.reject(new FileUnreadable(data.problem))
    }
    worker.onerror = (event) => {
        // The worker failed to start: its tasks would never complete.
        event.preventDefault()
        workers.splice(workers.indexOf(own), 1)
        for (const [id, task] of tasks) {
            if (task.owner !== own) continue
            tasks.delete(id)
            task.resolve(undefined)
        }
    }
    workers.push(own)
    return own
}

/// The error for a file that was deleted or changed, or that can no longer be read.
export class FileUnreadable extends Error {
    name = "FileUnreadable"
}

/// Computes {sha256, adler} of a blob; undefined if the browser cannot start a worker. Uploads are then sent without
/// digests.
export const digests = (blob) => ask({ blob })

/// Computes only `adler`, which is much faster.
export const checksum = (blob) => ask({ blob, isBrief: true })

function ask(task) {
    const most = Math.max(1, Math.min(3, (navigator.hardwareConcurrency || 2) - 1))
    let owner = workers.find((one) => one.load === 0)
    owner ??= workers.length < most ? start() : workers.reduce((a, b) => (b.load < a.load ? b : a))
    owner.load += 1
    const id = lastId += 1
    return new Promise((resolve, reject) => {
        tasks.set(id, { resolve, reject, owner })
        owner.worker.postMessage({ id, ...task })
    })
}

const field = (algorithm, bytes) => `${algorithm}=:${btoa(String.fromCharCode(...bytes))}:`

/// Digest fields (RFC 9530): the digest of one request; the digest of the whole content, sent at the end; and the request for
/// its algorithm, sent at the start.
export const partField = ({ sha256 }) => field("sha-256", sha256)
export const wholeField = (adler) => field("adler", adlerBytes(adler))
export const wantedDigest = "adler=1"
