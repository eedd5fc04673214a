// Lock badges in the rows.

import { element, icon } from "../element.js"
import { dateTime, t } from "../strings.js"

/// Returns a sentence with the owner of a lock and its creation time.
export const lockText = (lock) => {
    const who = lock.principal || lock.owner || t("change.somebody")
    return Number.isFinite(lock.created) ? t("change.lockedSince", { who, time: dateTime(lock.created) }) : t("change.lockedBy", { who })
}

/// Adds a badge to the row of a locked entry. For `Items.decorate`.
export const lockBadge = (row, entry) => {
    if (entry.locks.length === 0) return
    const text = entry.locks.map(lockText).join("\n")
    row.querySelector(".badges").append(
        element("span.lock-badge", { title: text }, icon("lock"), element("span.unseen", {}, text)))
}
