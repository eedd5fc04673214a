// Syntax highlighting: splits text into spans by the tables in languages.js.

import { languages } from "./languages.js"

const compiled = new Map()

function compile(grammar) {
    const known = compiled.get(grammar)
    if (known) return known
    const rules = grammar.rules ?? grammar
    const compiledGrammar = {
        classes: rules.map(([name]) => name),
        words: new Set((grammar.words ?? "").split(/\s+/).filter(Boolean)),
        capitals: grammar.capitals,
        ignoresCase: grammar.ignoresCase,
        // The last group matches a whole word, so that no rule matches inside it.
        expression: new RegExp(`${rules.map(([, source]) => `(${source})`).join("|")}|([A-Za-z_$][\\w$]*)`, "gm"),
    }
    compiled.set(grammar, compiledGrammar)
    return compiledGrammar
}

/// Finds the highlighted ranges of a text.
/// @param found called with class, start and end; in order, without overlaps.
export function tokenize(text, language, found, grammar = languages[language], offset = 0) {
    if (!grammar) return
    const { classes, words, capitals, ignoresCase, expression } = compile(grammar)
    const matcher = new RegExp(expression)
    for (let match = matcher.exec(text); match; match = matcher.exec(text)) {
        if (match[0] === "") {
            matcher.lastIndex += 1
            continue
        }
        const start = offset + match.index
        const end = start + match[0].length
        const word = match[classes.length + 1]
        if (word !== undefined) {
            if (words.has(ignoresCase ? word.toLowerCase() : word)) found("k", start, end)
            else if (capitals && /^[A-Z]\w*[a-z]/.test(word)) found("t", start, end)
            continue
        }
        const name = classes[match.findIndex((group, index) => index > 0 && group !== undefined) - 1]
        if (Array.isArray(name)) tokenize(match[0], undefined, found, name, start)
        else found(name, start, end)
    }
}

/// Stores the ranges compactly; parts are rendered when they become visible.
export class Tokens {
    constructor(text, language) {
        this.text = text
        this.classes = []
        this.bounds = []
        tokenize(text, language, (name, start, end) => {
            this.classes.push(name)
            this.bounds.push(start, end)
        })
    }

    /// Renders a range of the text as nodes.
    nodes(from, to) {
        const result = document.createDocumentFragment()
        let low = 0
        let high = this.classes.length
        while (low < high) {
            const middle = (low + high) >> 1
            if (this.bounds[2 * middle + 1] <= from) low = middle + 1
            else high = middle
        }
        let place = from
        for (; low < this.classes.length && this.bounds[2 * low] < to; low += 1) {
            const start = Math.max(from, this.bounds[2 * low])
            const end = Math.min(to, this.bounds[2 * low + 1])
            if (start > place) result.append(this.text.slice(place, start))
            const span = document.createElement("span")
            span.className = `tok-${this.classes[low]}`
            span.textContent = this.text.slice(start, end)
            result.append(span)
            place = end
        }
        if (place < to) result.append(this.text.slice(place, to))
        return result
    }
}
