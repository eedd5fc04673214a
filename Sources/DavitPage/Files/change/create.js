// Creates folders and text files.

import { mkcol, put } from "../dav.js"
import { prompt } from "../dialog.js"
import { explain } from "../errors.js"
import { member } from "../href.js"
import { toast } from "../messages.js"
import { freeName, nameProblem, splitName } from "../names.js"
import { t } from "../strings.js"

/// Asks for a name until the resource has been created or the user cancels. Returns the href of the new resource.
const ask = async (folderHref, names, { title, value, action, make }) => {
    const refused = new Map()
    for (let text = value; ;) {
        text = await prompt({
            title, label: t("change.name"), value: text, select: [0, splitName(text)[0].length], action,
            validate: (name) => {
                const problem = nameProblem(name)
                if (problem) return t(problem)
                return names.has(name) ? t("change.nameTaken") : refused.get(name)
            },
        })
        if (text === undefined) return undefined
        try {
            return await make(text)
        } catch (error) {
            const isTaken = error.status === 405 || error.status === 412
            const reason = isTaken ? t("change.nameTaken") : explain(error)
            // Another client has created a resource with this name; the listing is not up to date.
            if (isTaken) refused.set(text, reason)
            toast(reason, { kind: "error" })
        }
    }
}

/// Creates a folder. `folderHref` and `names` default to the current folder.
export const newFolder = async (app, folderHref = app.folder.href, names = app.folder.names) => {
    const href = await ask(folderHref, names, {
        title: t("change.newFolder"), value: freeName(t("change.newFolderName"), names, true), action: t("change.create"),
        make: async (text) => {
            const created = member(folderHref, text, true)
            await mkcol(created)
            return created
        },
    })
    if (!href || app.folder.href !== folderHref) return href
    await app.folder.reload([href])
    app.views.items.focusOn(href, { isCentered: true })
    return href
}

/// Creates an empty text file and opens it in the editor.
export const newFile = async (app) => {
    const { folder } = app
    const folderHref = folder.href
    const href = await ask(folderHref, folder.names, {
        title: t("change.newFile"), value: freeName(t("change.newFileName"), folder.names), action: t("change.create"),
        make: async (text) => {
            const created = member(folderHref, text)
            await put(created, "", { ifNoneMatch: "*" })
            return created
        },
    })
    if (!href || folder.href !== folderHref) return
    await folder.reload([href])
    const entry = folder.entry(href)
    if (!entry) return
    folder.setFocus(href)
    app.go(`?preview=${href.slice(folderHref.length)}&edit`)
}
