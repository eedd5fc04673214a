// The summary below the entries: their number and size, and the free disk space.

import { quota } from "./dav.js"
import { element } from "./element.js"
import { bytes, t } from "./strings.js"

// Minimum interval in ms between requests for the free space.
const often = 10_000

export const summary = (app) => {
    const { folder } = app
    const counts = element("span")
    const room = element("span.room")
    const made = element("p.summary", {}, counts, room)
    let asked = ""
    let askedAt = 0

    const count = () => {
        made.hidden = folder.state !== "ready"
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
        if (asked === folder.href && Date.now() - askedAt < often) return
        asked = folder.href
        askedAt = Date.now()
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
    return made
}
