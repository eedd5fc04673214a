// Persistent storage. If the browser stores nothing, because cookies are blocked or the quota is exceeded, values last until the
// page is closed.

const own = new Map()

/// Returns the text for a key; null if there is none.
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
    } catch { /* The browser stores nothing. */ }
}
