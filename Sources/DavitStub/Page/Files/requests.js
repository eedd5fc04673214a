// The live list of requests, and the details of one.
import {api} from "./api.js"
import {contentView} from "./content.js"
import {button, element} from "./element.js"

const LIMIT = 500

export class Requests {
    constructor(root, makeRule) {
        this.makeRule = makeRule
        this.entries = []
        this.current = null
        this.list = element("ul", {class: "entries", "aria-label": "Requests, newest first"})
        this.filter = element("input", {type: "search", placeholder: "Filter", "aria-label": "Filter requests",
            oninput: () => this.draw()})
        this.empty = element("div", {class: "empty"},
            element("p", {}, "No requests yet. Try:"),
            element("p", {}, element("code", {}, `curl -i ${location.origin}/hello`)))
        this.detail = element("div", {"aria-live": "polite"})
        root.append(element("div", {class: "heading-row"}, element("h2", {}, "Requests"), this.filter),
            element("div", {class: "split"}, element("div", {}, this.empty, this.list), this.detail))
        this.draw()
    }

    // Reads the requests that are newer than the newest in the list.
    async load() {
        const after = this.entries[0]?.number ?? 0
        const found = await api("GET", `requests?after=${after}`)
        for (const entry of found.requests.slice(-LIMIT)) this.add(entry, false)
        this.draw()
    }

    add(entry, isDrawn = true) {
        if (this.entries.some(other => other.number === entry.number)) return
        this.entries.unshift(entry)
        this.entries.length = Math.min(this.entries.length, LIMIT)
        if (isDrawn) this.draw()
    }

    clear() {
        this.entries = []
        this.current = null
        this.detail.replaceChildren()
        this.draw()
    }

    // Drawing waits for the next frame, so that many requests cost little.
    draw() {
        this.frame ??= requestAnimationFrame(() => {
            this.frame = null
            const wanted = this.filter.value.toLowerCase()
            const shown = this.entries.filter(entry => text(entry).toLowerCase().includes(wanted))
            const focused = document.activeElement?.dataset?.number
            this.list.replaceChildren(...shown.map(entry => element("li", {}, this.row(entry))))
            if (focused) this.list.querySelector(`[data-number="${focused}"]`)?.focus()
            this.list.hidden = shown.length === 0
            this.empty.hidden = this.entries.length > 0
        })
    }

    row(entry) {
        const isError = !entry.status || entry.status >= 400
        return element("button", {type: "button", class: "entry", "data-number": entry.number,
            "aria-current": entry.number === this.current ? "true" : false, onclick: () => this.show(entry.number)},
        element("span", {class: "method"}, entry.method), element("span", {class: "target"}, entry.target),
        element("span", {class: isError ? "status is-error" : "status"}, entry.status ?? "cut off"),
        element("small", {}, `${time(entry)} · `,
            entry.rule ?? (entry.isForwarded ? "forwarded" : element("span", {class: "is-missed"}, "no rule matched")),
            entry.problems.length ? ` · ${entry.problems.length} failed` : ""))
    }

    async show(number) {
        this.current = number
        this.draw()
        const entry = await api("GET", `requests/${number}`).catch(error => ({error}))
        if (this.current !== number) return
        if (entry.error) {
            this.detail.replaceChildren(element("p", {class: "problem"}, entry.error.message))
            return
        }
        this.detail.replaceChildren(this.details(entry))
        if (matchMedia("(max-width: 56rem)").matches) this.detail.scrollIntoView()
    }

    details(entry) {
        const address = `api/requests/${entry.number}`
        return element("article", {class: "card"},
            element("div", {class: "heading-row"}, element("h2", {}, `${entry.method} ${entry.target}`),
                button("Make a rule from this", () => this.makeRule(entry.number), "primary")),
            element("p", {class: "note"}, entry.rule ? `Answered by the rule ${entry.rule}` : entry.isForwarded ? "Forwarded" : "No rule matched",
                `, status ${entry.status ?? "none: the connection was cut off"}, ${entry.milliseconds} ms.`),
            list("Failed checks", entry.problems, one => [one.subject, `${one.problem}${one.value ? ` (${one.value})` : ""}`]),
            list("Rules that did not match", entry.misses, one => [one.rule, one.reason]),
            element("h3", {}, "Fields"), pairs(entry.fields),
            element("h3", {}, `Content, ${entry.contentLength} bytes`),
            contentView(entry.content, entry.fields, `${address}/content`, entry.isTruncated),
            element("h3", {}, "Response"), entry.responseFields.length ? pairs(entry.responseFields) : null,
            contentView(entry.response, entry.responseFields, `${address}/response`, false))
    }
}

function list(title, items, pair) {
    return items.length ? [element("h3", {}, title), pairs(items.map(pair))] : null
}

function pairs(items) {
    return element("dl", {class: "pairs"}, items.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))
}

function text(entry) {
    return `${entry.method} ${entry.target} ${entry.status} ${entry.rule ?? "no rule matched"}`
}

function time(entry) {
    return new Date(entry.time).toLocaleTimeString()
}
