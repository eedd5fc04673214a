// “Who may”: the rights to a folder, the rules that they come from, and changes to the rules.

import { confirm, dialog } from "../dialog.js"
import { element, iconButton, styleSheet } from "../element.js"
import { decode, nameOf, visible } from "../href.js"
import { announce, toast } from "../messages.js"
import { page } from "../page.js"
import { number, t } from "../strings.js"
import { change, explainChange, read } from "./api.js"
import { rightsSelect, rightsText, subjectNode, subjectText } from "./rules.js"

const openedAtMost = 12

/// Shows who may do what in a folder.
export const showAccess = async (app, href) => {
    const [found] = await Promise.all([read(href, "access").catch((error) => error), styleSheet("people/people.css")])
    if (found instanceof Error) return toast(explainChange(found), { kind: "error" })
    const panel = new Access(href, found)
    await dialog({
        title: t("people.title", { name: visible(nameOf(href)) || page.title || t("core.files") }), body: panel.element,
        className: "people-dialog", actions: [{ label: t("core.close"), value: true, kind: "primary" }],
    })
    if (panel.isChanged) app.folder.refresh()
}

class Access {
    isChanged = false

    constructor(href, found) {
        this.href = href
        this.problem = element("p.field-error", { role: "alert" })
        this.own = element("ul.people-list", { "aria-labelledby": "people-own" })
        this.rest = element("div")
        this.adding = element("div.people-add")
        this.element = element("div", {},
            element("h3", { id: "people-own" }, t("people.rulesHere")), this.own, this.adding, this.problem, this.rest)
        this.fill(found)
    }

    fill(found) {
        this.found = found
        const { path, rules, people } = found
        const here = rules.filter((rule) => rule.path === path && !rule.isImplied)
        const isBelow = (rule) => rule.path !== null && rule.path !== path && rule.path.startsWith(path === "/" ? path : `${path}/`)
        const above = rules.filter((rule) => !here.includes(rule) && !isBelow(rule))
        const below = rules.filter(isBelow)
        this.own.replaceChildren(...here.map((rule) => this.ownRow(rule)),
            ...above.map((rule) => element("li.is-inherited", {}, subjectNode(rule.subject),
                element("span.people-rights", {}, rightsText(rule.rights)), element("small", {}, rule.isImplied ? t("people.homeFolder") : this.originOf(rule)))))
        if (rules.length === below.length) this.own.append(element("li", {}, t("people.noRules")))
        this.adding.replaceChildren(...this.addingRow(here))
        this.rest.replaceChildren(...[
            below.length > 0 && this.section("people.rulesBelow", below.length, below.map((rule) => element("li", {},
                subjectNode(rule.subject), element("span.people-rights", {}, rightsText(rule.rights)),
                element("small", {}, shownPath(rule.path)), this.removeButton(rule)))),
            this.section("people.who", people.length, people.map((one) => element("li", {},
                subjectNode(`user:${one.name}`),
                element("span.people-rights", {}, one.isEnabled ? rightsText(one.rights) : t("people.disabled")),
                element("small", {}, one.from.length === 0 ? t("people.noRuleApplies")
                    : one.from.map((index) => this.sourceOf(rules[index])).join(", "))))),
            !found.isComplete && element("p", {}, t("people.incomplete")),
        ].filter(Boolean))
    }

    section(title, count, rows) {
        return element("details.people-section", { open: count <= openedAtMost },
            element("summary", {}, t(title), element("span.people-count", {}, number(count))),
            element("ul.people-list", {}, rows))
    }

    /// Names the folder that a rule is inherited from.
    originOf({ path }) { return path === null ? t("people.fromAbove") : t("people.from", { path: shownPath(path) }) }

    sourceOf(rule) {
        const subject = subjectText(rule.subject)
        if (rule.isImplied) return `${subject} (${t("people.homeFolder")})`
        return rule.path === this.found.path ? subject : `${subject} (${this.originOf(rule)})`
    }

    ownRow(rule) {
        const subject = subjectText(rule.subject)
        const select = rightsSelect(rule.rights, {
            "aria-label": t("people.rightsOf", { name: subject }), "data-rule": rule.subject,
            onchange: () => this.send({ subject: rule.subject, rights: select.value }, t("people.saved")),
        })
        return element("li", {}, subjectNode(rule.subject), select, this.removeButton(rule))
    }

    removeButton(rule) {
        return iconButton("close", t("people.removeRule", { name: subjectText(rule.subject) }), async () => {
            const isSure = await confirm({
                title: t("people.removeRule", { name: subjectText(rule.subject) }), text: t("people.removeRuleText"),
                action: t("people.remove"), danger: true,
            })
            if (isSure) await this.send({ subject: rule.subject, rights: null, path: rule.path }, t("people.ruleRemoved"))
        })
    }

    addingRow(here) {
        const taken = new Set(here.map(({ subject }) => subject))
        const { people, groups } = this.found
        const options = (subjects) => subjects.filter((one) => !taken.has(one)).map((one) => element("option", { value: one }, subjectText(one)))
        const group = (label, subjects) => {
            const free = options(subjects)
            return free.length > 0 && element("optgroup", { label }, free)
        }
        const who = element("select", { "aria-label": t("people.subject") }, [
            ...options(["everyone"]), group(t("people.groups"), groups.map((name) => `group:${name}`)),
            group(t("people.accounts"), people.map(({ name }) => `user:${name}`))].filter(Boolean))
        if (who.options.length === 0) return []
        const rights = rightsSelect("view", { "aria-label": t("people.rights") })
        return [who, rights, element("button.plain", {
            type: "button", onclick: () => this.send({ subject: who.value, rights: rights.value }, t("people.saved")),
        }, t("people.add"))]
    }

    async send(body, done) {
        this.problem.textContent = ""
        const focused = document.activeElement?.dataset?.rule
        try {
            await change(this.href, "access", body)
            this.isChanged = true
            announce(done)
        } catch (error) {
            this.problem.textContent = explainChange(error)
        }
        try {
            this.fill(await read(this.href, "access"))
        } catch (error) {
            this.problem.textContent = explainChange(error)
        }
        const again = focused ? [...this.own.querySelectorAll("select")].find((one) => one.dataset.rule === focused) : undefined
        const next = again ?? this.adding.querySelector("select")
        if (!this.element.contains(document.activeElement)) next?.focus()
    }
}

const shownPath = (path) => visible(decode(path))
