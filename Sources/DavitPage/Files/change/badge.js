// Rows say that somebody has locked what they show.

import { element, icon } from "../element.js"
import { dateTime, t } from "../strings.js"

/// Who holds a lock, and since when, as a sentence.
export const lockText = (lock) => {
    const who = lock.principal || lock.owner || t("change.somebody")
    return Number.isFinite(lock.created) ? t("change.lockedSince", { who, time: dateTime(lock.created) }) : t("change.lockedBy", { who })
}

/// For `decorate` of the rows.
export const lockBadge = (row, entry) => {
    if (entry.locks.length === 0) return
    const text = entry.locks.map(lockText).join("\n")
    row.querySelector(".badges").append(
        element("span.lock-badge", { title: text }, icon("lock"), element("span.unseen", {}, text)))
}
