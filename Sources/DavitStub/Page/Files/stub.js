// The control page of davit stub: three views of one server.
import {api, watch} from "./api.js"
import {button, element} from "./element.js"
import {Requests} from "./requests.js"
import {Rules} from "./rules.js"
import {State} from "./state.js"

const tabs = [...document.querySelectorAll("[role=tab]")]
const panel = name => document.getElementById(name)

function open(name) {
    for (const tab of tabs) {
        const isOpen = tab.getAttribute("aria-controls") === name
        tab.setAttribute("aria-selected", String(isOpen))
        tab.tabIndex = isOpen ? 0 : -1
        panel(tab.getAttribute("aria-controls")).hidden = !isOpen
    }
    history.replaceState(null, "", `#${name}`)
}

for (const [index, tab] of tabs.entries()) {
    tab.addEventListener("click", () => open(tab.getAttribute("aria-controls")))
    tab.addEventListener("keydown", event => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key]
        if (!step) return
        const next = tabs[(index + step + tabs.length) % tabs.length]
        next.focus()
        next.click()
    })
}

const rules = new Rules(panel("rules"))
const requests = new Requests(panel("requests"), async number => {
    const made = await api("POST", `rules-from/${number}`)
    open("rules")
    rules.edit(null, made)
})
const state = new State(panel("state"))

const load = () => Promise.all([requests.load(), rules.load(), state.load()])
const connection = document.getElementById("connection")
watch({
    request: entry => requests.add(entry),
    rules: () => { rules.load(); state.load() },
    state: () => state.load(),
    reset: () => { requests.clear(); load() },
}, isOpen => {
    connection.textContent = isOpen ? "" : "Connection lost; trying again …"
    // Events may have been missed.
    if (isOpen) load()
})

document.getElementById("reset").addEventListener("click", () => {
    const boxes = {
        requests: element("input", {type: "checkbox", checked: true}),
        states: element("input", {type: "checkbox", checked: true}),
    }
    const dialog = element("dialog", {"aria-labelledby": "reset-title", onclose: () => dialog.remove()},
        element("h2", {id: "reset-title"}, "Reset"),
        element("p", {class: "note"}, "The rules stay."),
        element("label", {class: "check-box"}, boxes.requests, "Forget recorded requests"), element("br"),
        element("label", {class: "check-box"}, boxes.states, "Forget states, sessions, counters and stored objects"),
        element("div", {class: "dialog-foot"}, button("Cancel", () => dialog.close(), "plain"),
            button("Reset", async () => {
                await api("POST", "reset", {requests: boxes.requests.checked, states: boxes.states.checked})
                dialog.close()
            }, "danger")))
    document.body.append(dialog)
    dialog.showModal()
})

const wanted = location.hash.slice(1)
open(["requests", "rules", "state"].includes(wanted) ? wanted : "requests")
