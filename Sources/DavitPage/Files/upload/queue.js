// The upload queue of this page: scheduling and overall progress.

import { mkcol } from "../dav.js"
import { has } from "../page.js"
import { readSetting, writeSetting } from "../settings.js"
import { forget, save } from "./store.js"
import { discard, resumableBytes, transfer } from "./transfer.js"

// Browsers open at most six HTTP/1.1 connections to a server, and the page needs some itself.
const maxConcurrent = 4
const maxConcurrentLarge = 3
// Maximum number of completed uploads in the list, to limit memory.
const maxDone = 100

// Minimum interval in ms between `change` events.
const notifyMilliseconds = 80

const lasting = new Set([400, 403, 405, 409, 413, 414, 415, 422, 501])

const states = ["running", "failed", "locked", "missing", "paused", "waiting", "done"]

/// Events: "change" when the state has changed, at most once per `notifyMilliseconds`; "done" and "failed" with the upload as
/// detail.
export class Queue extends EventTarget {
    rate = new Rate()
    #byState = new Map(states.map((state) => [state, new Set()]))
    #controllers = new Map()
    #doneBytes = 0
    #done = 0
    // Numbers of files, without folders: found and uploaded.
    #filesFound = 0
    #filesDone = 0
    #isAnnounced = false

    /// Whether uploads are verified with digests.
    get verifies() { return readSetting("verifyUploads", ["yes", "no"]) === "yes" }
    set verifies(value) { writeSetting("verifyUploads", value ? "yes" : "no") }

