// In-place renaming. Rows do not move while a name is being edited.

import { move } from "../dav.js"
import { prompt } from "../dialog.js"
import { element } from "../element.js"
import { explain } from "../errors.js"
import { member, parentOf, visible } from "../href.js"
import { announce, toast } from "../messages.js"
import { nameProblem, splitName } from "../names.js"
import { t } from "../strings.js"
import { showFailures, update } from "./work.js"

/// Returns an error message for a new name; undefined if the name is valid.
const problemOf = (app, entry, name) => {
    const problem = nameProblem(name)
    if (problem) return t(problem)
    const to = member(parentOf(entry.href), name)
    const isTaken = [to, `${to}/`].some((href) => href !== entry.href && app.folder.entry(href))
    return isTaken ? t("change.nameTaken") : undefined
}

/// Renames on the server and returns the new href. Never overwrites, even if the listing is outdated.
const save = async (app, entry, name) => {
    const to = member(parentOf(entry.href), name, entry.isFolder)
    await move(entry.href, to)
    return to
}

const finish = async (app, entry, to) => {
    const { folder } = app
    await update(folder, [entry.href, to])
    if (folder.entry(to)) app.views.items.focusOn(to)
    announce(t("change.renamed", { name: visible(folder.entry(to)?.name ?? "") }))
}

const reportFailure = (app, entry, error) => {
    if (error.status === 423) {
        showFailures(app, t("change.notRenamed", { name: visible(entry.name) }), [{ item: entry, error }], () => rename(app, entry))
    } else {
        toast(`${t("change.notRenamed", { name: visible(entry.name) })} ${explain(error)}`, { kind: "error" })
    }
}

export const rename = (app, entry) => {
    const shown = app.views.items.nameElement(entry.href)
    return shown ? renameInPlace(app, entry, shown) : renameInDialog(app, entry)
}

/// Returns the name without line breaks, which an input cannot contain, and the length of its stem.
const fieldOf = ({ name, isFolder }) => {
    const value = name.replace(/[\r\n]/g, "")
    return { value, stem: isFolder ? value.length : splitName(value)[0].length }
}

const renameInPlace = (app, entry, shown) => new Promise((resolve) => {
    const { value, stem } = fieldOf(entry)
    const row = app.views.items.elementOf(entry.href)
    const link = shown.closest(".name-link")
    const release = app.folder.hold()
    const id = "rename-error"
    const error = element("span.rename-error", { id, role: "alert" })
    const input = element("input.rename", {
        type: "text", value, autocomplete: "off", spellcheck: "false", enterkeyhint: "done",
        "aria-label": t("change.newNameOf", { name: visible(entry.name) }), "aria-describedby": id,
    })
    let isFinished = false
    let isBusy = false
    const end = (isFocused) => {
        if (isFinished) return
        isFinished = true
        input.remove()
        error.remove()
        link.hidden = false
        row.classList.remove("is-editing")
        row.draggable = wasDraggable
        release()
        // The entry may no longer exist.
        if (isFocused) app.views.items.focusCurrent()
        resolve()
    }
    const showError = (text) => {
        error.textContent = text ?? ""
        input.setAttribute("aria-invalid", String(Boolean(text)))
    }
    const submit = async (isLeft) => {
        if (isFinished || isBusy) return
        const name = input.value
        if (name === value) return end(!isLeft)
        const problem = problemOf(app, entry, name)
        if (problem) {
            // Do not move the focus back if the user has left the field.
            if (isLeft) {
                toast(`${t("change.notRenamed", { name: visible(entry.name) })} ${problem}`, { kind: "error" })
                return end(false)
            }
            return showError(problem)
        }
        isBusy = true
        input.readOnly = true
        try {
            const to = await save(app, entry, name)
            end(false)
            await finish(app, entry, to)
        } catch (failure) {
            isBusy = false
            input.readOnly = false
            if (failure.status === 412 && !isLeft) return showError(t("change.nameTaken"))
            end(!isLeft)
            reportFailure(app, entry, failure)
        }
    }
    input.addEventListener("keydown", (event) => {
        event.stopPropagation()
        if (event.isComposing) return
        if (event.key === "Enter") {
            event.preventDefault()
            submit(false)
        } else if (event.key === "Escape") {
            event.preventDefault()
            end(true)
        }
    })
    input.addEventListener("input", () => showError(undefined))
    input.addEventListener("blur", () => submit(true))
    for (const type of ["pointerdown", "click", "dblclick", "contextmenu", "dragstart"]) {
        input.addEventListener(type, (event) => event.stopPropagation())
    }
    const wasDraggable = row.draggable
    row.draggable = false
    row.classList.add("is-editing")
    link.hidden = true
    link.after(input, error)
    input.focus()
    input.setSelectionRange(0, stem)
})

const renameInDialog = async (app, entry) => {
    const { value, stem } = fieldOf(entry)
    const name = await prompt({
        title: t("change.rename"), label: t("change.newNameOf", { name: visible(entry.name) }), value,
        select: [0, stem], action: t("change.rename"), validate: (text) => (text === value ? undefined : problemOf(app, entry, text)),
    })
    if (name === undefined || name === value) return
    try {
        await finish(app, entry, await save(app, entry, name))
    } catch (error) {
        reportFailure(app, entry, error)
    }
}
