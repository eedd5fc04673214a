// Previews: `?preview=NAME` in the address. What shows them is loaded with the first.

import { canonical } from "../href.js"
import { attempt, later } from "../load.js"

const main = later(() => import("./main.js"))

/// The query for an entry, relative to the folder that is shown.
const queryOf = (folderHref, href) => `?preview=${href.startsWith(folderHref) ? href.slice(folderHref.length) : href}`

export const start = (app) => {
    let viewer
    /// A step of the history. How many steps of previews there are since the folder stands in it, so that closing goes back over them.
    const open = (href) => {
        const previews = (history.state?.previews ?? 0) + 1
        app.go(queryOf(app.folder.href, href))
        history.replaceState({ ...history.state, previews }, "")
    }
    app.setPreview((entry) => open(entry.href))
    const route = () => attempt(async () => {
        const address = new URL(location.href)
        // As it was written: names are bytes, and not each of them is text.
        const name = /[?&]preview=([^&]*)/.exec(address.search)?.[1]
        if (!name) return viewer?.close()
        const folder = canonical(address.pathname)
        const href = name.startsWith("/") ? canonical(name) : folder + canonical(name)
        const isEdited = /[?&]edit(?:&|$)/.test(address.search)
        if (!viewer) {
            // Two clicks wait for the same module, and have one viewer. Where there is one it shows the next file at once: a
            // second key goes on from there.
            const { Viewer } = await main()
            viewer ??= new Viewer(app, { open, replace: (next) => app.go(queryOf(app.folder.href, next), { replace: true }) })
        }
        // Another file may have been asked for while the module was loaded.
        if (new URL(location.href).search === address.search) await viewer.show(href, { isEdited })
    })
    app.addEventListener("route", route)
    route()
}
