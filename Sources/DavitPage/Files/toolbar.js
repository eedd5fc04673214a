// The toolbar with actions for the folder or the selection.

import { keyText, offered, onRegister } from "./actions.js"
import { element, icon, iconButton } from "./element.js"
import { openMenu } from "./menu.js"
import { announce } from "./messages.js"
import { bytes, t } from "./strings.js"

const narrow = matchMedia("(max-width: 40rem)")

export const toolbar = (app, menu) => {
    const { folder } = app
    const actions = element("div.bar-actions")
    const view = element("div.bar-view")
    const node = element("div.toolbar", { role: "group", "aria-label": t("core.toolbar") }, actions, view)
    let wasSelected = 0

    const button = (action, context) => {
        const label = typeof action.label === "function" ? action.label(context) : t(action.label)
        const key = action.key && keyText([action.key].flat()[0])
        return element(`button.${action.isPrimary ? "primary" : "tool"}`, {
            type: "button", "data-action": action.id, "aria-label": label, title: key ? `${label} (${key})` : label,
            onclick: (event) => action.run({ ...app.context(), origin: event.currentTarget, event }),
        }, icon(action.icon), element("span", {}, label))
    }

    const update = () => {
        const context = app.context()
        const { entries } = context
        const all = offered(context).filter((action) => !action.isKeyOnly)
        const count = entries.length
        const most = !narrow.matches ? 6 : count > 0 ? 4 : 2
        const isFirst = (action) => Number(action.isPrimary !== true)
        const shown = all.filter((action) => action.isBar).sort((a, b) => isFirst(a) - isFirst(b)).slice(0, most)
        const focused = document.activeElement?.dataset?.action
        node.classList.toggle("has-selection", count > 0)
        const more = iconButton("more", t("core.moreActions"), () => menu(app.context().entries, more), "menu-button")
        more.setAttribute("aria-haspopup", "menu")
        more.dataset.action = "more"
        actions.replaceChildren(...[
            count > 0 && iconButton("close", t("core.clearSelection"), () => { folder.select([]); app.views.items.focusCurrent() }),
            count > 0 && element("span.count", {}, narrow.matches ? t("core.selected", { count }) : sizeOf(entries)),
            ...shown.map((action) => button(action, context)),
            all.length > shown.length && more,
        ].filter(Boolean))
        if (focused) actions.querySelector(`[data-action="${focused}"]`)?.focus()
        if (count !== wasSelected && (count > 1 || wasSelected > 1)) announce(sizeOf(entries))
        wasSelected = count
        updateView()
    }

    const sorts = [["name", "core.name"], ["size", "core.size"], ["modified", "core.modified"]]
    const sort = iconButton("sort", t("core.sort"), () => openMenu([
        ...sorts.map(([key, label]) => ({
            label: t(label), isChecked: folder.sort.key === key, run: () => folder.sortBy(key, key !== "name"),
        })),
        "line",
        { label: t("core.ascending"), isChecked: !folder.sort.isDescending, run: () => folder.sortBy(folder.sort.key, false) },
        { label: t("core.descending"), isChecked: folder.sort.isDescending, run: () => folder.sortBy(folder.sort.key, true) },
    ], sort, { label: t("core.sort") }), "sort-button")
    sort.setAttribute("aria-haspopup", "menu")
    const layout = iconButton("grid", "", () => { app.layout = app.layout === "grid" ? "list" : "grid" })
    const refresh = iconButton("refresh", t("core.refresh"), () => app.run("refresh", app.context([])))
    refresh.classList.add("refresh-button")
    view.append(sort, layout, refresh)
    const updateView = () => {
        const isGrid = app.views.items?.layout === "grid"
        const label = t(isGrid ? "core.asList" : "core.asGrid")
        layout.setAttribute("aria-label", label)
        layout.title = label
        layout.replaceChildren(icon(isGrid ? "list" : "grid"))
    }

    folder.addEventListener("selection", update)
    folder.addEventListener("open", update)
    folder.addEventListener("load", update)
    onRegister(update)
    narrow.addEventListener("change", update)
    return { element: node, update }
}

/// Formats the number of entries and the total size of the files among them.
const sizeOf = (entries) => {
    const size = entries.reduce((sum, entry) => sum + (entry.size || 0), 0)
    const count = t("core.selected", { count: entries.length })
    return size > 0 ? t("core.countAndSize", { count, size: bytes(size) }) : count
}
