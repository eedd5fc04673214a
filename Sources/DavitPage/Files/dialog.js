// Modal dialogs. The browser traps and restores the focus, and closes them with Escape.

import { element, iconButton } from "./element.js"
import { t } from "./strings.js"

let latest = 0

/// Shows a dialog. Resolves with the value of the chosen action, or undefined if the dialog was closed. If an action has
/// `isReady()`, the dialog closes only when it returns true.
export const dialog = ({ title, body, actions = [], className = "" }) =>
    new Promise((resolve) => {
        const id = `dialog-${++latest}`
        let result
        const buttons = actions.map(({ label, value, kind = "plain", isReady }) =>
            element(`button.${kind}`, {
                type: kind === "primary" || kind === "danger" ? "submit" : "button",
                onclick: (event) => {
                    event.preventDefault()
                    if (isReady && !isReady()) return
                    result = value
                    close()
                },
            }, label))
        const node = element(`dialog.dialog${className ? "." + className.split(" ").join(".") : ""}`, { "aria-labelledby": id },
            element("form", { method: "dialog" },
                element("div.dialog-head", {}, element("h2", { id }, title), iconButton("close", t("core.close"), () => close())),
                element("div.dialog-body", {}, body),
                buttons.length > 0 && element("div.dialog-foot", {}, buttons)))
        const end = () => {
            node.remove()
            resolve(result)
        }
        // The browser sends "close" only later. A key pressed until then must find the action ended, or it would be ignored as a
        // repetition.
        const close = () => {
            node.close()
            end()
        }
        node.addEventListener("cancel", (event) => { if (event.target === node) close() })
        node.addEventListener("close", end)
        // A click outside the dialog closes it.
        node.addEventListener("pointerdown", (event) => {
            if (event.target !== node) return
            node.addEventListener("pointerup", (up) => { if (up.target === node) close() }, { once: true })
        })
        document.body.append(node)
        node.showModal()
        // Make a scrollable body without focusable content focusable, so that the keyboard can scroll it.
        const scrolled = node.querySelector(".dialog-body")
        if (scrolled.scrollHeight > scrolled.clientHeight && !scrolled.querySelector("button, a, input, select, textarea, summary")) {
            scrolled.tabIndex = 0
            scrolled.setAttribute("role", "group")
            scrolled.setAttribute("aria-labelledby", id)
        }
        const first = node.querySelector("[autofocus]") ?? node.querySelector(".dialog-body :is(input, select, textarea, button, a)")
            ?? node.querySelector(".dialog-foot .primary") ?? node.querySelector(".dialog-foot button")
        first?.focus()
    })

/// Asks for confirmation. `danger` marks an irreversible action and keeps the initial focus off its button.
export const confirm = async ({ title, text, action, danger = false }) =>
    await dialog({
        title, className: "confirm",
        body: text instanceof Node ? text : element("p", {}, text),
        actions: [{ label: t("core.cancel"), value: false }, { label: action, value: true, kind: danger ? "danger" : "primary" }],
    }) === true

/// Asks for a text. Resolves with undefined if the user cancels. `validate` returns an error message for an invalid text.
export const prompt = async ({ title, label, value = "", select, validate = () => undefined, action }) => {
    const error = element("p.field-error", { id: "prompt-error", role: "alert" })
    const input = element("input", { type: "text", value, autocomplete: "off", spellcheck: "false", autofocus: true, "aria-describedby": "prompt-error" })
    const check = () => {
        const wrong = validate(input.value)
        error.textContent = wrong ?? ""
        input.setAttribute("aria-invalid", String(Boolean(wrong)))
        return !wrong
    }
    input.addEventListener("input", () => { if (error.textContent) check() })
    const answer = dialog({
        title, className: "prompt", body: element("label.field", {}, element("span", {}, label), input, error),
        actions: [{ label: t("core.cancel"), value: false }, { label: action, value: true, kind: "primary", isReady: check }],
    })
    input.setSelectionRange(...(select ?? [0, value.length]))
    return await answer === true ? input.value : undefined
}
