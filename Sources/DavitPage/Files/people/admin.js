// The administration of accounts, groups, rules, sessions, locks and uploads, instead of the entries of the root folder.

import { confirm, dialog } from "../dialog.js"
import { element, icon, styleSheet } from "../element.js"
import { decode, visible } from "../href.js"
import { announce } from "../messages.js"
import { openMenu } from "../menu.js"
import { page } from "../page.js"
import { bytes, dateTime, relativeTime, t } from "../strings.js"
import { showAccess } from "./access.js"
import { change, explainChange, read } from "./api.js"
import { presets, rightsText, subjectNode, subjectText } from "./rules.js"

const sections = ["accounts", "groups", "rules", "sessions", "locks", "uploads"]

/// What the server calls the content of a section.
const subjectOf = (section) => (["sessions", "locks", "uploads"].includes(section) ? section : "accounts")

let shown

/// Shows one of the sections until the address changes.
export const showSection = async (app, requested) => {
    await styleSheet("people/people.css")
    shown ??= new Admin(app)
    app.showView(shown.element)
    await shown.show(sections.includes(requested) ? requested : sections[0])
}

/// Returns a random password of 20 characters, which are not easily confused with each other.
const newPassword = () =>
    [...crypto.getRandomValues(new Uint8Array(20))].map((byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("").replace(/(.{5})(?=.)/g, "$1-")

class Admin {
    constructor(app) {
        this.app = app
        this.tabs = element("div.admin-tabs", { role: "tablist", "aria-label": t("core.accounts"), onkeydown: (event) => this.key(event) },
            sections.map((name) => element("button.admin-tab", {
                type: "button", role: "tab", id: `admin-${name}`, "aria-controls": "admin-panel", onclick: () => app.go(`?admin=${name}`),
            }, t(`people.tab.${name}`))))
        this.state = element("p.field-error", { role: "alert" })
        this.bar = element("div.admin-bar")
        this.list = element("ul.people-list")
        this.panel = element("div", { role: "tabpanel", id: "admin-panel", tabindex: "-1" }, this.bar, this.state, this.list)
        this.element = element("section.admin", { "aria-labelledby": "admin-title" },
            element("header", {}, element("h2", { id: "admin-title" }, t("core.accounts")),
                element("button.plain", { type: "button", onclick: () => app.go("") }, t("core.backToFolder"))),
            this.tabs, this.panel)
        this.element.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !event.defaultPrevented && !event.target.closest("dialog, [role=menu]")) app.go("")
        })
    }

    /// Moves between the tabs with the arrow keys.
    key(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (document.documentElement.dir === "rtl" ? -1 : 1)
        if (!step) return
        event.preventDefault()
        const next = sections[(sections.indexOf(this.section) + step + sections.length) % sections.length]
        this.app.go(`?admin=${next}`)
        this.tabs.querySelector(`#admin-${next}`).focus()
    }

    async show(section) {
        this.section = section
        for (const tab of this.tabs.children) {
            const isSelected = tab.id === `admin-${section}`
            tab.setAttribute("aria-selected", String(isSelected))
            tab.tabIndex = isSelected ? 0 : -1
        }
        this.panel.setAttribute("aria-labelledby", `admin-${section}`)
        this.state.textContent = ""
        await this.load()
        if (!this.element.contains(document.activeElement)) this.tabs.querySelector("[aria-selected=true]").focus({ preventScroll: true })
    }

    async load() {
        const { section } = this
        try {
            const found = await read(page.root, subjectOf(section))
            if (section !== this.section) return
            this.found = found
            const { rows, add } = this[section](found)
            this.bar.replaceChildren(...[add].filter(Boolean))
            this.list.replaceChildren(...rows)
            if (rows.length === 0) this.list.append(element("li", {}, t(`people.none.${section}`)))
            if (!found.isComplete) this.list.append(element("li", {}, t("people.incomplete")))
        } catch (error) {
            this.state.textContent = explainChange(error)
        }
    }

    /// Sends a change and shows the result. Returns whether it succeeded.
    async send(body, done, subject = "accounts") {
        this.state.textContent = ""
        let problem = ""
        try {
            await change(page.root, subject, body)
            announce(done)
        } catch (error) {
            problem = explainChange(error)
        }
        await this.load()
        this.state.textContent = problem
        return problem === ""
    }

    row(key, name, texts, items) {
        const more = element("button.plain", {
            type: "button", "aria-haspopup": "menu", "aria-label": t("core.actionsFor", { name: key }),
            onclick: () => openMenu(items, more, { label: t("core.actionsFor", { name: key }) }),
        }, icon("more"))
        return element("li", {}, name, ...texts.map((text) => element("small", {}, text)), items.length > 0 && more)
    }

    addButton(label, run) {
        return element("button.primary", { type: "button", onclick: run }, label)
    }

    async ask(title, text, action, body, done, subject) {
        if (await confirm({ title, text, action, danger: true })) await this.send(body, done, subject)
    }

    // Accounts

    accounts({ accounts, groups }) {
        const rows = accounts.map(({ name, isEnabled }) => {
            const own = groups.filter(({ members }) => members.includes(name)).map((group) => group.name)
            return this.row(name, subjectNode(`user:${name}`),
                [isEnabled ? own.join(", ") : t("people.disabled")], [
                    { label: t("people.newPassword"), icon: "edit", run: () => this.setPassword(name) },
                    isEnabled
                        ? { label: t("people.disable"), icon: "lock", run: () => this.send({ action: "disable", name }, t("people.saved")) }
                        : { label: t("people.enable"), icon: "check", run: () => this.send({ action: "enable", name }, t("people.saved")) },
                    {
                        label: t("people.removeAccount"), icon: "delete", isDanger: true,
                        run: () => this.ask(t("people.removeTitle", { name }), t("people.removeAccountText"), t("people.remove"),
                            { action: "remove-account", name }, t("people.saved")),
                    },
                ])
        })
        return { rows, add: this.addButton(t("people.addAccount"), () => this.addAccount()) }
    }

    async addAccount() {
        let values = { name: "", password: newPassword(), rights: "none" }
        for (let problem = ""; ;) {
            values = await askFor(t("people.addAccount"), values, problem)
            if (!values) return
            const { rights, ...more } = values
            try {
                await change(page.root, "accounts", { action: "add-account", ...more, rights: rights === "none" ? null : rights })
                announce(t("people.saved"))
                return this.load()
            } catch (error) {
                problem = explainChange(error)
            }
        }
    }

    async setPassword(name) {
        let values = { password: newPassword() }
        for (let problem = ""; ;) {
            values = await askFor(t("people.passwordOf", { name }), values, problem)
            if (!values) return
            try {
                await change(page.root, "accounts", { action: "set-password", name, ...values })
                return announce(t("people.saved"))
            } catch (error) {
                problem = explainChange(error)
            }
        }
    }

    // Groups

    groups({ accounts, groups }) {
        const rows = groups.map(({ name: group, members }) => {
            const others = accounts.map(({ name }) => name).filter((name) => !members.includes(name))
            return this.row(group, subjectNode(`group:${group}`), [members.join(", ") || t("people.noMembers")], [
                ...(others.length > 0 ? [{ label: t("people.addMember"), icon: "user", run: () => this.pickMember(group, others, "add-member") }] : []),
                ...(members.length > 0 ? [{ label: t("people.removeMember"), icon: "close", run: () => this.pickMember(group, members, "remove-member") }] : []),
                {
                    label: t("people.removeGroup"), icon: "delete", isDanger: true,
                    run: () => this.ask(t("people.removeTitle", { name: group }), t("people.removeGroupText"), t("people.remove"),
                        { action: "remove-group", group }, t("people.saved")),
                },
            ])
        })
        return {
            rows, add: this.addButton(t("people.addGroup"), async () => {
                const values = await askFor(t("people.addGroup"), { group: "" })
                if (values) await this.send({ action: "add-group", ...values }, t("people.saved"))
            }),
        }
    }

    async pickMember(group, names, action) {
        const values = await askFor(t(action === "add-member" ? "people.addMemberTo" : "people.removeMemberFrom", { name: group }), { name: names[0] }, "", names)
        if (values) await this.send({ action, group, ...values }, t("people.saved"))
    }

    // Rules

    rules({ rules }) {
        const rows = rules.map((rule) => {
            const href = page.root + rule.path.slice(1) + (rule.path === "/" ? "" : "/")
            const path = visible(decode(rule.path))
            return this.row(`${subjectText(rule.subject)}, ${path}`, subjectNode(rule.subject), [path, rightsText(rule.rights)], [
                { label: t("core.whoMay"), icon: "user", run: () => showAccess(this.app, href).then(() => this.load()) },
                {
                    label: t("people.remove"), icon: "delete", isDanger: true,
                    run: () => this.ask(
                        t("people.removeRule", { name: subjectText(rule.subject) }), t("people.removeRuleText"), t("people.remove"),
                        { subject: rule.subject, path: rule.path, rights: null }, t("people.ruleRemoved"), "access"),
                },
            ])
        })
        return { rows }
    }

    // Sessions

    sessions({ sessions }) {
        const rows = sessions.map(({ id, account, device, used, usedFrom, created }) => this.row(account, subjectNode(`user:${account}`), [
            device || t("people.session.unknown"),
            t("people.session.used", { time: relativeTime(Date.parse(used)), address: usedFrom }),
            t("people.session.created", { time: dateTime(Date.parse(created)) }),
        ], [{
            label: t("people.session.end"), icon: "close", isDanger: true,
            run: () => this.ask(t("people.session.endTitle", { name: account }), t("people.session.endText"), t("people.session.end"),
                { end: id }, t("people.session.ended"), "sessions"),
        }]))
        return { rows }
    }

    // Locks

    locks({ locks }) {
        const rows = locks.map((lock) => {
            const path = visible(decode(lock.path))
            const who = lock.account ?? lock.owner ?? t("core.somebody")
            return this.row(path, element("span.people-name", {}, icon("lock"), element("bdi", {}, path)), [
                lock.created ? t("core.lockedSince", { who, time: dateTime(Date.parse(lock.created)) }) : who,
                t("change.lockEnds", { time: relativeTime(Date.parse(lock.expires)) }),
            ], [{
                label: t("change.breakNow"), icon: "lock", isDanger: true,
                run: () => this.ask(t("change.breakTitle", { name: path }), t("change.breakWarning"), t("change.breakNow"),
                    { token: lock.token }, t("change.lockBroken", { name: path }), "locks"),
            }])
        })
        return { rows }
    }

    // Uploads

    uploads({ uploads }) {
        const rows = uploads.map(({ id, path: encoded, account, network, received, length, expires }) => {
            const path = visible(decode(encoded))
            return this.row(path, element("span.people-name", {}, icon("upload"), element("bdi", {}, path)), [
                account ?? network ?? "",
                length === null ? bytes(received) : t("people.upload.amount", { received: bytes(received), length: bytes(length) }),
                t("people.upload.expires", { time: relativeTime(Date.parse(expires)) }),
            ], [{
                label: t("people.upload.cancel"), icon: "close", isDanger: true,
                run: () => this.ask(t("people.upload.cancelTitle", { name: path }), t("people.upload.cancelText"), t("people.upload.cancel"),
                    { id }, t("people.upload.cancelled"), "uploads"),
            }])
        })
        return { rows }
    }
}

