// Loads modules on first use, or earlier while the browser is idle.

import { DavError } from "./dav.js"
import { explain } from "./errors.js"
import { toast } from "./messages.js"
import { page } from "./page.js"
import { t } from "./strings.js"

/// The error for a module that could not be fetched. Importing it again may succeed.
export class NotLoaded extends Error {
    name = "NotLoaded"
}

const waiting = []
const failed = []
let isLoading = false
let isAhead = false

/// `later(() => import("./a.js"))` returns a function that resolves with the module or throws NotLoaded. The module is also
/// loaded before first use once `loadAhead` has been called.
export const later = (importer) => {
    waiting.push(importer)
    loadNext()
    return async () => {
        try {
            return await importer()
        } catch (cause) {
            // Any other error comes from the module itself.
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

/// Loads modules one by one while the browser is idle, so that they are available offline. Does nothing if the user has
/// enabled data saving.
export const loadAhead = () => {
    if (navigator.connection?.saveData) return
    isAhead = true
    loadNext()
    addEventListener("online", () => {
        waiting.push(...failed.splice(0))
        loadNext()
    })
}

// Returns the response status for a file of the page; 0 without a response.
const statusOfFiles = async () => {
    try {
        return (await fetch(`${page.files}page.css`, { method: "HEAD", cache: "no-store" })).status
    } catch {
        return 0
    }
}

let dismiss
/// Calls `run`. If a module cannot be loaded, shows a message with a retry button.
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
