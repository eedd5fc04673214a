// Uploads one file; handles lost connections, restarted servers and corrupted data.

import { DavError, propfind } from "../dav.js"
import { announce } from "../messages.js"
import { t } from "../strings.js"
import { combined, nothing } from "./adler32.js"
import { FileUnreadable, checksum, digests, partField, wholeField, wantedDigest } from "./digests.js"
import { conditionFields, isWrongDigest, restored, send, timeField } from "./send.js"

/// Files larger than this are sent in parts, so that an interrupted upload can be resumed.
export const resumableBytes = 8 << 20

// Maximum attempts without progress while the server is reachable.
const maxAttempts = 5
// Minimum part size, for proxies that limit request bodies.
const smallestPartBytes = 512 << 10

// Statuses after which a retry may succeed; 0 means no response.
const passing = new Set([0, 408, 425, 429, 502, 503, 504])
const isPassing = (problem) => problem instanceof DavError && (passing.has(problem.status) || isWrongDigest(problem))

/// Resolves when the file has been uploaded. `context` is {signal, verifies, canResume, changed(), save()}; progress is in
/// upload.loaded and .note.
export async function transfer(upload, context) {
    for (let attempts = 0; ;) {
        const before = upload.loaded
        upload.note = undefined
        try {
            if (context.canResume && (upload.isInParts || upload.size > resumableBytes)) await resumable(upload, context)
            else await whole(upload, context)
            return
        } catch (caught) {
            let problem = caught
            if (context.signal.aborted) throw context.signal.reason
            if (needsParts(problem, upload, context)) {
                upload.isInParts = true
                continue
            }
            try {
                if (problem.status === 412 && await isThere(upload)) return
            } catch (unknown) {
                problem = unknown
            }
            if (!isPassing(problem) || (upload.wasRestarted && isWrongDigest(problem))) throw problem
            if (problem.status === 0) await mustBeReadable(upload.file)
            attempts = upload.loaded > before ? 1 : attempts + 1
            if (attempts > maxAttempts) throw problem
            // The data may have arrived although the response was lost.
            upload.mayBeThere = true
            upload.note = "upload.waitsForServer"
            context.changed()
            await restored(context.signal, problem.retryAfter)
        }
    }
}

// Browsers report the same error for a changed file as for a lost connection.
async function mustBeReadable(file) {
    try {
        await file.slice(0, 1).arrayBuffer()
    } catch (problem) {
        throw new FileUnreadable(problem.message)
    }
}

const needsParts = (problem, upload, context) => problem.status === 413
    && context.canResume && !upload.isInParts && upload.size > smallestPartBytes && upload.size <= resumableBytes

async function whole(upload, context) {
    upload.loaded = 0
    const fields = { ...conditionFields(upload), "X-OC-Mtime": timeField(upload) }
    const digest = context.verifies ? await digests(upload.file) : undefined
    if (digest) fields["Content-Digest"] = partField(digest)
    if (context.signal.aborted) throw context.signal.reason
    await send("PUT", upload.href, {
        fields, body: upload.file, signal: context.signal,
        onProgress: (loaded) => {
            upload.loaded = Math.min(loaded, upload.size)
            context.changed()
        },
    })
    upload.loaded = upload.size
}

/// Whether `found` is the uploaded file, and not the version that it replaces, which may have the same size and time.
export const isSame = ({ etag, size, modified }, found) => found?.size === size && found.etag !== etag
    && Math.floor(found.modified / 1000) === Math.floor(modified / 1000)

// Whether the upload succeeded although the response was lost. Throws if the server cannot be reached.
async function isThere(upload) {
    if (!upload.mayBeThere) return false
    try {
        return isSame(upload, (await propfind(upload.href, { depth: 0 })).entries[0])
    } catch (problem) {
        if (isPassing(problem)) throw problem
        return false
    }
}

// Uploads in parts ("Resumable Uploads for HTTP"): the server reports its offset and keeps the received bytes

// A part takes about a second: little is lost if the connection breaks, and few requests are needed.
const minPartBytes = 4 << 20
const maxPartBytes = 64 << 20
const firstPartBytes = 8 << 20
// Without a digest, the server keeps the received bytes of an interrupted part, so a long part loses nothing.
const maxUnverifiedBytes = 1 << 30
const maxRepairs = 3

const isGone = (problem) => problem.status === 404 || problem.status === 410

async function resumable(upload, context) {
    const parts = new Parts(upload, context)
    let repairs = 0
    let beginnings = 0
    let last
    for (;;) {
        if (upload.url && upload.isUnsure) await locate(upload, context)
        if (upload.isComplete) return
        if (!upload.url) {
            if (await isThere(upload)) return
            if (last && isWrongDigest(last)) startOver(upload, last)
            if ((beginnings += 1) > maxRepairs) throw last
            await create(upload, context)
        }
        try {
            if (await parts.send()) return
            repairs = 0
        } catch (problem) {
            upload.isUnsure = true
            if (context.signal.aborted || !(problem instanceof DavError)) throw problem
            last = problem
            if (isWrongDigest(problem)) {
                // The server discarded the part; send it again.
                if ((repairs += 1) > maxRepairs) {
                    await discard(upload.url)
                    begin(upload)
                }
            } else if (isGone(problem)) {
                begin(upload)
            } else if (problem.status === 413 && parts.shrink()) {
                // A proxy has a lower limit than the server.
            } else if (problem.status !== 409 || (repairs += 1) > maxRepairs) {
                throw problem
            }
        }
    }
}