    count(state) { return this.#byState.get(state).size }
    uploads(state) { return [...this.#byState.get(state)] }
    get isEmpty() { return states.every((state) => this.count(state) === 0) }
    /// Whether closing the page would interrupt uploads.
    get isBusy() { return this.count("running") + this.count("waiting") > 0 }

    /// All uploads, ordered by state.
    list() { return states.flatMap((state) => (state === "done" ? this.uploads(state).reverse() : this.uploads(state))) }

    /// {total, bytes, loaded} without failed uploads; the numbers of uploads {done, failed}; and `rate` in bytes per second.
    get totals() {
        let total = this.#done, bytes = this.#doneBytes, loaded = bytes
        for (const state of states) {
            if (state === "done" || state === "failed") continue
            for (const upload of this.#byState.get(state)) {
                total += 1
                bytes += upload.size
                loaded += upload.loaded
            }
        }
        return {
            total, done: this.#done, failed: this.count("failed"), bytes, loaded,
            // There is no rate while all running uploads wait for the server.
            rate: this.uploads("running").some(({ note }) => !note) ? this.rate.value : 0,
        }
    }

    find(test) {
        for (const state of states) for (const upload of this.#byState.get(state)) if (test(upload)) return upload
        return undefined
    }

    /// Numbers of files found and uploaded.
    get files() { return { found: this.#filesFound, done: this.#filesDone } }

    /// Adds uploads. `found` is the number of files found, including skipped ones.
    add(uploads, found = filesIn(uploads)) {
        if (this.totals.total === this.#done) this.clearDone()
        this.#filesFound += found
        for (const upload of uploads) {
            this.#byState.get(upload.state).add(upload)
            if (upload.state !== "failed") remember(upload)
        }
        this.changed()
        this.#pump()
    }

    pause(uploads) {
        for (const upload of uploads) {
            if (upload.state !== "waiting" && upload.state !== "running") continue
            this.#stop(upload)
            // The server may already have received the last byte.
            upload.mayBeThere = true
            this.#move(upload, "paused")
            remember(upload)
        }
        this.#pump()
    }

    /// Resumes uploads that are paused, have failed or are waiting for their files.
    resume(uploads) {
        for (const upload of uploads) {
            if (["running", "waiting", "done", "cancelled"].includes(upload.state)) continue
            if (upload.state === "failed") upload.wasRestarted = false
            upload.problem = undefined
            upload.isUnsure = upload.url !== undefined
            this.#move(upload, upload.file || upload.isFolder ? "waiting" : upload.handle ? "locked" : "missing")
            remember(upload)
        }
        this.#pump()
    }

    /// Marks an upload as waiting for the user to choose its file.
    park(upload) { this.#move(upload, "missing") }

    /// Cancels uploads. `isReplaced`: they are replaced by other uploads of the same files.
    cancel(uploads, { isReplaced = false } = {}) {
        if (isReplaced) this.#filesFound -= filesIn(uploads)
        for (const upload of uploads) {
            if (upload.state === "done" || upload.state === "cancelled") continue
            this.#stop(upload)
            this.#byState.get(upload.state).delete(upload)
            upload.state = "cancelled"
            forget(upload.id)
            if (upload.url) discard(upload.url)
        }
        this.changed()
        this.#pump()
    }

    /// Removes completed uploads from the totals; failed ones stay for a retry.
    clearDone() {
        this.#byState.get("done").clear()
        this.#doneBytes = this.#done = this.#filesDone = 0
        this.#filesFound = filesIn(states.flatMap((state) => this.uploads(state)))
        this.changed()
    }

    /// Schedules a `change` event.
    changed() {
        if (this.#isAnnounced) return
        this.#isAnnounced = true
        setTimeout(() => {
            this.#isAnnounced = false
            this.dispatchEvent(new Event("change"))
        }, notifyMilliseconds)
    }

    #move(upload, state) {
        this.#byState.get(upload.state)?.delete(upload)
        upload.state = state
        this.#byState.get(state).add(upload)
        this.changed()
    }

    #stop(upload) {
        this.#controllers.get(upload)?.abort()
        this.#controllers.delete(upload)
    }

    #pump() {
        let large = 0
        // Create folders before their members.
        let depth = Infinity
        for (const upload of this.#byState.get("running")) {
            if (upload.size > resumableBytes) large += 1
            if (upload.isFolder) depth = Math.min(depth, upload.path.length)
        }
        for (const upload of this.#byState.get("waiting")) {
            if (this.count("running") >= maxConcurrent) return
            const isLarge = upload.size > resumableBytes
            if (isLarge && large >= maxConcurrentLarge) continue
            if (upload.isFolder ? upload.path.length > depth : depth < Infinity) return
            if (isLarge) large += 1
            if (upload.isFolder) depth = upload.path.length
            this.#run(upload)
        }
    }

    async #run(upload) {
        const controller = new AbortController()
        this.#controllers.set(upload, controller)
        this.#move(upload, "running")
        const { signal } = controller
        let before = upload.loaded
        const changed = () => {
            if (upload.loaded > before) this.rate.add(upload.loaded - before)
            before = upload.loaded
            this.changed()
        }
        try {
            if (upload.isFolder) await makeFolder(upload)
            else await this.#send(upload, { signal, changed })
            if (signal.aborted) return
            changed()
            this.#end(upload)
        } catch (problem) {
            if (signal.aborted) return
            upload.problem = problem
            // Do not let another page resume an upload that was permanently rejected.
            if (lasting.has(problem.status)) forget(upload.id)
            this.#move(upload, "failed")
            this.dispatchEvent(new CustomEvent("failed", { detail: upload }))
        }
        this.#controllers.delete(upload)
        this.#pump()
    }

    async #send(upload, { signal, changed }) {
        const context = {
            signal, changed, verifies: this.verifies, canResume: has("uploads"),
            save: () => { if (!signal.aborted) remember(upload) },
        }
        try {
            await transfer(upload, context)
        } catch (problem) {
            // Parent folders are missing: create those that belong to the upload.
            if (problem.status !== 409 || upload.path.length < 2) throw problem
            await makeFoldersAbove(upload)
            await transfer(upload, context)
        }
    }

    #end(upload) {
        upload.loaded = upload.size
        this.#done += 1
        if (!upload.isFolder) this.#filesDone += 1
        this.#doneBytes += upload.size
        this.#move(upload, "done")
        upload.file = upload.handle = upload.blob = undefined
        const done = this.#byState.get("done")
        if (done.size > maxDone) done.delete(done.values().next().value)
        forget(upload.id)
        this.dispatchEvent(new CustomEvent("done", { detail: upload }))
    }
}

const filesIn = (uploads) => uploads.filter(({ isFolder, problem }) => !isFolder || problem).length

// Folders need no record: they are created again with their files.
const remember = (upload) => { if (!upload.isFolder) save(upload.record) }

// Creates a folder. Status 405 means that it already exists.
async function makeOne(href) {
    try {
        await mkcol(href)
    } catch (problem) {
        if (problem.status !== 405) throw problem
    }
}

async function makeFoldersAbove(upload) {
    const rest = upload.href.slice(upload.base.length).replace(/\/$/, "").split("/").slice(0, -1)
    let href = upload.base
    for (const name of rest) {
        href += `${name}/`
        await makeOne(href)
    }
}

async function makeFolder(upload) {
    try {
        await makeOne(upload.href)
    } catch (problem) {
        if (problem.status !== 409 || upload.path.length < 2) throw problem
        await makeFoldersAbove(upload)
        await makeOne(upload.href)
    }
}

// Time constant of the smoothed transfer rate.
const memorySeconds = 4
const stepMilliseconds = 250

class Rate {
    #value = 0
    #bytes = 0
    #since = performance.now()
    #seconds = 0

    add(bytes) { this.#bytes += bytes }

    /// Bytes per second.
    get value() {
        const now = performance.now()
        const elapsed = (now - this.#since) / 1000
        if (elapsed * 1000 < stepMilliseconds) return this.#value
        // Start again after a pause.
        if (elapsed > 3 * memorySeconds && this.#bytes === 0) this.#seconds = this.#value = 0
        this.#seconds += elapsed
        // At the start, all seconds have the same weight.
        const weight = 1 - Math.exp(-elapsed / Math.min(this.#seconds, memorySeconds))
        this.#value += (this.#bytes / elapsed - this.#value) * Math.max(weight, this.#seconds <= elapsed ? 1 : 0)
        this.#bytes = 0
        this.#since = now
        return this.#value
    }
}

/// Keeps the screen on during uploads, because a sleeping phone suspends its pages.
/// Available only in secure contexts and for visible pages.
export const stayAwake = (queue) => {
    if (!navigator.wakeLock) return
    let held
    let isRequested = false
    const update = async () => {
        const isWanted = queue.isBusy && document.visibilityState === "visible"
        if (!isWanted) {
            held?.release().catch(() => {})
            held = undefined
        } else if ((!held || held.released) && !isRequested) {
            isRequested = true
            // The browser may refuse, for example if the battery is low.
            held = await navigator.wakeLock.request("screen").catch(() => undefined)
            isRequested = held === undefined
            if (held && !queue.isBusy) update()
        }
    }
    queue.addEventListener("change", update)
    document.addEventListener("visibilitychange", () => {
        isRequested = false
        update()
    })
}
