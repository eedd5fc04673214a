// What is said to the reader: aloud, for those who hear the page, as short messages at the lower edge, which go by
// themselves, unless somebody is at them, and above the entries. It stays in reach whatever is open: a modal dialog makes everything outside of it
// inert, so that this moves inside.

import { element, icon, iconButton } from "./element.js"
import { t } from "./strings.js"

const kept = []

// The dialog in front of all others, or the body.
const top = () => [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body

const place = () => {
    const host = top()
    for (const node of kept) if (node.parentNode !== host) host.append(node)
}

/// Keeps `node` in front of every dialog.
const keepOnTop = (node) => {
    kept.push(node)
    place()
}

// A dialog that ends loses the attribute before it says so, and before anybody removes it.
new MutationObserver(place).observe(document.documentElement, { attributes: true, attributeFilter: ["open"], subtree: true })

const region = element("div.unseen", { role: "status", "aria-live": "polite" })
keepOnTop(region)

let pending
/// Says `text` when nothing else is being said. Of several at once the last counts.
export const announce = (text) => {
    clearTimeout(pending)
    // The same text again is heard again.
    region.textContent = ""
    pending = setTimeout(() => { region.textContent = text }, 60)
}

const toasts = element("div.toasts", { role: "region", "aria-label": t("core.messages") })
keepOnTop(toasts)

/// Shows `text`, with an action where there is one: {label, run}. `timeout` is in ms; what failed stays until it is dismissed.
/// Returns a function that takes it away.
export const toast = (text, { action, kind = "info", timeout = kind === "error" ? 0 : action ? 10_000 : 5_000 } = {}) => {
    let timer
    const end = () => {
        clearTimeout(timer)
        if (made.contains(document.activeElement)) document.querySelector("[role=grid] [tabindex='0']")?.focus()
        made.remove()
    }
    const wait = () => { if (timeout > 0) timer = setTimeout(end, timeout) }
    const made = element(`div.toast.${kind}`, {
        onpointerenter: () => clearTimeout(timer), onpointerleave: wait, onfocusin: () => clearTimeout(timer), onfocusout: wait,
    },
        element("p", {}, text),
        action && element("button.plain", { type: "button", onclick: () => { end(); action.run() } }, action.label),
        iconButton("close", t("core.dismiss"), end))
    toasts.append(made)
    while (toasts.children.length > 4) toasts.firstElementChild.remove()
    announce(text)
    wait()
    return end
}

let banners

/// Shows what has failed above the entries, until it is dismissed or something else is shown. `action`: {label, run}. `id` says what it
/// is about: there is one of each.
export const showBanner = (text, { action, kind = "error", id = "folder" } = {}) => {
    clearBanner(id)
    const made = element(`div.banner.${kind}`, { "data-id": id, role: kind === "error" ? "alert" : "status" },
        icon(kind === "error" ? "warning" : "info"), element("p", {}, text),
        action && element("button.plain", { type: "button", onclick: () => { made.remove(); action.run() } }, action.label),
        iconButton("close", t("core.dismiss"), () => made.remove()))
    banners.append(made)
}
showBanner.into = (element) => { banners = element }

export const clearBanner = (id = "folder") => banners?.querySelector(`[data-id="${id}"]`)?.remove()
