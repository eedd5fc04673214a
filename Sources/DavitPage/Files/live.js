// Applies changes by other clients as they happen. All tabs share one stream through a shared worker; without shared workers,
// each tab has its own stream while it is visible.

import { parentOf } from "./href.js"
import { LiveStream } from "./live-stream.js"
import { has, page } from "./page.js"

// Delay in ms before changes are applied, and a longer delay while many changes follow each other, as during an upload.
const gathering = 60
const gatheringMore = 500
// Delay while this page itself makes many changes, which it already shows.
const gatheringQuietly = 5000

let working = 0
let wake

/// Applies changes less often until the returned function is called, because the page itself changes many entries.
export const quietly = () => {
    working += 1
    return () => {
        working -= 1
        if (working === 0) wake?.()
    }
}

export const follow = (app) => {
    if (!has("events")) return
    const { folder } = app
    // Each href is only in the set for its latest event.
    const changed = new Set()
    const gone = new Set()
    let timer
    let latest = -Infinity
    const show = () => {
        clearTimeout(timer)
        timer = undefined
        latest = performance.now()
        const [lost, hrefs] = [[...gone], [...changed]]
        gone.clear()
        changed.clear()
        if (lost.length > 0) folder.forget(lost)
        if (hrefs.length > 0) folder.reload(hrefs)
    }
    const later = (href, isGone = false) => {
        const [added, other] = isGone ? [gone, changed] : [changed, gone]
        added.add(href)
        other.delete(href)
        const milliseconds = working > 0 ? gatheringQuietly : performance.now() - latest < gatheringMore ? gatheringMore : gathering
        timer ??= setTimeout(show, milliseconds)
    }
    wake = () => { if (timer) show() }
    const isHere = (href) => parentOf(href) === folder.href
    const take = ({ type, lines, folders, isWhole }) => {
        switch (type) {
        case "open":
            if (!folders.includes(folder.href)) break
            document.documentElement.dataset.live = "true"
            // Changes after the folder was read and before the stream was opened were not reported.
            if (!isWhole && folder.state === "ready") folder.refresh()
            break
        case "change":
            for (const line of lines) {
                const href = line.slice(2)
                if (isHere(href)) later(href, line.startsWith("-"))
            }
            break
        case "locks":
            if (lines.includes(folder.href)) folder.refresh()
            else for (const href of lines) if (isHere(href)) later(href)
            break
        case "gone":
            if (!lines.includes(folder.href)) break
            folder.refresh()
            break
        case "lost":
            // Read the folder now; each failed reconnection reads it again.
            if (folder.state === "ready") folder.refresh()
            break
        case "reset":
            if (lines.length === 0 || lines.includes(folder.href)) folder.refresh()
            break
        }
    }
    const watch = shared(take) ?? own(take)
    folder.addEventListener("open", () => {
        delete document.documentElement.dataset.live
        watch(folder.href)
    })
    addEventListener("pagehide", () => watch(""))
    addEventListener("pageshow", (event) => { if (event.persisted) watch(folder.href) })
    watch(folder.href)
}

const shared = (take) => {
    if (!globalThis.SharedWorker) return undefined
    let fallback
    let latest = ""
    try {
        const worker = new SharedWorker(new URL("live-worker.js", import.meta.url), { type: "module", name: page.root })
        worker.port.onmessage = ({ data }) => take(data)
        worker.onerror = () => {
            fallback ??= own(take)
            fallback(latest)
        }
        return (folder) => {
            latest = folder
            if (fallback) fallback(folder)
            else worker.port.postMessage({ root: page.root, folder })
        }
    } catch {
        return undefined
    }
}

const own = (take) => {
    const stream = new LiveStream(page.root, take)
    let latest = ""
    const watch = () => stream.watch(latest && !document.hidden ? [latest] : [])
    document.addEventListener("visibilitychange", watch)
    return (folder) => {
        latest = folder
        watch()
    }
}
