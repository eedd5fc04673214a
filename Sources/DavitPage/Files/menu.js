// Popup menus at a point or below a button.

import { element, icon } from "./element.js"

let current

export const closeMenu = () => current?.close()

/// Opens a menu. `items`: {label, icon, key, run, isChecked, isDanger} or "line". `at` is an element or {x, y}. Closing restores
/// the focus and calls `onClose`.
export const openMenu = (items, at, { label, onClose } = {}) => {
    const isAgain = current?.at === at && at instanceof Element
    closeMenu()
    if (isAgain || items.length === 0) return
    const before = document.activeElement
    const buttons = []
    const menu = element("div.menu", { role: "menu", "aria-label": label }, items.map((item) => {
        if (item === "line") return element("div.menu-line", { role: "separator" })
        const role = item.isChecked === undefined ? "menuitem" : "menuitemradio"
        const button = element(`button.menu-item${item.isDanger ? ".danger" : ""}`, {
            type: "button", role, tabindex: "-1", "aria-checked": item.isChecked === undefined ? null : String(item.isChecked),
            onclick: (event) => {
                close()
                item.run(event)
            },
        }, item.icon ? icon(item.icon) : item.isChecked !== undefined && element("span.check", {}, item.isChecked ? icon("check") : ""),
        element("span.menu-label", {}, item.label), item.key && element("kbd", {}, item.key))
        buttons.push(button)
        return button
    }))
    const close = () => {
        if (current?.menu !== menu) return
        current = undefined
        document.removeEventListener("pointerdown", onOutside, true)
        removeEventListener("resize", close)
        if (at instanceof Element) at.setAttribute("aria-expanded", "false")
        const hadFocus = menu.contains(document.activeElement)
        menu.remove()
        if (hadFocus) before?.focus({ preventScroll: true })
        onClose?.()
    }
    const onOutside = (event) => {
        if (menu.contains(event.target) || (at instanceof Element && at.contains(event.target))) return
        close()
    }
    const move = (step, from = buttons.indexOf(document.activeElement)) =>
        buttons[(from + step + buttons.length) % buttons.length].focus()
    menu.addEventListener("keydown", (event) => {
        switch (event.key) {
        case "ArrowDown": move(1); break
        case "ArrowUp": move(-1); break
        case "Home": move(0, 0); break
        case "End": move(0, buttons.length - 1); break
        case "Escape": case "Tab": close(); break
        default: {
            if (event.key.length !== 1 || event.key === " " || event.ctrlKey || event.metaKey) return
            const from = buttons.indexOf(document.activeElement) + 1
            const next = [...buttons.slice(from), ...buttons.slice(0, from)]
                .find((button) => button.textContent.toLowerCase().startsWith(event.key.toLowerCase()))
            next?.focus()
        }
        }
        event.stopPropagation()
        event.preventDefault()
    })
    // Place the menu inside the topmost open dialog, if any.
    const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.querySelector("main") ?? document.body
    host.append(menu)
    place(menu, at)
    current = { menu, at, close }
    if (at instanceof Element) at.setAttribute("aria-expanded", "true")
    document.addEventListener("pointerdown", onOutside, true)
    addEventListener("resize", close)
    buttons[0].focus({ preventScroll: true })
}

const margin = 8
const place = (menu, at) => {
    const isRight = document.documentElement.dir === "rtl"
    const size = menu.getBoundingClientRect()
    const anchor = at instanceof Element ? at.getBoundingClientRect() : { left: at.x, right: at.x, top: at.y, bottom: at.y }
    let x = isRight ? anchor.right - size.width : anchor.left
    if (x + size.width > innerWidth - margin) x = anchor.right - size.width
    let y = anchor.bottom + (at instanceof Element ? 4 : 0)
    if (y + size.height > innerHeight - margin) y = Math.max(margin, Math.min(anchor.top - size.height - 4, innerHeight - size.height - margin))
    menu.style.left = `${Math.max(margin, x)}px`
    menu.style.top = `${Math.max(margin, y)}px`
}
