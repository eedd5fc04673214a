// Signing in again after a session has ended, without leaving the page, so that nothing that was typed or queued is lost.

import { dialog } from "./dialog.js"
import { element } from "./element.js"
import { page } from "./page.js"
import { duration, t } from "./strings.js"

// The page also refreshes without the user, so a user who has cancelled is not asked again for some time, in ms.
const quietTime = 60_000
let cancelled = -Infinity

/// Asks for the password, and for a code if the account needs one, until the user has signed in. Users of a provider sign in
/// in another tab. Resolves with false if the user cancels.
export const signIn = async () => {
    if (performance.now() - cancelled < quietTime) return false
    const ways = await state()
    let fields = { do: "sign-in", name: page.user ?? "" }
    let problem = ""
    while (true) {
        const secret = await ask(fields.pending ? "code" : "password", problem, ways)
        if (secret === undefined) {
            const { user } = ways.provider ? await state() : {}
            if (user !== undefined) {
                // The page shows what the previous user may do.
                if (user !== page.user) location.reload()
                return true
            }
            cancelled = performance.now()
            return false
        }
        const answer = await send({ ...fields, [fields.pending ? "code" : "password"]: secret })
        if (answer.user !== undefined) return true
        if (answer.error === "code" || answer.error === "wrong-code") {
            fields = { do: "code", pending: answer.pending }
            problem = answer.error === "code" ? "" : t("core.signIn.wrongCode")
        } else {
            fields = { do: "sign-in", name: page.user ?? "" }
            problem = answer.error === "wrong" ? t("core.signIn.wrong")
                : answer.retryAfter ? t("error.retryAfter", { time: duration(answer.retryAfter) }) : t("error.busy")
        }
    }
}

// Resolves with {user} if the user has signed in, with {provider, acceptsPasswords} if users can sign in at a provider, and
// otherwise with {}.
const state = async () => {
    try {
        const response = await fetch(`${page.root}?account`, { headers: { Accept: "application/json" } })
        return response.headers.get("Content-Type") === "application/json" ? await response.json() : {}
    } catch {
        return {}
    }
}

// Sends a form. Resolves with {user} or {error, pending, retryAfter}.
const send = async (fields) => {
    try {
        const response = await fetch(`${page.root}?account`, {
            method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(fields),
        })
        return { ...await response.json(), retryAfter: Number(response.headers.get("Retry-After") ?? 0) }
    } catch {
        return { error: "network" }
    }
}

// Returns the link to the provider, in another tab, because the page would lose what was typed. When the user returns to this tab
// and has signed in, the dialog closes.
const providerLink = (name) => {
    const link = element("a", { href: `${page.root}?account&provider`, target: "_blank", rel: "noopener" }, t("core.signIn.with", { name }))
    const check = async () => {
        if (!link.isConnected) window.removeEventListener("focus", check)
        else if ((await state()).user !== undefined) link.closest("dialog")?.close()
    }
    window.addEventListener("focus", check)
    return element("p", {}, link, " ", t("core.signIn.tab"))
}

// Shows the dialog. Resolves with the text, or undefined if the user cancels or has signed in in another tab.
const ask = async (kind, problem, { provider, acceptsPasswords = true }) => {
    const isCode = kind === "code"
    const input = element("input", {
        type: isCode ? "text" : "password", autocomplete: isCode ? "one-time-code" : "current-password", required: true, autofocus: true,
        autocapitalize: "none", spellcheck: "false", "aria-invalid": problem ? "true" : null, "aria-describedby": "sign-in-problem",
    })
    const answer = await dialog({
        title: t("core.signIn.title"), className: "prompt sign-in",
        body: [
            element("p", {}, t("core.signIn.why")),
            provider !== undefined && !isCode && providerLink(provider),
            // Password managers find the password by the name.
            acceptsPasswords && element("label.field", {}, element("span", {}, t("core.user")),
                element("input", { type: "text", value: page.user ?? "", readonly: true, autocomplete: "username" })),
            acceptsPasswords && element("label.field", {}, element("span", {}, t(isCode ? "core.signIn.code" : "core.signIn.password")),
                input, element("p.field-error", { id: "sign-in-problem", role: "alert" }, problem)),
        ],
        actions: [
            { label: t("core.cancel"), value: false },
            ...acceptsPasswords
                ? [{ label: t("core.signIn.go"), value: true, kind: "primary", isReady: () => input.value !== "" }] : [],
        ],
    })
    return answer === true ? input.value : undefined
}
