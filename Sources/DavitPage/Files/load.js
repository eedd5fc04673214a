// Modules that are loaded when they are first used, and before that while the browser is idle.

import { DavError } from "./dav.js"
import { explain } from "./errors.js"
import { toast } from "./messages.js"
import { page } from "./page.js"
import { t } from "./strings.js"

/// A module could not be fetched. Importing it again may succeed.
export class NotLoaded extends Error {
    name = "NotLoaded"
}

const waiting = []
const failed = []
let isLoading = false
let isAhead = false

/// `later(() => import("./a.js"))`: a function that returns the module, or throws NotLoaded. The module is also loaded ahead of its
/// use once `loadAhead` has been called.
export const later = (importer) => {
    waiting.push(importer)
    loadNext()
    return async () => {
        try {
            return await importer()
        } catch (cause) {
            // Everything else is an error in the module itself.
            if (!(cause instanceof TypeError)) throw cause
            throw new NotLoaded(cause.message)
        }
    }
}

const whenIdle = globalThis.requestIdleCallback ?? ((run) => setTimeout(run, 200))

const loadNext = () => {
    if (!isAhead || isLoading || waiting.length === 0) return
    isLoading = true
    whenIdle(async () => {
        const importer = waiting.shift()
        try {
            await importer()
        } catch {
            failed.push(importer)
        }
        isLoading = false
        loadNext()
    })
}

/// Loads one module after the other while the browser is idle, so that they are available without a connection. Does nothing for
/// readers who save data.
export const loadAhead = () => {
    if (navigator.connection?.saveData) return
    isAhead = true
    loadNext()
    addEventListener("online", () => {
        waiting.push(...failed.splice(0))
        loadNext()
    })
}

// The status of the server's answer for files of the page; 0 without an answer.
const statusOfFiles = async () => {
    try {
        return (await fetch(`${page.files}page.css`, { method: "HEAD", cache: "no-store" })).status
    } catch {
        return 0
    }
}

let dismiss
/// Calls `run`. If it needs a module that cannot be loaded, says so and offers to try again.
export const attempt = async (run) => {
    try {
        return await run()
    } catch (error) {
        if (error.name !== "NotLoaded") throw error
        const status = await statusOfFiles()
        const reason = status === 200 ? t("error.notLoaded") : explain(new DavError(status))
        dismiss?.()
        dismiss = toast(`${t("core.notLoaded")} ${reason}`, {
            kind: "error", action: { label: t("core.retry"), run: () => void attempt(run) },
        })
        return undefined
    }
}
