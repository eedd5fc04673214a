// Routes `?preview=NAME` to the viewer, which is loaded on first use.

import { canonical } from "../href.js"
import { attempt, later } from "../load.js"

const main = later(() => import("./main.js"))

/// Returns the query for an entry, relative to the current folder.
const queryOf = (folderHref, href) => `?preview=${href.startsWith(folderHref) ? href.slice(folderHref.length) : href}`

export const start = (app) => {
    let viewer
    /// Adds a history entry and counts the entries since the folder, so that closing goes back over all of them.
    const open = (href) => {
        const previews = (history.state?.previews ?? 0) + 1
        app.go(queryOf(app.folder.href, href))
        history.replaceState({ ...history.state, previews }, "")
    }
    app.setPreview((entry) => open(entry.href))
    const route = () => attempt(async () => {
        const address = new URL(location.href)
        // Use the encoded name, because names are bytes and not always valid text.
        const name = /[?&]preview=([^&]*)/.exec(address.search)?.[1]
        if (!name) return viewer?.close()
        const folder = canonical(address.pathname)
        const href = name.startsWith("/") ? canonical(name) : folder + canonical(name)
        const isEdited = /[?&]edit(?:&|$)/.test(address.search)
        if (!viewer) {
            // Two clicks wait for the same module and create one viewer. An existing viewer shows the next file immediately, so
            // that further keys continue from it.
            const { Viewer } = await main()
            viewer ??= new Viewer(app, { open, replace: (next) => app.go(queryOf(app.folder.href, next), { replace: true }) })
        }
        // Another file may have been opened while the module was loading.
        if (new URL(location.href).search === address.search) await viewer.show(href, { isEdited })
    })
    app.addEventListener("route", route)
    route()
}
