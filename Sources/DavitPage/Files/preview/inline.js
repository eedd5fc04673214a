// Inline Markdown: emphasis, code, links, images.

/// Creates an element without attributes; callers set allowed attributes individually.
export function element(name, ...children) {
    const node = document.createElement(name)
    node.append(...children)
    return node
}

const special = /[\\`*_~[\]!<&\n]|https?:\/\//g
const entities = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: "\u00A0", copy: "©", reg: "®", mdash: "—", ndash: "–", hellip: "…", rarr: "→", larr: "←" }

/// Limits of nested emphasis, which creates nested elements that browsers lay out recursively. A longer run of a mark is text.
/// If more marks are open, the outermost one becomes text.
const maximumRun = 4
const maximumOpeners = 32

/// Parses the text of one block in linear time: openers wait on a stack for their closers.
export class Inline {
    constructor(renderer, text, depth) {
        this.renderer = renderer
        this.text = text
        this.depth = depth
        this.nodes = []
        /// Open emphasis marks: mark, count, index in `nodes`.
        this.openers = []
        this.waiting = { "*": 0, "_": 0, "~": 0 }
        this.closers = this.brackets()
    }

    /// Returns the closing bracket of each opening bracket.
    brackets() {
        const open = []
        const found = new Map()
        for (let index = 0; index < this.text.length; index += 1) {
            const character = this.text[index]
            if (character === "\\") index += 1
            else if (character === "[") open.push(index)
            else if (character === "]" && open.length) found.set(open.pop(), index)
        }
        return found
    }

    into(parent) {
        let place = 0
        while (place < this.text.length) {
            special.lastIndex = place
            const match = special.exec(this.text)
            const at = match ? match.index : this.text.length
            if (at > place) this.nodes.push(this.text.slice(place, at))
            if (!match) break
            place = this.mark(match[0], at)
        }
        // Append one by one, because the number of arguments is limited.
        for (const node of this.nodes) parent.append(node)
    }

    mark(mark, at) {
        const { text } = this
        if (mark === "\\") {
            if (text[at + 1] === "\n") return this.push(element("br"), at + 2)
            const isMark = /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")
            return this.push(isMark ? text[at + 1] : "\\", at + (isMark ? 2 : 1))
        }
        if (mark === "\n") {
            const last = this.nodes.at(-1)
            if (typeof last === "string" && last.endsWith("  ")) {
                this.nodes[this.nodes.length - 1] = last.trimEnd()
                return this.push(element("br"), at + 1)
            }
            return this.push("\n", at + 1)
        }
        if (mark === "`") return this.codeSpan(at)
        if (mark === "*" || mark === "_" || mark === "~") return this.emphasis(mark, at)
        if (mark === "&") {
            const entity = /^&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,8}));/.exec(text.slice(at, at + 12))
            const number = entity && (entity[1] ? Number(entity[1]) : entity[2] ? parseInt(entity[2], 16) : undefined)
            const found = number === undefined ? Object.hasOwn(entities, entity?.[3] ?? "") && entities[entity[3]]
                : number > 0 && number < 0x110000 && String.fromCodePoint(number)
            return found ? this.push(found, at + entity[0].length) : this.push("&", at + 1)
        }
        if (mark === "<") {
            const address = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,255})>/.exec(text.slice(at, at + 2100))?.[1]
            if (!address) return this.push("<", at + 1)
            const to = /^(?:https?:|mailto:)/.test(address) ? address : `mailto:${address}`
            return this.push(this.renderer.anchor(to, (node) => (node.append(address), node)), at + address.length + 2)
        }
        if (mark.startsWith("http")) {
            const address = /^[^\s<>*`\])]{1,2000}/.exec(text.slice(at, at + 2000))[0].replace(/[.,:;!?'"]+$/, "")
            return this.push(this.renderer.anchor(address, (node) => (node.append(address), node)), at + address.length)
        }
        if (mark === "!" && text[at + 1] !== "[") return this.push("!", at + 1)
        return mark === "]" ? this.push("]", at + 1) : this.bracket(at, mark === "!")
    }

    push(node, next) {
        this.nodes.push(node)
        return next
    }

    codeSpan(at) {
        let count = 1
        while (this.text[at + count] === "`") count += 1
        const marks = "`".repeat(count)
        let end = this.text.indexOf(marks, at + count)
        for (let tries = 0; end >= 0 && (this.text[end + count] === "`") && tries < 50; tries += 1) {
            while (this.text[end] === "`") end += 1
            end = this.text.indexOf(marks, end)
        }
        if (end < 0 || this.text[end + count] === "`") return this.push(marks, at + count)
        let code = this.text.slice(at + count, end).replaceAll("\n", " ")
        if (/^ .* $/.test(code) && code.trim()) code = code.slice(1, -1)
        return this.push(element("code", code), end + count)
    }

    emphasis(mark, at) {
        let count = 1
        while (this.text[at + count] === mark) count += 1
        const next = at + count
        const before = this.text[at - 1] ?? " "
        const after = this.text[next] ?? " "
        const isWord = (character) => /[\p{L}\p{N}]/u.test(character)
        const opens = /\S/.test(after) && (isWord(after) || !isWord(before)) && !(mark === "_" && isWord(before))
        const closes = /\S/.test(before) && !(mark === "_" && isWord(after))
        if ((mark === "~" && count !== 2) || count > maximumRun) return this.push(mark.repeat(count), next)
        let left = count
        while (closes && left && this.waiting[mark]) {
            const opener = this.pop(mark)
            const used = mark === "~" ? 2 : Math.min(2, opener.count, left)
            const name = mark === "~" ? "s" : used === 2 ? "strong" : "em"
            const inner = this.nodes.splice(opener.at + 1)
            this.nodes[opener.at] = mark.repeat(opener.count - used)
            const node = element(name)
            for (const child of inner) node.append(child)
            this.nodes.push(node)
            left -= used
            if (opener.count > used) {
                opener.count -= used
                this.openers.push(opener)
                this.waiting[mark] += 1
            }
        }
        if (!left) return next
        this.nodes.push(mark.repeat(left))
        if (opens) {
            // The outermost opener becomes text.
            if (this.openers.length === maximumOpeners) this.waiting[this.openers.shift().mark] -= 1
            this.openers.push({ mark, count: left, at: this.nodes.length - 1 })
            this.waiting[mark] += 1
        }
        return next
    }

    /// Removes and returns the last opener of a mark; later openers of other marks become text.
    pop(mark) {
        for (;;) {
            const opener = this.openers.pop()
            this.waiting[opener.mark] -= 1
            if (opener.mark === mark) return opener
        }
    }

    bracket(at, isImage) {
        const start = at + (isImage ? 2 : 1)
        const end = this.closers.get(start - 1)
        const give = () => this.push(isImage ? "![" : "[", start)
        if (end === undefined || this.depth > 8) return give()
        const label = this.text.slice(start, end)
        let next = end + 1
        let destination
        const direct = this.text[next] === "("
            && /^\(\s*(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\([^\s()]{0,500}\)){0,2000}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/.exec(this.text.slice(next, next + 3100))
        if (direct) {
            destination = (direct[1] ?? direct[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1")
            next += direct[0].length
        } else {
            const second = this.text[next] === "[" ? this.closers.get(next) : undefined
            const name = second === undefined ? label : this.text.slice(next + 1, second) || label
            destination = this.renderer.definitions.get(name.toLowerCase())
            if (destination !== undefined && second !== undefined) next = second + 1
        }
        if (destination === undefined) return give()
        if (isImage) return this.push(this.renderer.image(destination, label), next)
        return this.push(this.renderer.anchor(destination, (node) => {
            this.renderer.inline(label, node, this.depth + 1)
            return node
        }), next)
    }
}
