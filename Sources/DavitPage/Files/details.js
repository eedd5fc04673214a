// The dialog with details of the selected entries.

import { dialog } from "./dialog.js"
import { element, icon } from "./element.js"
import { visible } from "./href.js"
import { page } from "./page.js"
import { bytes, dateTime, number, t } from "./strings.js"

export const showDetails = ({ folder, entries }) => {
    const shown = entries.length > 0 ? entries : folder.own ? [folder.own] : []
    if (shown.length === 0) return
    const rows = []
    const add = (key, value) => { if (value) rows.push(element("div.detail", {}, element("dt", {}, t(key)), element("dd", {}, value))) }
    const [entry] = shown
    const size = shown.reduce((sum, one) => sum + (one.size || 0), 0)
    if (shown.length === 1) {
        add("core.kind", t(`kind.${entry.type}`))
        if (!entry.isFolder) add("core.size", `${bytes(entry.size)}${entry.size >= 1000 ? ` (${t("core.bytes", { count: entry.size })})` : ""}`)
        add("core.modified", dateTime(entry.modified))
        add("core.address", element("a", { href: entry.href }, new URL(entry.href, location.href).href))
        for (const lock of entry.locks) {
            const who = lock.principal || lock.owner || t("core.somebody")
            add("core.lockedBy", Number.isFinite(lock.created) ? t("core.lockedSince", { who, time: dateTime(lock.created) }) : who)
        }
    } else {
        add("core.files", number(shown.filter((one) => !one.isFolder).length))
        add("core.foldersLabel", number(shown.filter((one) => one.isFolder).length))
        add("core.size", bytes(size))
    }
    const title = shown.length === 1 ? visible(entry.name) || page.title || t("core.files") : t("core.selected", { count: shown.length })
    return dialog({
        title, className: "details", body: element("div", {}, shown.length === 1 && icon(entry.type, `large type-${entry.type}`), element("dl", {}, rows)),
        actions: [{ label: t("core.close"), value: true, kind: "primary" }],
    })
}
