// The trash view: restores or purges items that were deleted or overwritten below the folder.

import { action, report } from "../dav.js"
import { confirm } from "../dialog.js"
import { element, icon } from "../element.js"
import { explain } from "../errors.js"
import { canonical, nameOf, parentOf, pathText, visible } from "../href.js"
import { announce, toast } from "../messages.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { bytes, dateTime, relativeTime, t } from "../strings.js"
import { showFailures, work } from "./work.js"

const own = "urn:davit:trash"
const shownAtMost = 1000

/// Reads the trash entries of this folder, latest first.
const read = async (href) => {
    const answer = await report(href, `<?xml version="1.0" encoding="utf-8"?><trash xmlns="${own}"/>`)
    const text = (response, space, name) => response.getElementsByTagNameNS(space, name)[0]?.textContent.trim() ?? ""
    return [...answer.getElementsByTagNameNS("DAV:", "response")].map((response) => {
        const length = text(response, "DAV:", "getcontentlength")
        return {
            id: text(response, own, "id"), href: canonical(new URL(text(response, "DAV:", "href"), location.href).pathname),
            deleted: Date.parse(text(response, own, "deleted")), principal: text(response, own, "principal"),
            isOverwritten: text(response, own, "reason") === "overwritten", size: length === "" ? NaN : Number(length),
            rights: text(response, "urn:davit:property", "rights") === "" ? undefined
                : Number(text(response, "urn:davit:property", "rights")),
            isFolder: response.getElementsByTagNameNS("DAV:", "collection").length > 0,
        }
    }).filter(({ id }) => id !== "").reverse()
}

let shown

/// Returns a click handler that disables its button; the button is created again when the action is finished.
const once = (run) => ({ target }) => {
    target.disabled = true
    run()
}

/// Shows the trash instead of the entries until the address changes.
export const showTrash = async (app) => {
    if (!shown?.element.isConnected || shown.href !== app.folder.href) shown = new Trash(app)
    app.showView(shown.element)
    await shown.load()
}

class Trash {
    constructor(app) {
        this.app = app
        this.href = canonical(location.pathname)
        this.entries = []
        this.chosen = new Set()
        this.list = element("ul.trash-list")
        this.state = element("p.trash-state", { role: "status" })
        this.bar = element("div.trash-bar")
        const place = visible(nameOf(this.href)) || page.title || t("core.files")
        this.element = element("section.trash", { "aria-labelledby": "trash-title" },
            element("header", {}, element("h2", { id: "trash-title", tabindex: "-1" }, t("change.trashOf", { name: place })),
                element("button.plain", { type: "button", onclick: () => app.go("") }, t("core.backToFolder"))),
            this.bar, this.state, this.list)
        this.list.addEventListener("change", () => this.count())
        this.element.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !event.defaultPrevented) app.go("")
        })
    }

    async load() {
        this.state.textContent = t("core.loading")
        try {
            this.entries = await read(this.href)
            this.state.textContent = this.entries.length === 0 ? t("change.trashEmpty")
                : this.entries.length > shownAtMost ? t("change.trashFirst", { shown: shownAtMost, total: this.entries.length }) : ""
        } catch (error) {
            this.entries = []
            this.state.textContent = explain(error)
        }
        this.list.replaceChildren(...this.entries.slice(0, shownAtMost).map((entry) => this.row(entry)))
        this.count()
        if (!this.element.contains(document.activeElement)) this.element.querySelector("h2").focus({ preventScroll: true })
    }

    row(entry) {
        const name = visible(nameOf(entry.href))
        const where = parentOf(entry.href).slice(this.href.length)
        const about = [
            t(entry.isOverwritten ? "change.overwrittenAt" : "change.deletedAt", { time: relativeTime(entry.deleted) }),
            entry.principal && t("change.by", { who: entry.principal }),
            where && t("change.from", { path: pathText(where) }), bytes(entry.size),
        ].filter(Boolean).join(" · ")
        const button = (label, name_, run, kind = "plain") => element(`button.${kind}`, {
            type: "button", "aria-label": t(name_, { name }), onclick: run,
        }, label)
        return element("li", {},
            element("label.trash-check", {}, element("input", { type: "checkbox", value: entry.id, "aria-label": t("core.selectName", { name }) })),
            icon(entry.isFolder ? "folder" : "file"),
            element("div.trash-text", {}, element("bdi", {}, name), element("small", { title: dateTime(entry.deleted) }, about)),
            page.canWrite && element("div.trash-actions", {},
                may("create", entry) && button(t("change.restore"), "change.restoreName", once(() => this.restore([entry]))),
                may("remove", entry) && button(t("change.purge"), "change.purgeName", () => this.purge([entry]))))
    }

    get selected() {
        const ids = new Set([...this.list.querySelectorAll("input:checked")].map((input) => input.value))
        return this.entries.filter(({ id }) => ids.has(id))
    }

    count() {
        const chosen = this.selected
        const focused = document.activeElement?.dataset?.do
        const button = (id, label, run, kind, isOff) => element(`button.${kind}`, { type: "button", "data-do": id, disabled: isOff, onclick: run }, label)
        this.bar.replaceChildren(...(!page.canWrite || this.entries.length === 0 ? [] : [
            button("restore", t("change.restore"), once(() => this.restore(this.selected)), "primary", chosen.length === 0 || !may("create", ...chosen)),
            button("purge", t("change.purge"), () => this.purge(this.selected), "plain", chosen.length === 0 || !may("remove", ...chosen)),
            chosen.length > 0 && element("span.count", {}, t("core.selected", { count: chosen.length })),
            may("remove", ...this.entries) && button("empty", t("change.emptyTrash"), () => this.purge(this.entries, true), "plain", false),
        ].filter(Boolean)))
        if (focused) this.bar.querySelector(`[data-do="${focused}"]:not(:disabled)`)?.focus()
    }

    async restore(entries) {
        const { done, failed } = await work(entries, ({ id }) => action(this.href, "restore", { id }), { label: t("change.restoring") })
        if (done.length > 0) toast(t("change.restored", { count: done.length }))
        await this.after(t("change.notRestored", { count: failed.length }), failed, () => this.restore(failed.map(({ item }) => item)))
    }

    async purge(entries, isAll = false) {
        const isSure = await confirm({
            title: isAll ? t("change.emptyTrash") : t("change.purgeTitle", { count: entries.length }),
            text: isAll ? t("change.emptyText", { count: entries.length }) : t("change.forGood"), action: t("change.purge"), danger: true,
        })
        if (!isSure) return
        const { done, failed } = await work(entries, ({ id }) => action(this.href, "purge", { id }), { label: t("change.deleting") })
        if (done.length > 0) announce(t("change.purged", { count: done.length }))
        await this.after(t("change.notPurged", { count: failed.length }), failed)
    }

    async after(title, failed, retry) {
        await this.load()
        // Refresh the hidden folder.
        this.app.folder.refresh()
        await showFailures(this.app, title, failed, retry)
    }
}
