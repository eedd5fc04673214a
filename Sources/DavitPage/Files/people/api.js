// Requests about accounts and rights (docs/access.md).

import { request } from "../dav.js"
import { explain } from "../errors.js"
import { loadTexts, t } from "../strings.js"

await loadTexts("people/")

/// Returns what the server knows about `subject`: "access" to a folder or, at the root, "accounts", "app-passwords", "sessions",
/// "locks" or "uploads".
export const read = async (href, subject) =>
    (await request("GET", `${href}?${subject}`, { headers: { Accept: "application/json" } })).json()

export const change = (href, subject, body) =>
    request("POST", `${href}?${subject}`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })

const known = [
    "account-exists", "group-exists", "grants-more", "is-member", "is-not-member", "last-administrator", "no-rule", "not-manager",
    "unknown-account", "unknown-group", "bad-label", "too-many-app-passwords", "unknown-app-password",
    "credential-changed", "password-required", "too-many-passwords", "unknown-session", "wrong-password",
]

/// Returns a sentence that explains why a change was refused.
export const explainChange = (error) => {
    if (known.includes(error.condition)) return t(`people.error.${error.condition}`)
    return error.status === 422 ? t("people.error.invalid") : explain(error)
}
