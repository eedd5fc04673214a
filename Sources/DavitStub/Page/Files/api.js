// The JSON API of the server, relative to this page.

export class APIError extends Error {
    // `place` is what is wrong, such as `when[0].matches` or `line 2`; empty for the whole.
    constructor(status, error) {
        super(error?.problem ?? `The server answered with status ${status}.`)
        this.place = error?.column || (error?.line ? `line ${error.line}` : "")
    }
}

// Returns the JSON of the response, or null without content.
export async function api(method, path, content) {
    const response = await fetch(`api/${path}`, {
        method, cache: "no-store",
        headers: content === undefined ? {} : {"Content-Type": "application/json"},
        body: content === undefined ? undefined : JSON.stringify(content),
    })
    const text = await response.text()
    const value = parse(text)
    if (!response.ok) throw new APIError(response.status, value?.error)
    return value
}

function parse(text) {
    try {
        return text ? JSON.parse(text) : null
    } catch {
        return null
    }
}

// Calls the functions of `handlers` for the server's events, and `onstate` with whether the connection is open.
export function watch(handlers, onstate) {
    const source = new EventSource("api/events")
    source.onopen = () => onstate(true)
    source.onerror = () => onstate(false)
    for (const [name, handler] of Object.entries(handlers)) {
        source.addEventListener(name, event => handler(JSON.parse(event.data)))
    }
}
