// The summary below the entries: the number of entries, their total size, and the free disk space.

import { quota } from "./dav.js"
import { element } from "./element.js"
import { bytes, t } from "./strings.js"

// Minimum interval in ms between requests for the free space.
const often = 10_000

export const summary = (app) => {
    const { folder } = app
    const counts = element("span")
    const room = element("span.room")
    const node = element("p.summary", {}, counts, room)
    let requested = ""
    let requestedAt = 0

    const count = () => {
        node.hidden = folder.state !== "ready"
        let folders = 0
        let size = 0
        for (const entry of folder.view) {
            if (entry.isFolder) folders += 1
            else size += entry.size || 0
        }
        const files = folder.view.length - folders
        const texts = []
        if (folders > 0) texts.push(t("core.folders", { count: folders }))
        if (files > 0) texts.push(t("core.countAndSize", { count: t("core.filesCount", { count: files }), size: bytes(size) }))
        counts.textContent = texts.join(" · ")
    }
    let pending
    folder.addEventListener("change", () => {
        // Do not count after every batch of search results.
        if (folder.state === "loading") return
        clearTimeout(pending)
        pending = setTimeout(() => {
            count()
            ask()
        }, 30)
    })
    const ask = async () => {
        if (requested === folder.href && Date.now() - requestedAt < often) return
        requested = folder.href
        requestedAt = Date.now()
        try {
            const { available } = await quota(folder.href)
            room.textContent = available === undefined ? "" : t("core.free", { size: bytes(available) })
        } catch {
            room.textContent = ""
        }
    }
    folder.addEventListener("error", count)
    folder.addEventListener("load", () => {
        count()
        ask()
    })
    return node
}
