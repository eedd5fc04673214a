// Downloads: single files directly, several files and folders as one ZIP file that the server generates while sending.

import { confirm } from "../dialog.js"
import { element } from "../element.js"
import { lastSegment } from "../href.js"
import { bytes, t } from "../strings.js"

/// Downloads of ZIP files with at least this many bytes of content need confirmation.
const large = 500_000_000

const follow = (href, name) => {
    const link = element("a", { href, download: name, hidden: true })
    document.body.append(link)
    link.click()
    link.remove()
}

export const download = async (folder, entries) => {
    if (entries.length === 1) {
        const [entry] = entries
        if (entry.isFolder) return downloadFolder(entry.href)
        return follow(entry.href, entry.name)
    }
    const inside = entries.every(({ href }) => href.startsWith(folder.href) && !href.slice(folder.href.length, -1).includes("/"))
    // Search results can be in different folders.
    if (!inside) {
        for (const entry of entries) await download(folder, [entry])
        return
    }
    const known = entries.reduce((sum, entry) => sum + (entry.size || 0), 0)
    if (known >= large && !await confirmSize({ size: known, count: entries.length })) return
    const form = element("form", { method: "post", action: `${folder.href}?action=archive`, hidden: true },
        entries.map(({ href }) => element("input", { type: "hidden", name: "member", value: lastSegment(href) })))
    document.body.append(form)
    form.submit()
    form.remove()
}

export const downloadFolder = async (href) => {
    const estimate = await estimateOf(`${href}?archive`)
    if (estimate?.size >= large && !await confirmSize(estimate)) return
    follow(`${href}?archive`, "")
}

/// Returns the size of the content of a ZIP file and the number of its files, {size, count}, each NaN if unknown; undefined if
/// the request fails or takes more than 3 seconds.
const estimateOf = async (href) => {
    try {
        const { headers } = await fetch(href, { method: "HEAD", signal: AbortSignal.timeout(3000) })
        // A dictionary (RFC 9651 §3.2): files=3, folders=1, bytes=7000.
        const value = (name) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(headers.get("Davit-Archive") ?? "")?.[1] ?? NaN)
        return { size: value("bytes"), count: value("files") }
    } catch {
        return undefined
    }
}

const confirmSize = ({ size, count }) => confirm({
    title: t("change.largeTitle"), action: t("change.download"),
    text: Number.isFinite(count) ? t("change.largeCount", { size: bytes(size), count }) : t("change.large", { size: bytes(size) }),
})