// The complete file was corrupted: report the problem and retry.
function startOver(upload, problem) {
    if (upload.wasRestarted) throw problem
    upload.wasRestarted = true
    announce(`${upload.name}: ${t("upload.startedOver")}`)
}

/// Deletes the partial upload on the server. If the request fails, the upload expires there.
export const discard = (url) => send("DELETE", url).catch(() => {})

// Resets the progress, so that the upload starts again on the server.
const begin = (upload) => Object.assign(upload, { url: undefined, offset: 0, loaded: 0, isUnsure: false, isComplete: false })

/// Replaces properties of an upload, such as its file or name, and discards its progress.
export function reset(upload, values) {
    if (upload.url) discard(upload.url)
    Object.assign(begin(upload), { mayBeThere: false, ...values })
}

async function create(upload, context) {
    const answer = await send("PUT", upload.href, {
        fields: {
            ...conditionFields(upload), "X-OC-Mtime": timeField(upload), "Upload-Complete": "?0",
            "Upload-Length": String(upload.size), "Want-Repr-Digest": context.verifies ? wantedDigest : undefined,
        },
        signal: context.signal,
    })
    const location = answer.field("Location")
    // Without Location, the server has created an empty file and does not support resuming.
    if (!location) throw new DavError(501, { href: upload.href })
    upload.url = new URL(location, new URL(upload.href, document.baseURI)).pathname
    upload.offset = Number(answer.field("Upload-Offset")) || 0
    upload.isUnsure = false
    context.save()
}

async function locate(upload, context) {
    let answer
    try {
        answer = await send("HEAD", upload.url, { signal: context.signal })
    } catch (problem) {
        if (isGone(problem)) return begin(upload)
        throw problem
    }
    const offset = Number(answer.field("Upload-Offset"))
    upload.isComplete = answer.field("Upload-Complete") === "?1"
    if (upload.isComplete) return
    if (!Number.isSafeInteger(offset) || offset > upload.size) return begin(upload)
    upload.offset = offset
    upload.loaded = offset
    upload.isUnsure = false
    context.changed()
}

// Number of parts prepared while one is being sent.
const maxAhead = 2

// The parts of one file; digests are computed while earlier parts are being sent.
class Parts {
    #upload
    #context
    #ahead = []
    #partBytes
    #maxBytes

    constructor(upload, context) {
        this.#upload = upload
        this.#context = context
        this.#maxBytes = context.verifies ? maxPartBytes : maxUnverifiedBytes
        this.#partBytes = context.verifies ? firstPartBytes : maxUnverifiedBytes
    }

    // Sends the next part. Returns true if it was the last.
    async send() {
        const upload = this.#upload, context = this.#context
        const from = upload.offset
        if (this.#ahead[0]?.from !== from) this.#ahead = [this.#prepare(from)]
        const part = this.#ahead.shift()
        const own = await part.digests
        const before = own && await this.#before(from)
        const adler = before && combined(before, own.adler)
        if (context.signal.aborted) throw context.signal.reason
        upload.note = undefined
        const end = from + part.blob.size
        const isLast = end === upload.size
        this.#prepareAhead(end)
        const began = performance.now()
        await send("PATCH", upload.url, {
            fields: {
                "Content-Type": "application/partial-upload", "Upload-Offset": String(from),
                "Upload-Complete": isLast ? "?1" : "?0",
                "Content-Digest": own && partField(own),
                "Repr-Digest": isLast && adler ? wholeField(adler) : undefined,
            },
            body: part.blob, signal: context.signal,
            onProgress: (loaded) => {
                upload.loaded = Math.min(from + loaded, end)
                context.changed()
            },
        })
        this.#adapt(part.blob.size, performance.now() - began)
        upload.offset = end
        upload.loaded = end
        upload.adler = adler
        if (!isLast) context.save()
        return isLast
    }

    // Reduces the part size. Returns false if it is already at the minimum.
    shrink() {
        const bytes = Math.floor(Math.min(this.#partBytes, this.#maxBytes, firstPartBytes * 4) / 4)
        if (bytes < smallestPartBytes) return false
        this.#partBytes = this.#maxBytes = bytes
        return true
    }

    #adapt(bytes, milliseconds) {
        if (!this.#context.verifies) return
        const aSecond = bytes / Math.max(milliseconds, 1) * 1000
        const wanted = Math.min(Math.max(aSecond, minPartBytes), maxPartBytes, this.#partBytes * 2)
        this.#partBytes = Math.min(Math.round(wanted / (1 << 20)) << 20, this.#maxBytes)
    }

    #prepareAhead(from) {
        while (this.#ahead.length < maxAhead) {
            const last = this.#ahead.at(-1)
            const next = last ? last.from + last.blob.size : from
            if (next === this.#upload.size) return
            this.#ahead.push(this.#prepare(next))
        }
    }

    #prepare(from) {
        const blob = this.#upload.file.slice(from, from + Math.min(this.#partBytes, this.#maxBytes))
        const pending = this.#context.verifies ? digests(blob) : Promise.resolve()
        // The error is reported when the part is awaited.
        pending.catch(() => {})
        return { from, blob, digests: pending }
    }

    // Returns the checksum of everything before a part; reads the bytes that are not yet included in the known checksum.
    async #before(from) {
        const { file, adler } = this.#upload
        const known = adler?.length <= from ? adler : nothing
        if (known.length === from) return known
        const rest = await checksum(file.slice(known.length, from))
        return rest && combined(known, rest.adler)
    }
}
