// Resolves name conflicts before a transfer starts: replace, keep both or skip.

import { dialog } from "../dialog.js"
import { element, icon, styleSheet } from "../element.js"
import { visible } from "../href.js"
import { bytes, dateTime, t } from "../strings.js"

/// The maximum number of conflicts listed with individual choices. “Apply to all” decides the others; without it they are
/// skipped.
const listedAtMost = 300
const choices = ["replace", "keep", "skip"]

/// Asks how to resolve `conflicts`: {name, href, old: {size, modified, isFolder}, new: {size, modified, isFolder}}, times in ms.
/// Resolves with a Map from href to "replace", "keep" or "skip"; undefined if the user cancels.
export const askAboutConflicts = async (conflicts) => {
    if (conflicts.length === 0) return new Map()
    await styleSheet("change/change.css")
    const result = new Map(conflicts.map(({ href }) => [href, "skip"]))
    const listed = conflicts.slice(0, listedAtMost)
    const selects = new Map(listed.map((conflict) => [conflict.href, choice(conflict)]))
    let forAll
    const rest = conflicts.length - listed.length
    const all = element("div.for-all", { role: "group", "aria-label": t("change.forAll") },
        element("span", {}, t("change.forAll")),
        choices.map((value) => element("button.plain", {
            type: "button", "data-value": value, onclick: () => {
                forAll = value
                for (const select of selects.values()) select.value = value
                mark()
            },
        }, t(`change.${value}`))))
    const mark = () => {
        const values = new Set([...selects.values()].map((select) => select.value))
        for (const button of all.querySelectorAll("button")) {
            button.setAttribute("aria-pressed", String(values.size === 1 && values.has(button.dataset.value)))
        }
        warning.hidden = !listed.some(({ href, old }) => old.isFolder && selects.get(href).value === "replace")
    }
    const warning = element("p.conflict-warning", { role: "status", hidden: true }, icon("warning"), t("change.replacesFolder"))
    const body = element("div", {},
        element("p", {}, t("change.conflictText", { count: conflicts.length })),
        conflicts.length > 1 && all,
        element("ul.conflicts", {}, listed.map((conflict) => row(conflict, selects.get(conflict.href)))),
        rest > 0 && element("p", {}, t("change.conflictsMore", { count: rest })),
        warning)
    body.addEventListener("change", mark)
    mark()
    const go = await dialog({
        title: t("change.conflictTitle", { count: conflicts.length }), body, className: "conflict",
        actions: [{ label: t("core.cancel"), value: undefined }, { label: t("change.continue"), value: true, kind: "primary" }],
    })
    if (!go) return undefined
    for (const [href, select] of selects) result.set(href, select.value)
    for (const { href } of conflicts.slice(listedAtMost)) result.set(href, forAll ?? "skip")
    return result
}

/// Creates the choice for one conflict. The default replaces nothing.
const choice = ({ name }) => {
    const select = element("select", { "aria-label": t("change.whatWith", { name: visible(name) }) },
        choices.map((value) => element("option", { value }, t(`change.${value}`))))
    select.value = "keep"
    return select
}

const row = (conflict, select) => {
    const { name, old, new: fresh } = conflict
    const isNewer = fresh.modified > old.modified
    const isOlder = fresh.modified < old.modified
    return element("li", {},
        element("div.conflict-name", {}, icon(old.isFolder ? "folder" : "file"), element("bdi", {}, visible(name))),
        element("dl", {},
            side("change.there", old, isOlder), side("change.coming", fresh, isNewer)),
        select)
}

const side = (label, { size, modified, isFolder }, isNewer) =>
    element(`div${isNewer ? ".is-newer" : ""}`, {}, element("dt", {}, t(label)), element("dd", {},
        [isFolder ? t("kind.folder") : bytes(size), dateTime(modified)].filter(Boolean).join(", "),
        isNewer && element("span.newer", {}, t("change.newer"))))
