// Runs changes to several resources with limited concurrency, a progress bar and a list of failures.

import { dialog } from "../dialog.js"
import { element } from "../element.js"
import { explain } from "../errors.js"
import { nameOf, visible } from "../href.js"
import { quietly } from "../live.js"
import { later } from "../load.js"
import { announce } from "../messages.js"
import { has, page } from "../page.js"
import { t } from "../strings.js"

/// Reloads the changed entries, or repeats the search.
export const update = (folder, hrefs) => (folder.query ? folder.refresh() : folder.reload(hrefs))

// The number of connections that browsers open to a server over HTTP/1.1.
const maxConcurrent = 6
const quiet = 500
const listedFailures = 200
const locks = later(() => import("./locks.js"))

/// Runs `change(item)` for each of `items` until the user stops it. Returns {done: [{item, result}], failed: [{item, error}]}.
/// `label` describes the operation.
export const work = async (items, change, { label }) => {
    const done = []
    const failed = []
    let next = 0
    let end = items.length
    let bar
    // Stopping waits for running requests, because the server may already have performed them.
    const release = quietly()
    const timer = setTimeout(() => { bar = showBar(label, end, () => { end = next }) }, quiet)
    const take = async () => {
        while (next < end) {
            const item = items[next++]
            try {
                done.push({ item, result: await change(item) })
            } catch (error) {
                failed.push({ item, error })
            }
            bar?.update(done.length + failed.length)
        }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, take))
    clearTimeout(timer)
    bar?.end()
    release()
    return { done, failed }
}

const showBar = (label, total, stop) => {
    const progress = element("progress", { max: total, value: 0, "aria-label": label })
    const count = element("span.work-count")
    const node = element("div.work", { role: "region", "aria-label": label },
        element("span.work-label", {}, label), progress, count,
        element("button.plain", { type: "button", onclick: stop }, t("change.stop")))
    document.body.append(node)
    announce(label)
    const update = (value) => {
        progress.value = value
        count.textContent = t("change.ofTotal", { done: value, total })
    }
    update(0)
    return { update, end: () => node.remove() }
}

/// Lists the failed resources with the reasons. Offers `retry(failed)` unless all of them are locked, and to break the locks of
/// locked resources.
export const showFailures = async (app, title, failed, retry) => {
    if (failed.length === 0) return
    const rows = failed.flatMap(({ item, error }) =>
        error.failures?.length > 0
            ? error.failures.map(({ href, status }) => ({ href, error: Object.assign(Object.create(error), { status, condition: "" }) }))
            : [{ href: item.href ?? item, error }])
    const locked = [...new Set(rows.filter(({ error }) => error.status === 423).map(({ href }) => href))]
    const body = element("div", {},
        element("ul.failures", { tabindex: "0", "aria-label": title }, rows.slice(0, listedFailures).map(({ href, error }) =>
            element("li", {}, element("bdi", {}, visible(nameOf(href))), element("span", {}, explain(error))))),
        rows.length > listedFailures && element("p", {}, t("change.more", { count: rows.length - listedFailures })))
    const choice = await dialog({
        title, body, className: "failed",
        actions: [
            { label: t("core.close"), value: undefined },
            locked.length > 0 && has("locks") && page.canWrite && { label: t("change.breakLock"), value: "break", kind: "danger" },
            retry && locked.length < rows.length && { label: t("core.retry"), value: "retry", kind: "primary" },
        ].filter(Boolean),
    })
    if (choice === "retry") return retry(failed)
    if (choice !== "break") return
    const { breakLock } = await locks()
    for (const href of locked) if (!await breakLock(app, href)) return
    return retry?.(failed)
}
