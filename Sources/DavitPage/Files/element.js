// Helpers that create DOM elements.

import { splitName } from "./names.js"
import { page } from "./page.js"

/// `element("button.primary", {type: "button", onclick}, "Text", child)`: attributes that begin with "on" are listeners; children
/// and attributes that are false, null or undefined are ignored.
export const element = (name, attributes = {}, ...children) => {
    const [tag, ...classes] = name.split(".")
    const node = document.createElement(tag)
    if (classes.length > 0) node.className = classes.join(" ")
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) node.addEventListener(key.slice(2), value)
        else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value === true ? "" : value)
    }
    node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false))
    return node
}

const namespace = "http://www.w3.org/2000/svg"
/// Creates an icon from icons.svg. Icons are hidden from assistive technology, so an icon alone needs a label.
export const icon = (name, className = "") => {
    const svg = document.createElementNS(namespace, "svg")
    svg.setAttribute("class", `icon ${className}`.trim())
    svg.setAttribute("aria-hidden", "true")
    const use = document.createElementNS(namespace, "use")
    use.setAttribute("href", `${page.files}icons.svg#${name}`)
    svg.append(use)
    return svg
}

/// Creates a button with only an icon and an accessible label.
export const iconButton = (name, label, onclick, className = "") =>
    element(`button.icon-button${className ? "." + className : ""}`, { type: "button", "aria-label": label, title: label, onclick }, icon(name))

/// Fills `node` with a name. If it does not fit, the middle is truncated: the extension stays visible and, for very long
/// names, the last word of the stem too.
export const fillName = (node, name, isFolder) => {
    const [stem, ending] = name.length < 20 || isFolder ? [name, ""] : splitName(name)
    const tail = name.length > 40 ? /[\s_-]([^\s_-]{1,8})$/.exec(stem)?.[1] ?? "" : ""
    node.classList.toggle("is-split", ending !== "")
    const parts = ending ? [stem.slice(0, stem.length - tail.length), tail + ending] : [name]
    node.replaceChildren(...ending ? parts.map((part) => element("span", {}, part)) : parts)
}

const sheets = new Map()
/// Adds a style sheet once. The promise resolves when it has loaded or failed to load.
export const styleSheet = (name) => {
    if (!sheets.has(name)) {
        sheets.set(name, new Promise((resolve) => {
            document.head.append(element("link", { rel: "stylesheet", href: page.files + name, onload: resolve, onerror: resolve }))
        }))
    }
    return sheets.get(name)
}
