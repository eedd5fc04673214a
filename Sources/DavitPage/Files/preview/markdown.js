// Renders Markdown as DOM nodes. Comments are omitted, other HTML is shown as text, and nothing is parsed as markup, so
// documents cannot run scripts.

import { page } from "../page.js"
import { isWithin, parentOf, segment } from "../href.js"
import { element, Inline } from "./inline.js"
import { languageNamed, languageOf } from "./languages.js"
import { Tokens } from "./tokens.js"

/// Maximum nesting of blocks; deeper ones are rendered as text.
const maximumDepth = 24

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/
const heading = /^ {0,3}(#{1,6})(?:\s([^]*))?$/
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}(?=\S)|[ \t]|$)/
const definition = /^ {0,3}\[([^\]\n]{1,300})\]:\s*<?([^\s>]+)>?/
/// Matches the delimiter row of a table, without trailing spaces.
const delimiterRow = /^ {0,3}\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?$/

/// Renders a document as a fragment.
/// @param href the address of the document, the base of its links.
export function renderMarkdown(text, href) {
    return new Renderer(href).render(text)
}

class Renderer {
    constructor(href) {
        this.base = new URL(href, location.href)
        this.definitions = new Map()
        this.anchors = new Map()
    }

    render(text) {
        const lines = withoutComments(text).split(/\r\n|\r|\n/)
        // Skip the front matter.
        if (lines[0] === "---") {
            const end = lines.indexOf("---", 1)
            if (end > 0 && end < 100) lines.splice(0, end + 1)
        }
        for (const line of lines) {
            const match = definition.exec(line)
            if (match) this.definitions.set(match[1].toLowerCase(), match[2])
        }
        const result = document.createDocumentFragment()
        this.blocks(lines.map((line) => line.replaceAll("\t", "    ")), result, 0)
        return result
    }

    blocks(lines, parent, depth, isTight = false) {
        let index = 0
        while (index < lines.length) {
            const line = lines[index]
            if (line.trim() === "" || definition.test(line)) index += 1
            else if (fence.test(line)) index = this.fenced(lines, index, parent)
            else if (heading.test(line)) {
                const [, marks, title] = heading.exec(line)
                this.heading(marks.length, withoutMarks(title ?? ""), parent)
                index += 1
            } else if (rule.test(line)) {
                parent.append(element("hr"))
                index += 1
            } else if (line.startsWith("    ")) index = this.indented(lines, index, parent)
            else if (quote.test(line) && depth < maximumDepth) index = this.quoted(lines, index, parent, depth)
            else if (item.test(line) && depth < maximumDepth) index = this.list(lines, index, parent, depth)
            else if (line.includes("|") && delimiterRow.test((lines[index + 1] ?? "").trimEnd())) index = this.table(lines, index, parent)
            else index = this.paragraph(lines, index, parent, isTight)
        }
    }

    heading(level, text, parent) {
        const node = element(`h${level}`)
        this.inline(text, node)
        const slug = node.textContent.toLowerCase().trim().replace(/[^\p{L}\p{N} _-]/gu, "").replace(/ /g, "-")
        const count = this.anchors.get(slug) ?? 0
        this.anchors.set(slug, count + 1)
        // The prefix avoids collisions with the page's own IDs.
        node.id = `md-${slug}${count ? `-${count}` : ""}`
        parent.append(node)
    }

