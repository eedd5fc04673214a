// The search box: typing filters the folder, Enter searches it and its subfolders.

import { element, icon, iconButton } from "./element.js"
import { t } from "./strings.js"

export const searchBox = (app) => {
    const { folder } = app
    const input = element("input", {
        type: "search", placeholder: t("core.filter"), "aria-label": t("core.filter"), autocomplete: "off", spellcheck: "false",
        enterkeyhint: "search", "aria-describedby": "search-hint",
    })
    const clear = iconButton("close", t("core.clear"), () => { leave(); input.focus() })
    const form = element("form.search", { role: "search" }, icon("search"), input, clear)
    const below = element("button.plain", { type: "button" }, icon("search"), t("core.searchBelow"))
    const results = element("span")
    const back = element("button.plain", { type: "button", onclick: () => leave() }, t("core.backToFolder"))
    const hint = element("div.search-hint", { id: "search-hint", hidden: true })

    const leave = () => {
        input.value = ""
        if (folder.query) folder.search("")
        else folder.filterBy("")
        show()
    }
    const show = () => {
        clear.hidden = input.value === ""
        const { query, filter, state } = folder
        hint.hidden = !query && !filter
        if (query) {
            results.textContent = state === "loading" ? t("core.searching")
                : t(folder.isTruncated ? "core.foundFirst" : "core.found", { count: folder.view.length, text: query })
            hint.replaceChildren(results, back)
        } else if (filter) {
            results.textContent = t("core.matches", { count: folder.view.length })
            hint.replaceChildren(results, below)
        }
    }
    const search = () => {
        const text = input.value.trim()
        if (text) folder.search(text)
    }
    below.addEventListener("click", search)
    form.addEventListener("submit", (event) => {
        event.preventDefault()
        search()
    })
    let waiting
    input.addEventListener("input", () => {
        clearTimeout(waiting)
        clear.hidden = input.value === ""
        // Debounce filtering in large folders.
        const filter = () => { if (!folder.query) folder.filterBy(input.value) }
        if (folder.entries.size > 5000) waiting = setTimeout(filter, 120)
        else filter()
        if (input.value === "" && folder.query) folder.search("")
    })
    input.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
            event.preventDefault()
            if (input.value === "") app.views.items.focusCurrent()
            leave()
        } else if (event.key === "ArrowDown") {
            event.preventDefault()
            app.views.items.focusCurrent()
        }
    })
    for (const type of ["change", "load", "error"]) folder.addEventListener(type, show)
    folder.addEventListener("open", () => {
        input.value = folder.query || folder.filter
        show()
    })
    show()
    return {
        element: form, hint,
        focus: () => input.select(),
        set: (text) => {
            input.value = text
            folder.addEventListener("load", () => folder.filterBy(text), { once: true })
        },
    }
}
