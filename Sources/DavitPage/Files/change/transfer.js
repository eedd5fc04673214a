// Moves and copies. Conflicts are resolved first; if another client causes a new conflict, the page asks again.

import { action, move, propfind, request } from "../dav.js"
import { explain } from "../errors.js"
import { canonical, lastSegment, nameOf, parentOf, segment, visible } from "../href.js"
import { later } from "../load.js"
import { toast } from "../messages.js"
import { freeName } from "../names.js"
import { page } from "../page.js"
import { t } from "../strings.js"
import { askAboutConflicts } from "./conflict.js"
import { showFailures, update, work } from "./work.js"

/// Up to this many names are looked up individually; for more, the whole folder is read.
const askedSingly = 16

const tree = later(() => import("./tree.js"))

/// Asks for the destination folder and transfers the entries.
export const askAndTransfer = async (app, entries, { isCopy }) => {
    const { chooseFolder } = await tree()
    const target = await chooseFolder(app, {
        title: entries.length === 1
            ? t(isCopy ? "change.copyOne" : "change.moveOne", { name: visible(entries[0].name) })
            : t(isCopy ? "change.copyMany" : "change.moveMany", { count: entries.length }),
        action: t(isCopy ? "change.copyHere" : "change.moveHere"),
        problem: (href) => problemOf(entries, href, isCopy),
    })
    if (target) await transfer(app, entries, target, { isCopy })
}

/// Returns an error message if the entries cannot be moved or copied to `target`.
export const problemOf = (entries, target, isCopy) => {
    if (entries.some((entry) => entry.isFolder && target.startsWith(entry.href))) return t("change.intoItself")
    if (!isCopy && entries.every((entry) => parentOf(entry.href) === target)) return t("change.alreadyThere")
    return undefined
}

/// Moves or copies `entries` into the folder `target`. Resolves with whether any of them was transferred.
export const transfer = async (app, entries, target, { isCopy = false } = {}) => {
    const problem = problemOf(entries, target, isCopy)
    if (problem) {
        toast(problem, { kind: "error" })
        return false
    }
    const label = t(isCopy ? "change.copying" : "change.moving")
    const moves = entries.filter((entry) => isCopy || parentOf(entry.href) !== target)
    const all = { done: [], failed: [] }
    const plans = moves.map((entry) => ({ entry, href: entry.href, name: lastSegment(entry.href) }))
    // A copy in the original's folder gets a new name without asking.
    const beside = plans.filter(({ href }) => parentOf(href) === target)
    let waiting = plans
    for (let round = 0; waiting.length > 0 && round < 5; round++) {
        let planned
        try {
            planned = await resolvePlans(waiting, target, new Set(beside))
        } catch (error) {
            toast(`${t("change.notReadTarget", { name: nameOfFolder(target) })} ${explain(error)}`, { kind: "error" })
            break
        }
        if (!planned) break
        const { done, failed } = await work(planned, (plan) => send(plan, isCopy), { label })
        all.done.push(...done)
        // 412: since the conflict check, the name has been taken, or the resource to be replaced has been changed.
        const overtaken = failed.filter(({ error }) => error.status === 412 && round < 4)
        all.failed.push(...failed.filter((one) => !overtaken.includes(one)))
        waiting = overtaken.map(({ item }) => item)
    }
    await reportResult(app, target, all, isCopy)
    return all.done.length > 0
}

/// Resolves conflicts. Returns the remaining plans with `to` and what they replace; undefined if the user cancels.
const resolvePlans = async (plans, target, beside) => {
    const taken = await membersAt(target, plans)
    const inTheWay = plans.filter((plan) => taken.has(plan.name))
    if (inTheWay.length > 0 && !taken.isWhole) (await wholeOf(target)).forEach((entry, name) => taken.set(name, entry))
    const conflicts = inTheWay.filter((plan) => !beside.has(plan))
    const choices = await askAboutConflicts(conflicts.map(({ entry, name, href }) => ({ name: entry.name, href, old: taken.get(name), new: entry })))
    if (!choices) return undefined
    // Names are bytes. In a free name for one that is not valid UTF-8, the number is added to the bytes.
    const names = new Set([...taken].flatMap(([name, entry]) => [entry.name, unescape(name)]))
    const result = []
    for (const plan of plans) {
        const { entry, name, href } = plan
        const old = taken.get(name)
        const choice = !old ? "new" : beside.has(plan) ? "keep" : choices.get(href)
        const end = entry.isFolder ? "/" : ""
        delete plan.replaces
        if (choice === "skip") continue
        if (choice === "keep") {
            const isText = segment(entry.name) === name
            const free = freeName(isText ? entry.name : unescape(name), names, entry.isFolder)
            names.add(free)
            plan.to = target + (isText ? segment(free) : canonical(escape(free))) + end
        } else {
            plan.to = target + name + end
            if (choice === "replace") plan.replaces = old
        }
        result.push(plan)
    }
    return result
}

/// Returns the existing members with these names, by segment.
const membersAt = async (target, plans) => {
    if (plans.length > askedSingly) return Object.assign(await wholeOf(target), { isWhole: true })
    const found = new Map()
    await Promise.all(plans.map(async ({ name }) => {
        try {
            found.set(name, (await propfind(target + name, { depth: 0 })).entries[0])
        } catch (error) {
            if (error.status !== 404 && error.status !== 410) throw error
        }
    }))
    return found
}

const wholeOf = async (target) => {
    const { entries } = await propfind(target)
    return new Map(entries.slice(1).map((entry) => [lastSegment(entry.href), entry]))
}

const send = async ({ href, to, replaces }, isCopy) => {
    const destination = new URL(to, location.href).href
    const headers = { Destination: destination, Overwrite: replaces ? "T" : "F" }
    // Replace only the version that was displayed.
    if (replaces?.etag && !replaces.isFolder) headers.If = `<${destination}> ([${replaces.etag}])`
    const response = await request(isCopy ? "COPY" : "MOVE", href, { headers })
    return response.headers.get("Davit-Trash")
}

const nameOfFolder = (href) => visible(nameOf(href)) || page.title || t("core.files")

const reportResult = async (app, target, { done, failed }, isCopy) => {
    const { folder } = app
    if (done.length > 0) await update(folder, done.flatMap(({ item }) => [item.href, item.to]))
    if (done.length > 0 && folder.href === target) folder.select(done.map(({ item }) => item.to).filter((href) => folder.entry(href)))
    if (done.length > 0) {
        const name = nameOfFolder(target)
        const text = t(isCopy ? "change.copied" : "change.moved", { count: done.length, name, item: visible(done[0].item.entry.name) })
        toast(text, isCopy ? {} : { action: { label: t("change.undo"), run: () => undo(app, done) } })
    }
    await showFailures(app, t(isCopy ? "change.notCopied" : "change.notMoved", { count: failed.length }),
        failed.map(({ item, error }) => ({ item: item.entry, error })),
        (again) => transfer(app, again.map(({ item }) => item), target, { isCopy }))
}

/// Undoes a move, and then restores the replaced resources.
const undo = async (app, done) => {
    const { failed } = await work(done, async ({ item, result }) => {
        await move(item.to, item.href)
        if (result) await action(parentOf(item.to), "restore", { id: result })
    }, { label: t("change.moving") })
    await update(app.folder, done.flatMap(({ item }) => [item.href, item.to]))
    if (failed.length === 0) toast(t("change.undone"))
    await showFailures(app, t("change.notUndone", { count: failed.length }),
        failed.map(({ item, error }) => ({ item: item.item.entry, error })))
}
