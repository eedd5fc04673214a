// A folder picker: a tree whose branches are read when they are expanded.

import { propfind } from "../dav.js"
import { dialog } from "../dialog.js"
import { element, icon } from "../element.js"
import { explain } from "../errors.js"
import { nameOf, parentOf, visible } from "../href.js"
import { attempt, later } from "../load.js"
import { announce } from "../messages.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { t } from "../strings.js"

const create = later(() => import("./create.js"))

/// Resolves with the href of the chosen folder; undefined if cancelled. `problem(href)` returns the reason why a folder cannot
/// be chosen.
export const chooseFolder = async (app, { title, action, problem = () => undefined }) => {
    const tree = new Tree(app)
    const note = element("p.field-error", { id: "tree-note", role: "status" })
    const make = element("button.plain", { type: "button" }, icon("new-folder"), t("change.newFolder"))
    const reason = () => problem(tree.chosen) ?? (may("create", tree.items.get(tree.chosen)) ? undefined : t("change.noRightTo"))
    const show = () => {
        note.textContent = reason() ?? ""
        make.disabled = !may("create", tree.items.get(tree.chosen))
    }
    make.addEventListener("click", () => attempt(async () => {
        const { newFolder } = await create()
        await tree.open(tree.chosen)
        const href = await newFolder(app, tree.chosen, tree.namesIn(tree.chosen))
        if (!href) return
        await tree.reload(tree.chosen)
        tree.choose(href)
    }))
    const answer = dialog({
        title, body: element("div", {}, tree.element, note, make), className: "choose-folder",
        actions: [
            { label: t("core.cancel"), value: false },
            { label: action, value: true, kind: "primary", isReady: () => { show(); return !reason() } },
        ],
    })
    await tree.start(app.folder.href)
    // Start to listen only now, so that no problem is shown for the initial folder.
    tree.element.addEventListener("choose", show)
    return await answer === true ? tree.chosen : undefined
}

class Tree {
    constructor(app) {
        this.app = app
        this.chosen = page.root
        this.items = new Map()
        this.element = element("ul.tree", { role: "tree", "aria-label": t("change.folders"), "aria-describedby": "tree-note" })
        this.element.addEventListener("keydown", (event) => this.key(event))
        this.element.addEventListener("click", (event) => this.click(event))
        this.element.append(this.make(page.root, page.title ?? t("core.files"), 1))
        this.typed = { text: "", time: 0 }
    }

    /// Expands the ancestors of a folder and selects it.
    async start(href) {
        const way = []
        for (let at = href; at.startsWith(page.root) && at !== page.root; at = parentOf(at)) way.unshift(at)
        await this.open(page.root)
        for (const at of way) {
            if (!this.items.has(at)) break
            this.choose(at)
            if (at !== href) await this.open(at)
        }
        this.choose(this.items.has(href) ? href : page.root)
    }

    make(href, name, level, rights) {
        const group = element("ul", { role: "group", hidden: true })
        const label = element("span.tree-label", {}, element("span.tree-arrow", {}, icon("chevron")), icon("folder"), element("bdi", {}, visible(name)))
        const item = element("li", {
            role: "treeitem", tabindex: "-1", "aria-expanded": "false", "aria-selected": "false", "aria-level": String(level),
            "aria-label": visible(name), "data-href": href,
        }, label, group)
        this.items.set(href, { item, group, level, name, rights, isRead: false })
        return item
    }

    namesIn(href) {
        return new Set([...this.items].filter(([other]) => other !== href && parentOf(other) === href).map(([, { name }]) => name))
    }

    async open(href) {
        const known = this.items.get(href)
        if (!known) return
        known.item.setAttribute("aria-expanded", "true")
        known.group.hidden = false
        if (known.isRead) return
        known.isRead = true
        known.item.setAttribute("aria-busy", "true")
        try {
            const { entries } = await propfind(href)
            const ordered = new Array(entries.length)
            known.rights = entries[0].rights
            for (const entry of entries.slice(1)) ordered[entry.rank] = entry
            const folders = ordered.filter((entry) => entry?.isFolder)
            known.group.replaceChildren(...folders.map((entry) => this.make(entry.href, entry.name, known.level + 1, entry.rights)))
            if (folders.length === 0) known.item.removeAttribute("aria-expanded")
        } catch (error) {
            known.isRead = false
            known.group.replaceChildren(element("li.field-error", { role: "none" }, explain(error)))
            announce(explain(error))
        }
        known.item.removeAttribute("aria-busy")
    }

    async reload(href) {
        const known = this.items.get(href)
        known.isRead = false
        await this.open(href)
    }

    close(href) {
        const known = this.items.get(href)
        if (known.item.getAttribute("aria-expanded") !== "true") return false
        known.item.setAttribute("aria-expanded", "false")
        known.group.hidden = true
        return true
    }

    choose(href) {
        const before = this.items.get(this.chosen)?.item
        before?.setAttribute("aria-selected", "false")
        if (before) before.tabIndex = -1
        this.chosen = href
        const { item } = this.items.get(href)
        item.setAttribute("aria-selected", "true")
        item.tabIndex = 0
        item.focus({ preventScroll: true })
        item.querySelector(".tree-label").scrollIntoView({ block: "nearest" })
        this.element.dispatchEvent(new Event("choose"))
    }

    click(event) {
        const href = event.target.closest("[role=treeitem]")?.dataset.href
        if (!href) return
        this.choose(href)
        if (event.target.closest(".tree-arrow") && this.close(href)) return
        this.open(href)
    }

    get shown() { return [...this.element.querySelectorAll("[role=treeitem]")].filter((item) => item.checkVisibility()) }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return
        const { shown } = this
        const at = shown.findIndex((item) => item.dataset.href === this.chosen)
        const item = shown[at]
        const isRight = document.documentElement.dir === "rtl"
        const go = (to) => { if (shown[to]) this.choose(shown[to].dataset.href) }
        const inward = isRight ? "ArrowLeft" : "ArrowRight"
        switch (event.key) {
        case "ArrowDown": go(at + 1); break
        case "ArrowUp": go(at - 1); break
        case "Home": go(0); break
        case "End": go(shown.length - 1); break
        case inward:
            if (item.getAttribute("aria-expanded") === "true") go(at + 1)
            else this.open(this.chosen)
            break
        case isRight ? "ArrowRight" : "ArrowLeft":
            if (!this.close(this.chosen) && this.chosen !== page.root) this.choose(parentOf(this.chosen))
            break
        default: {
            if (event.key.length !== 1 || event.key === " ") return
            const now = Date.now()
            const text = (now - this.typed.time > 800 ? "" : this.typed.text) + event.key.toLowerCase()
            this.typed = { text, time: now }
            const from = text.length === 1 ? at + 1 : at
            const next = [...shown.slice(from), ...shown.slice(0, from)]
                .find((one) => visible(nameOf(one.dataset.href)).toLowerCase().startsWith(text))
            if (next) this.choose(next.dataset.href)
        }
        }
        event.preventDefault()
        event.stopPropagation()
    }
}
