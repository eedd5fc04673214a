// Error messages.

import { visible, nameOf } from "./href.js"
import { hasRights } from "./rights.js"
import { duration, t } from "./strings.js"

const byCondition = {
    "lock-token-submitted": "locked", "no-conflicting-lock": "locked", "lock-token-matches-request-uri": "locked",
    "quota-not-exceeded": "full", "sufficient-disk-space": "full", cut: "cut",
}
const byStatus = {
    0: "network", 400: "badRequest", 401: "signIn", 403: "forbidden", 404: "gone", 405: "exists", 408: "slow", 409: "noParent",
    410: "gone", 412: "changed", 413: "tooLarge", 414: "nameTooLong", 415: "badRequest", 422: "badRequest", 423: "locked",
    428: "changed", 429: "tooMany", 431: "nameTooLong", 500: "server", 501: "cannot", 502: "elsewhere", 503: "busy", 504: "slow",
    507: "full",
}

/// Returns a sentence that explains an error, a DavError or any other.
export const explain = (error) => {
    if (error?.name === "NotLoaded") return t("core.notLoaded")
    if (error?.name !== "DavError") return t("error.unknown")
    const kind = byCondition[error.condition] ?? byStatus[error.status]
    if (kind === "forbidden" && hasRights) return t("error.noRight")
    const text = kind ? t(`error.${kind}`) : t("error.status", { status: String(error.status) })
    return error.retryAfter > 0 ? `${text} ${t("error.retryAfter", { time: duration(error.retryAfter) })}` : text
}

/// Returns a message with the failed operation and the reason: `“a.txt” could not be read. The item no longer exists.`
export const explainFor = (key, error, values = {}) =>
    `${t(key, { name: visible(nameOf(error?.href ?? "")), ...values })} ${explain(error)}`
