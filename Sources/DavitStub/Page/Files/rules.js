// The list of rules, and the editor: simple fields for the common case above the JSON of the complete rule.
import {api} from "./api.js"
import {button, element, labeled} from "./element.js"

const TEMPLATE = {name: "new rule", methods: ["GET"], path: "/hello", replies: [{status: 200, text: "Hello!\n"}]}

export class Rules {
    constructor(root) {
        this.rules = []
        // The name of the rule in the editor; null for a new one.
        this.edited = undefined
        this.list = element("ul", {class: "entries", "aria-label": "Rules, newest first"})
        this.empty = element("div", {class: "empty"},
            element("p", {}, "No rules yet: every request is answered with 404."),
            element("p", {}, "Add one with New rule, or make one from a recorded request."))
        this.editor = element("div")
        root.append(element("div", {class: "heading-row"}, element("h2", {}, "Rules"), button("New rule", () => this.edit(null, TEMPLATE), "primary")),
            element("div", {class: "split"}, element("div", {}, this.empty, this.list), this.editor))
    }

    async load() {
        this.rules = (await api("GET", "rules")).rules
        this.draw()
    }

    draw() {
        this.list.hidden = this.rules.length === 0
        this.empty.hidden = this.rules.length > 0
        this.list.replaceChildren(...this.rules.map(rule => element("li", {}, this.row(rule))))
    }

    row(rule) {
        return element("button", {type: "button", class: "entry", "aria-current": rule.name === this.edited ? "true" : false,
            onclick: () => this.edit(rule.name, rule)},
        element("span", {class: "method"}, rule.methods?.join(" ") ?? "any"), element("span", {class: "target"}, rule.path),
        element("span", {class: "note"}, rule.enabled === false ? "off" : `${rule.hits}×`),
        element("small", {}, rule.name))
    }

    // Opens the editor; `name` is null for a rule that is not stored yet.
    edit(name, rule) {
        this.edited = name
        this.draw()
        const {hits, ...definition} = rule
        this.editor.replaceChildren(new RuleEditor(definition, name !== null, {
            save: changed => this.save(name, changed),
            remove: () => this.remove(name),
            copy: changed => this.edit(null, {...changed, name: `${changed.name} copy`}),
        }).root)
        this.editor.querySelector("input").focus()
    }

    async save(name, rule) {
        await api(name === null ? "POST" : "PUT", name === null ? "rules" : `rules/${encodeURIComponent(name)}`, rule)
        this.edited = rule.name
        await this.load()
        this.edit(rule.name, this.rules.find(other => other.name === rule.name) ?? rule)
    }

    async remove(name) {
        await api("DELETE", `rules/${encodeURIComponent(name)}`)
        this.edited = undefined
        this.editor.replaceChildren()
        await this.load()
    }
}

class RuleEditor {
    constructor(rule, isStored, actions) {
        this.actions = actions
        this.name = element("input", {value: rule.name, autocomplete: "off"})
        this.methods = element("input", {value: (rule.methods ?? []).join(" "), placeholder: "any", autocomplete: "off"})
        this.path = element("input", {value: rule.path, autocomplete: "off", spellcheck: "false"})
        this.status = element("input", {type: "number", min: 200, max: 599, value: rule.replies?.[0]?.status ?? 200})
        this.text = element("textarea", {rows: 4, spellcheck: "false"})
        this.enabled = element("input", {type: "checkbox", checked: rule.enabled !== false})
        this.json = element("textarea", {rows: 16, spellcheck: "false"})
        this.message = element("p", {role: "alert", hidden: true})
        for (const field of [this.name, this.methods, this.path, this.status, this.text, this.enabled]) {
            field.addEventListener("input", () => this.fieldsChanged())
        }
        this.json.addEventListener("input", () => this.jsonChanged())
        this.rule = rule
        this.json.value = JSON.stringify(rule, null, 2)
        this.showFields()
        this.root = element("form", {class: "card form", onsubmit: event => { event.preventDefault(); this.run(() => this.actions.save(this.rule)) }},
            element("h2", {}, isStored ? "Rule" : "New rule"),
            labeled("Name", this.name),
            element("div", {class: "columns"}, labeled("Methods", this.methods), labeled("Path", this.path), labeled("Status", this.status)),
            labeled("Text of the reply", this.text),
            element("label", {class: "check-box"}, this.enabled, "Enabled"),
            labeled("The complete rule as JSON", this.json),
            this.message,
            element("div", {class: "heading-row"}, element("button", {class: "primary"}, "Save"),
                isStored ? button("Duplicate", () => this.actions.copy(this.rule)) : null,
                isStored ? this.removal() : null))
    }

    // The first press asks, the second removes.
    removal() {
        const remove = button("Delete", () => {
            if (remove.dataset.asked) return void this.run(() => this.actions.remove())
            remove.dataset.asked = "yes"
            remove.textContent = "Really delete?"
        })
        return remove
    }

    showFields() {
        const reply = this.rule.replies?.[0]
        const kind = reply && ["json", "template", "base64", "file"].find(name => name in reply)
        this.name.value = this.rule.name ?? ""
        this.methods.value = (this.rule.methods ?? []).join(" ")
        this.path.value = this.rule.path ?? ""
        this.status.value = reply?.status ?? 200
        this.text.value = reply?.text ?? ""
        this.enabled.checked = this.rule.enabled !== false
        // Fields cannot express several replies, or other content than text.
        this.status.disabled = this.rule.replies?.length !== 1
        this.text.disabled = this.status.disabled || kind !== undefined
    }

    fieldsChanged() {
        const rule = {...this.rule, name: this.name.value, path: this.path.value}
        const methods = this.methods.value.split(/[\s,]+/).filter(Boolean)
        if (methods.length) rule.methods = methods
        else delete rule.methods
        if (this.enabled.checked) delete rule.enabled
        else rule.enabled = false
        if (!this.status.disabled) {
            const reply = {...rule.replies[0], status: Number(this.status.value)}
            if (!this.text.disabled && (this.text.value || "text" in reply)) reply.text = this.text.value
            rule.replies = [reply]
        }
        this.rule = rule
        this.json.value = JSON.stringify(rule, null, 2)
    }

    jsonChanged() {
        try {
            this.rule = JSON.parse(this.json.value)
            this.showFields()
            this.say("")
        } catch (error) {
            this.say(error.message, "problem")
        }
    }

    async run(work) {
        try {
            // Text that is not JSON must not be replaced by the last rule that was.
            JSON.parse(this.json.value)
            await work()
            document.querySelector("#rules [role=alert]")?.replaceChildren()
        } catch (error) {
            this.say(error.place ? `${error.place}: ${error.message}` : error.message, "problem")
        }
    }

    say(text, kind = "") {
        this.message.textContent = text
        this.message.className = kind
        this.message.hidden = text === ""
    }
}
