// Faults for all requests, scenario states, sessions, counters and collections.
import {api} from "./api.js"
import {button, element, labeled} from "./element.js"

const SWITCHES = [
    ["None", ""], ["2G", "* /** profile=2g\n"], ["3G", "* /** profile=3g\n"], ["LTE", "* /** profile=lte\n"],
    ["Bad Wi-Fi", "* /** profile=bad-wifi\n"], ["Offline", "* /** reset\n"],
]

export class State {
    constructor(root) {
        this.text = element("textarea", {rows: 6, spellcheck: "false", placeholder: "PUT /** delay=2s status=503 every=3"})
        this.message = element("p", {role: "status"})
        this.switches = SWITCHES.map(([name, text]) =>
            button(name, () => this.setFaults(text), "tool", {"aria-pressed": "false"}))
        this.state = element("div")
        root.append(
            element("div", {class: "card form"}, element("h2", {}, "Faults for all requests"),
                element("fieldset", {class: "choices"}, element("legend", {}, "Network"), this.switches),
                labeled("Fault rules, one per line", this.text), this.message,
                element("div", {class: "heading-row"}, button("Apply", () => this.setFaults(this.text.value), "primary"))),
            this.state)
    }

    async load() {
        const [faults, state] = await Promise.all([api("GET", "faults"), api("GET", "state")])
        // What has not changed on the server is not drawn again, because it may be being edited.
        if (faults.text !== this.faults) this.show(faults.text)
        const drawn = JSON.stringify(state)
        if (drawn === this.drawn) return
        this.drawn = drawn
        this.state.replaceChildren(
            card("Scenarios", Object.entries(state.scenarios).map(([name, value]) => this.scenario(name, value)),
                "No rule has a scenario."),
            card("Sessions", state.sessions.map(session => this.session(session)), "No sessions."),
            card("Counters", pairs(state.counters), "No template has used a counter."),
            card("Collections", pairs(state.collections), "No collection has objects."),
            element("p", {class: "note"}, `Seed: ${state.seed}. davit stub --seed ${state.seed} repeats everything random.`))
    }

    show(text) {
        this.faults = text
        this.text.value = text
        for (const [index, one] of this.switches.entries()) {
            one.setAttribute("aria-pressed", String(SWITCHES[index][1] === text))
        }
    }

    async setFaults(text) {
        try {
            await api("PUT", "faults", {text})
            this.show(text)
            this.say("Applied.", "good")
        } catch (error) {
            this.say(error.place ? `${error.place}: ${error.message}` : error.message, "problem")
        }
    }

    say(text, kind) {
        this.message.textContent = text
        this.message.className = kind
    }

    scenario(name, value) {
        const input = element("input", {value, "aria-label": `State of ${name}`})
        return element("form", {class: "heading-row", onsubmit: async event => {
            event.preventDefault()
            await api("PUT", "state", {scenarios: {[name]: input.value}})
        }}, element("span", {}, name), input, element("button", {class: "tool"}, "Set"))
    }

    session(session) {
        return element("div", {class: "heading-row"},
            element("span", {}, `${session.rule}, until ${new Date(session.expiry).toLocaleTimeString()}`),
            button("End", async () => {
                await api("DELETE", `sessions/${encodeURIComponent(session.token)}`)
            }, "tool", {"aria-label": `End the session of ${session.rule}`}))
    }
}

function card(title, items, empty) {
    return element("div", {class: "card"}, element("h2", {}, title),
        items.length ? items : element("p", {class: "note"}, empty))
}

function pairs(values) {
    return Object.entries(values).map(([name, value]) => element("p", {}, `${name}: ${value}`))
}
