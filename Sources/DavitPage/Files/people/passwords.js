// The app passwords of the user: lists, creates and removes them.

import { showConnect } from "../connect.js"
import { confirm, dialog } from "../dialog.js"
import { element, iconButton, styleSheet } from "../element.js"
import { decode, nameOf, visible } from "../href.js"
import { announce, toast } from "../messages.js"
import { page } from "../page.js"
import { relativeTime, t } from "../strings.js"
import { change, explainChange, read } from "./api.js"
import { rightsText } from "./rules.js"

const subject = "app-passwords"
const lifetimes = [30, 90, 365]

/// Shows the app passwords. A new one is shown once, with instructions for programs.
export const showPasswords = async (app) => {
    const [found] = await Promise.all([read(page.root, subject).catch((error) => error), styleSheet("people/people.css")])
    if (found instanceof Error) return toast(explainChange(found), { kind: "error" })
    const panel = new Passwords(app, found)
    while (await show(panel) === true) {
        const made = await change(page.root, subject, panel.body).then((answer) => answer.json()).catch((error) => panel.refuse(error))
        if (made) return showConnect({ label: panel.body.label, password: made.password, code: made.code })
    }
}

const show = (panel) => dialog({
    title: t("core.appPasswords"), body: panel.element, className: "people-dialog",
    actions: [{ label: t("core.close"), value: undefined }, { label: t("people.password.add"), value: true, kind: "primary", isReady: () => panel.isReady() }],
})

class Passwords {
    constructor(app, found) {
        this.problem = element("p.field-error", { id: "password-problem", role: "alert" })
        this.list = element("ul.people-list", { "aria-label": t("core.appPasswords") })
        this.label = element("input", {
            type: "text", maxlength: "100", autocomplete: "off", "aria-describedby": "password-problem",
            oninput: () => { this.problem.textContent = "" },
        })
        const option = (value, text) => element("option", { value }, text)
        this.rights = element("select", {}, option("", t("people.password.all")), ["view", "add", "edit", "drop"].map((one) => option(one, rightsText(one))))
        this.days = element("select", {}, option("", t("people.password.never")), lifetimes.map((count) => option(String(count), t("people.password.days", { count }))))
        // A session alone must not create a password that outlives it.
        this.own = found.needsPassword && element("input", {
            type: "password", autocomplete: "current-password", "aria-describedby": "password-problem",
            oninput: () => { this.problem.textContent = "" },
        })
        this.folder = app.folder.href
        this.here = this.folder !== page.root && element("input", { type: "checkbox" })
        this.element = element("div", {}, element("p", {}, t("people.password.intro")), this.list,
            element("div.people-fields", {},
                element("label.field", {}, element("span", {}, t("people.password.label")), this.label),
                element("label.field", {}, element("span", {}, t("people.rights")), this.rights),
                element("label.field", {}, element("span", {}, t("people.password.lifetime")), this.days),
                this.own && element("label.field", {}, element("span", {}, t("people.password.own")), this.own)),
            this.here && element("label.people-box", {}, this.here, t("people.password.here", { name: visible(nameOf(this.folder)) })),
            this.problem)
        this.fill(found)
    }

    fill({ passwords }) {
        this.list.replaceChildren(...passwords.map((one) => element("li", {},
            element("span.people-name", {}, element("bdi", {}, one.label)),
            element("span.people-rights", {}, [one.rights && one.rights !== "all" ? rightsText(one.rights) : t("people.password.all"),
                one.path && one.path !== "/" && visible(decode(one.path))].filter(Boolean).join(", ")),
            element("small", {}, [
                one.used ? t("people.password.used", { time: relativeTime(Date.parse(one.used)), address: one.usedFrom }) : t("people.password.unused"),
                t("people.password.created", { time: relativeTime(Date.parse(one.created)) }),
                one.expires && t("people.password.expires", { time: relativeTime(Date.parse(one.expires)) }),
            ].filter(Boolean).join(" · ")),
            iconButton("close", t("people.removeTitle", { name: one.label }), () => this.remove(one)))))
        if (passwords.length === 0) this.list.append(element("li", {}, t("people.password.none")))
    }

    async remove({ id, label }) {
        const isSure = await confirm({
            title: t("people.removeTitle", { name: label }), text: t("people.password.removeText"), action: t("people.remove"), danger: true,
        })
        if (!isSure) return
        try {
            await change(page.root, subject, { remove: id })
            announce(t("people.password.removed"))
        } catch (error) {
            this.problem.textContent = explainChange(error)
        }
        this.fill(await read(page.root, subject))
        this.label.focus()
    }

    /// Shows why no app password was created.
    refuse(error) {
        this.problem.textContent = explainChange(error)
        if (this.own) this.own.value = ""
    }

    isReady() {
        const empty = [this.label, this.own].find((field) => field && field.value.trim() === "")
        this.problem.textContent = empty ? t(empty === this.own ? "people.error.password-required" : "people.error.empty") : ""
        if (empty) empty.focus()
        return !empty
    }

    get body() {
        return {
            ...this.own && { password: this.own.value },
            label: this.label.value.trim(), rights: this.rights.value || null, days: this.days.value || null,
            path: this.here && this.here.checked ? this.folder.slice(page.root.length - 1).replace(/\/$/, "") : null,
        }
    }
}
