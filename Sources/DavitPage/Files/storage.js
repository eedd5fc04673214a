// What this browser keeps for the page. Where it keeps nothing (cookies are blocked, or there is no room), values last as long as
// the page.

const own = new Map()

/// The text for a key; null without one.
export const load = (key) => {
    if (own.has(key)) return own.get(key)
    try {
        return localStorage.getItem(key)
    } catch {
        return null
    }
}

export const save = (key, text) => {
    try {
        localStorage.setItem(key, text)
        own.delete(key)
    } catch {
        own.set(key, text)
    }
}

export const remove = (key) => {
    own.delete(key)
    try {
        localStorage.removeItem(key)
    } catch { /* Nothing is kept there. */ }
}
