// Copies text to the clipboard. Browsers disable the Clipboard API on pages without TLS; there the page falls back to
// execCommand.

import { element } from "./element.js"
import { toast } from "./messages.js"
import { t } from "./strings.js"

export const copyText = async (text) => {
    try {
        await navigator.clipboard.writeText(text)
    } catch {
        const area = element("textarea.unseen", { readonly: true })
        area.value = text
        ;(document.querySelector("dialog[open]") ?? document.body).append(area)
        const before = document.activeElement
        area.select()
        document.execCommand("copy")
        area.remove()
        before?.focus()
    }
    toast(t("core.copied"))
}
