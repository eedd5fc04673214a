// Shows recorded content: JSON and XML indented, text, images, and other content by its first bytes.
import {element} from "./element.js"

const HEX_BYTES = 256

// `content` is {text} or {base64}; `address` is where the raw bytes are.
export function contentView(content, fields, address, isTruncated) {
    if (!content || content.text === "") return element("p", {class: "note"}, "No content.")
    const type = (fields.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "").toLowerCase()
    const parts = [body(content, type, address)]
    if (isTruncated) parts.push(element("p", {class: "note"}, "Only the first 64 KiB were kept."))
    parts.push(element("p", {}, element("a", {href: address, download: "content"}, "Download")))
    return element("div", {}, ...parts)
}

function body(content, type, address) {
    if (type.startsWith("image/") && !type.includes("svg")) {
        return element("img", {class: "recorded-picture", src: address, alt: "Recorded image"})
    }
    if (content.base64 !== undefined) return element("pre", {tabindex: 0}, hex(content.base64))
    return element("pre", {tabindex: 0}, pretty(content.text, type))
}

export function pretty(text, type) {
    if (/json/.test(type) || /^\s*[[{]/.test(text)) {
        try {
            return JSON.stringify(JSON.parse(text), null, 2)
        } catch {
            return text
        }
    }
    return /xml/.test(type) || /^\s*<\?xml/.test(text) ? indentXML(text) : text
}

// Puts each tag on a line of its own, unless it encloses only text.
function indentXML(text) {
    let depth = 0
    return text.replace(/>\s*</g, ">\n<").split("\n").map(line => {
        const tag = line.trim()
        if (tag.startsWith("</")) depth = Math.max(0, depth - 1)
        const indented = "  ".repeat(depth) + tag
        const opens = /^<[^!?/]/.test(tag) && !tag.endsWith("/>") && !/<\/[^>]*>$/.test(tag)
        if (opens) depth += 1
        return indented
    }).join("\n")
}

function hex(base64) {
    const bytes = atob(base64)
    const lines = []
    for (let start = 0; start < Math.min(bytes.length, HEX_BYTES); start += 16) {
        const line = bytes.slice(start, start + 16)
        const digits = [...line].map(one => one.charCodeAt(0).toString(16).padStart(2, "0")).join(" ")
        lines.push(`${start.toString(16).padStart(4, "0")}  ${digits.padEnd(47)}  ${line.replace(/[^ -~]/g, ".")}`)
    }
    if (bytes.length > HEX_BYTES) lines.push("…")
    return lines.join("\n")
}
