// Breaks locks of other users, after a warning.

import { action, propfind } from "../dav.js"
import { dialog } from "../dialog.js"
import { element, icon } from "../element.js"
import { explain } from "../errors.js"
import { lastSegment, nameOf, parentOf, visible } from "../href.js"
import { toast } from "../messages.js"
import { page } from "../page.js"
import { relativeTime, t } from "../strings.js"
import { lockText } from "./badge.js"

/// Shows the owners of a resource's locks and breaks the locks after confirmation. Resolves with whether the resource is
/// unlocked.
export const breakLock = async (app, href) => {
    let entry
    try {
        entry = (await propfind(href, { depth: 0 })).entries[0]
    } catch (error) {
        toast(explain(error), { kind: "error" })
        return false
    }
    if (!entry || entry.locks.length === 0) return true
    const name = visible(nameOf(entry.href))
    const body = element("div", {},
        element("ul.locks", {}, entry.locks.map((lock) => element("li", {}, icon("lock"), element("span", {},
            lockText(lock), Number.isFinite(lock.until) && element("small", {}, t("change.lockEnds", { time: relativeTime(lock.until) })))))),
        element("p", {}, t("change.breakWarning")))
    const choice = await dialog({
        title: t("change.breakTitle", { name }), body, className: "confirm",
        actions: [{ label: t("core.cancel"), value: false }, { label: t("change.breakNow"), value: true, kind: "danger" }],
    })
    if (choice !== true) return false
    try {
        const isRoot = entry.href === page.root
        for (const lock of entry.locks) {
            await action(isRoot ? entry.href : parentOf(entry.href), "unlock",
                { ...(isRoot ? {} : { member: lastSegment(entry.href) }), token: lock.token })
        }
    } catch (error) {
        toast(t("change.notBroken", { name, reason: explain(error) }), { kind: "error" })
        return false
    } finally {
        app.folder.reload([entry.href])
    }
    toast(t("change.lockBroken", { name }))
    return true
}
