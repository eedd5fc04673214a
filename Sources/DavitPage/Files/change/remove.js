// Deletes entries: into the trash with an Undo button or, without a trash, permanently after confirmation.

import { action, remove as removeResource } from "../dav.js"
import { confirm } from "../dialog.js"
import { element, icon } from "../element.js"
import { explain } from "../errors.js"
import { visible } from "../href.js"
import { toast } from "../messages.js"
import { has } from "../page.js"
import { may } from "../rights.js"
import { t } from "../strings.js"
import { showFailures, update, work } from "./work.js"

const namedAtMost = 8

const ask = (entries) => {
    const shown = entries.slice(0, namedAtMost)
    return confirm({
        title: entries.length === 1 ? t("change.deleteOne", { name: visible(entries[0].name) }) : t("change.deleteMany", { count: entries.length }),
        text: element("div", {},
            entries.length > 1 && element("ul.going", {}, shown.map((entry) =>
                element("li", {}, icon(entry.type), element("bdi", {}, visible(entry.name))))),
            entries.length > namedAtMost && element("p", {}, t("change.more", { count: entries.length - namedAtMost })),
            entries.some((entry) => entry.isFolder) && element("p", {}, t("change.withContent")),
            element("p", {}, t("change.forGood"))),
        action: t("change.delete"), danger: true,
    })
}

/// Deletes entries. Asks for confirmation only without a trash, because a deletion into the trash can be undone.
export const remove = async (app, entries) => {
    const isKept = has("trash")
    if (!isKept && !await ask(entries)) return
    await removeNow(app, entries, isKept)
}

const removeNow = async (app, entries, isKept) => {
    const { folder } = app
    const { href } = folder
    const next = nextOf(folder, entries)
    const { done, failed } = await work(entries, (entry) =>
        // Without a trash, delete only the version that is displayed.
        removeResource(entry.href, { etag: !isKept && !entry.isFolder ? entry.etag : "" }), { label: t("change.deleting") })
    const missing = failed.filter(({ error }) => error.status === 404 || error.status === 410)
    const real = failed.filter((one) => !missing.includes(one))
    if (folder.href === href) {
        await update(folder, entries.map((entry) => entry.href))
        if (next && folder.entry(next) && real.length === 0) app.views.items.focusOn(next)
    }
    const ids = done.map(({ result }) => result).filter(Boolean)
    if (done.length + missing.length > 0) {
        const count = done.length + missing.length
        const text = count === 1 ? t("change.deletedOne", { name: visible((done[0] ?? missing[0]).item.name) }) : t("change.deletedMany", { count })
        toast(text, ids.length > 0 && may("create", folder) ? { action: { label: t("change.undo"), run: () => restore(app, href, ids, entries) } } : {})
    }
    await showFailures(app, t("change.notDeleted", { count: real.length }), real, async (again) => {
        // Use the current entries, because the list may be outdated.
        const known = again.map(({ item }) => folder.entry(item.href) ?? item)
        if (isKept || await ask(known)) await removeNow(app, known, isKept)
    })
}

/// Returns the href of the row to focus after the entries are removed.
const nextOf = (folder, entries) => {
    const going = new Set(entries.map((entry) => entry.href))
    const from = folder.indexOf(entries.at(-1).href)
    return (folder.view.find((entry, index) => index > from && !going.has(entry.href))
        ?? folder.view.findLast((entry) => !going.has(entry.href)))?.href
}

/// Restores entries from the trash by their IDs.
export const restore = async (app, folderHref, ids, entries = []) => {
    const { failed } = await work(ids, (id) => action(folderHref, "restore", { id }), { label: t("change.restoring") })
    if (app.folder.href === folderHref) await update(app.folder, entries.map((entry) => entry.href))
    if (failed.length === 0) toast(t("change.restored", { count: ids.length }))
    else toast(`${t("change.notRestored", { count: failed.length })} ${explain(failed[0].error)}`, { kind: "error" })
    return failed
}
