// Messages: announcements for screen readers, toasts at the bottom, and banners above the entries. A modal dialog makes
// everything outside it inert, so the announcements and toasts move into the topmost dialog.

import { element, icon, iconButton } from "./element.js"
import { t } from "./strings.js"

const pinned = []

// Returns the topmost dialog, or the body.
const top = () => [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body

const place = () => {
    const host = top()
    for (const node of pinned) if (node.parentNode !== host) host.append(node)
}

/// Keeps `node` inside the topmost dialog.
const keepOnTop = (node) => {
    pinned.push(node)
    place()
}

// A dialog that closes loses the attribute `open` before its `close` event and before it is removed.
new MutationObserver(place).observe(document.documentElement, { attributes: true, attributeFilter: ["open"], subtree: true })

const region = element("div.unseen", { role: "status", "aria-live": "polite" })
keepOnTop(region)

let pending
/// Announces `text` to screen readers. If several calls follow each other quickly, only the last text is announced.
export const announce = (text) => {
    clearTimeout(pending)
    // Clear the region so that an identical text is announced again.
    region.textContent = ""
    pending = setTimeout(() => { region.textContent = text }, 60)
}

const toasts = element("div.toasts", { role: "region", "aria-label": t("core.messages") })
keepOnTop(toasts)

/// Shows a toast, optionally with an action {label, run}. Removes it after `timeout` ms without hover or focus; errors stay until
/// they are dismissed. Returns a function that removes the toast.
export const toast = (text, { action, kind = "info", timeout = kind === "error" ? 0 : action ? 10_000 : 5_000 } = {}) => {
    let timer
    const end = () => {
        clearTimeout(timer)
        if (node.contains(document.activeElement)) document.querySelector("[role=grid] [tabindex='0']")?.focus()
        node.remove()
    }
    const wait = () => { if (timeout > 0) timer = setTimeout(end, timeout) }
    const node = element(`div.toast.${kind}`, {
        onpointerenter: () => clearTimeout(timer), onpointerleave: wait, onfocusin: () => clearTimeout(timer), onfocusout: wait,
    },
        element("p", {}, text),
        action && element("button.plain", { type: "button", onclick: () => { end(); action.run() } }, action.label),
        iconButton("close", t("core.dismiss"), end))
    toasts.append(node)
    while (toasts.children.length > 4) toasts.firstElementChild.remove()
    announce(text)
    wait()
    return end
}

let banners

/// Shows a banner above the entries until it is dismissed or replaced. `action`: {label, run}. There is one banner for each
/// `id`.
export const showBanner = (text, { action, kind = "error", id = "folder" } = {}) => {
    clearBanner(id)
    const node = element(`div.banner.${kind}`, { "data-id": id, role: kind === "error" ? "alert" : "status" },
        icon(kind === "error" ? "warning" : "info"), element("p", {}, text),
        action && element("button.plain", { type: "button", onclick: () => { node.remove(); action.run() } }, action.label),
        iconButton("close", t("core.dismiss"), () => node.remove()))
    banners.append(node)
}
showBanner.into = (element) => { banners = element }

export const clearBanner = (id = "folder") => banners?.querySelector(`[data-id="${id}"]`)?.remove()