    fenced(lines, start, parent) {
        const [, marks, info] = fence.exec(lines[start])
        const close = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`)
        let end = start + 1
        while (end < lines.length && !close.test(lines[end])) end += 1
        this.code(lines.slice(start + 1, end).join("\n"), languageNamed(info), parent)
        return end + 1
    }

    indented(lines, start, parent) {
        let end = start
        while (end < lines.length && (lines[end].startsWith("    ") || lines[end].trim() === "")) end += 1
        this.code(lines.slice(start, end).map((line) => line.slice(4)).join("\n").trimEnd(), "", parent)
        return end
    }

    code(text, language, parent) {
        const pre = element("pre", element("code", new Tokens(text, language).nodes(0, text.length)))
        pre.tabIndex = 0
        parent.append(pre)
    }

    quoted(lines, start, parent, depth) {
        let end = start
        while (end < lines.length && lines[end].trim() !== "" && (quote.test(lines[end]) || !this.begins(lines[end]))) end += 1
        const node = element("blockquote")
        this.blocks(lines.slice(start, end).map((line) => line.replace(quote, "")), node, depth + 1)
        parent.append(node)
        return end
    }

    list(lines, start, parent, depth) {
        const first = item.exec(lines[start])[2]
        const isOrdered = /\d/.test(first)
        const kind = first.at(-1)
        const items = []
        let index = start
        let isLoose = false
        while (index < lines.length) {
            const match = item.exec(lines[index])
            if (!match || match[2].at(-1) !== kind || rule.test(lines[index])) break
            const indent = match[1].length + match[2].length + Math.max(1, match[3].length)
            const content = [lines[index].slice(match[0].length)]
            index += 1
            while (index < lines.length) {
                const line = lines[index]
                if (line.trim() === "") {
                    let next = index + 1
                    while (next - index <= 100 && lines[next]?.trim() === "") next += 1
                    if (!lines[next]?.startsWith(" ".repeat(indent)) || lines[next].trim() === "") break
                    content.push(...Array(next - index).fill(""))
                    isLoose = true
                    index = next
                } else if (line.startsWith(" ".repeat(indent))) {
                    content.push(line.slice(indent))
                    index += 1
                } else if (content.at(-1).trim() !== "" && !this.begins(line)) {
                    content.push(line.trimStart())
                    index += 1
                } else break
            }
            items.push(content)
            const next = lines[index]?.trim() === "" ? index + 1 : index
            if (next > index && item.test(lines[next] ?? "") && item.exec(lines[next])[2].at(-1) === kind) {
                isLoose = true
                index = next
            }
        }
        const node = element(isOrdered ? "ol" : "ul")
        if (isOrdered && parseInt(first, 10) !== 1) node.start = parseInt(first, 10)
        for (const content of items) node.append(this.item(content, depth, !isLoose))
        parent.append(node)
        return Math.max(index, start + 1)
    }

    item(content, depth, isTight) {
        const node = element("li")
        const task = /^\[([ xX])\]\s+(.*)/.exec(content[0])
        if (task) {
            const box = element("input")
            box.type = "checkbox"
            box.disabled = true
            box.checked = task[1] !== " "
            box.ariaLabel = task[2].slice(0, 200)
            node.className = "task"
            node.append(box, " ")
            content[0] = task[2]
        }
        this.blocks(content, node, depth + 1, isTight)
        return node
    }

    table(lines, start, parent) {
        const cells = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"))
        const sides = cells(lines[start + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "end") : ""))
        const row = (line, name) => element("tr", ...cells(line).slice(0, sides.length).map((text, column) => {
            const cell = element(name)
            if (sides[column]) cell.style.textAlign = sides[column]
            this.inline(text, cell)
            return cell
        }))
        const body = element("tbody")
        let end = start + 2
        for (; end < lines.length && lines[end].includes("|"); end += 1) body.append(row(lines[end], "td"))
        const frame = element("div", element("table", element("thead", row(lines[start], "th")), body))
        frame.className = "md-table"
        frame.tabIndex = 0
        parent.append(frame)
        return end
    }

    paragraph(lines, start, parent, isTight) {
        let end = start + 1
        let level = 0
        while (end < lines.length && lines[end].trim() !== "") {
            const under = /^ {0,3}(=+|-+)\s*$/.exec(lines[end])
            if (under) {
                level = under[1][0] === "=" ? 1 : 2
                break
            }
            if (this.begins(lines[end])) break
            end += 1
        }
        const text = lines.slice(start, end).map((line) => line.trimStart()).join("\n").trimEnd()
        if (level) {
            this.heading(level, text, parent)
            return end + 1
        }
        const node = isTight ? document.createDocumentFragment() : element("p")
        this.inline(text, node)
        parent.append(node)
        return end
    }

    /// Whether a line interrupts a paragraph.
    begins(line) {
        return fence.test(line) || heading.test(line) || quote.test(line) || rule.test(line) || item.test(line)
    }

    /// Returns the URL of a link; undefined for unsafe schemes.
    link(destination) {
        if (!URL.canParse(destination, this.base)) return undefined
        const url = new URL(destination, this.base)
        return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : undefined
    }

    isOwn(url) {
        return isWithin(url.href, page.root)
    }

    anchor(destination, fill) {
        const url = this.link(destination)
        if (!url) return fill(element("span"))
        const node = fill(element("a"))
        if (destination.startsWith("#")) {
            node.href = `#md-${destination.slice(1)}`
        } else if (this.isOwn(url) && !url.search) {
            const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1)
            // Open Markdown files in the preview.
            const isShown = name && languageOf(decodeURIComponent(segmentOrEmpty(name))) === "markdown"
            node.href = isShown ? `${parentOf(url.pathname)}?preview=${segment(decodeURIComponent(name))}` : url.pathname + url.hash
        } else {
            node.href = url.href
            node.target = "_blank"
            node.rel = "noopener noreferrer nofollow"
        }
        return node
    }

    image(destination, text) {
        const url = this.link(destination)
        // Do not load external images: they would reveal the user's address to other servers.
        if (!url || !this.isOwn(url)) return this.anchor(destination, (node) => (node.append(text || destination), node))
        const node = element("img")
        node.alt = text
        node.loading = "lazy"
        node.src = url.pathname
        return node
    }

    inline(text, parent, depth = 0) {
        new Inline(this, text, depth).into(parent)
    }
}

// These functions do not search with regular expressions, which could take quadratic time on malicious documents.

/// Removes comments. An unclosed comment is text.
function withoutComments(text) {
    let result = ""
    let place = 0
    for (;;) {
        const start = text.indexOf("<!--", place)
        const end = start < 0 ? -1 : text.indexOf("-->", start + 4)
        if (end < 0) return result + text.slice(place)
        result += text.slice(place, start)
        place = end + 3
    }
}

/// Removes the closing marks of a heading.
function withoutMarks(text) {
    const title = text.trim()
    let end = title.length
    while (title[end - 1] === "#") end -= 1
    return end === 0 || /\s/.test(title[end - 1]) ? title.slice(0, end).trimEnd() : title
}

function segmentOrEmpty(name) {
    try {
        decodeURIComponent(name)
        return name
    } catch {
        return ""
    }
}