/// Asks for the values of fields. Resolves with them, or undefined if the user cancels.
const askFor = async (title, values, problem = "", names = undefined) => {
    const error = element("p.field-error", { id: "ask-error", role: "alert" }, problem)
    const fields = Object.entries(values).map(([name, value]) => {
        const input = name === "rights"
            ? element("select", {}, presets.map((one) => element("option", { value: one, selected: one === value }, rightsText(one))))
            : names
                ? element("select", {}, names.map((one) => element("option", { value: one }, one)))
                : element("input", { type: "text", value, autocomplete: "off", spellcheck: "false", "aria-describedby": "ask-error" })
        return { name, input, node: element("label.field", {}, element("span", {}, t(`people.field.${name}`)), input) }
    })
    const isReady = () => {
        const empty = fields.find(({ input }) => input.value === "")
        error.textContent = empty ? t("people.error.empty") : ""
        empty?.input.focus()
        return !empty
    }
    const answer = await dialog({
        title, className: "people-ask", body: element("div", {}, ...fields.map(({ node }) => node), error),
        actions: [{ label: t("core.cancel"), value: false }, { label: t("people.save"), value: true, kind: "primary", isReady }],
    })
    return answer === true ? Object.fromEntries(fields.map(({ name, input }) => [name, input.value])) : undefined
}
