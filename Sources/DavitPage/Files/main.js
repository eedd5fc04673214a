// Entry point of the browser page: replaces the server's listing and shows the folder.

import { forKey, keyText, named, offered, register } from "./actions.js"
import { copyText } from "./clipboard.js"
import { onForbidden, onSessionEnd } from "./dav.js"
import { element, icon } from "./element.js"
import { explain } from "./errors.js"
import { Folder } from "./folder.js"
import { breadcrumbs, header } from "./header.js"
import { canonical, decode, isWithin, nameOf, parentOf, visible } from "./href.js"
import { Items } from "./items.js"
import { follow } from "./live.js"
import { attempt, later, loadAhead } from "./load.js"
import { openMenu } from "./menu.js"
import { announce, clearBanner, showBanner, toast } from "./messages.js"
import { language, page } from "./page.js"
import { hasRights, isDropBox, may } from "./rights.js"
import { searchBox } from "./search.js"
import { readSetting, writeSetting } from "./settings.js"
import { t } from "./strings.js"
import { summary } from "./summary.js"
import { toolbar } from "./toolbar.js"

// Without a form, the browser asks for the password itself.
const signIn = later(() => import("./signin.js"))
onSessionEnd(async () => (await signIn()).signIn())

// Modules that start with the page, each `{ start(app) }`. They import the rest on first use.
const parts = [
    // Only with a database of accounts: without one, accounts cannot be changed here.
    page.hasAccounts && later(() => import("./people/start.js")),
    later(() => import("./upload/start.js")),
    later(() => import("./change/start.js")),
    later(() => import("./preview/start.js")),
].filter(Boolean)

const folder = new Folder()
const orders = ["name", "size", "modified"].flatMap((key) => [`${key} ascending`, `${key} descending`])
const [sortKey, sortOrder] = readSetting("sort", orders).split(" ")
folder.sort = { key: sortKey, isDescending: sortOrder === "descending" }
folder.addEventListener("sort", () => writeSetting("sort", `${folder.sort.key} ${folder.sort.isDescending ? "descending" : "ascending"}`))

/// Events: `route` (the path or the query of the address has changed; detail: URL).
class App extends EventTarget {
    folder = folder
    /// The views by name: `items` is the view of the entries, with `decorate`, `nameElement`, `elementOf` and `focusOn`.
    views = {}
    /// The items of the account menu, as for `openMenu`.
    accountItems = []
    #preview
    #shown

    /// Opens a folder.
    navigate(href, { replace = false, focus } = {}) {
        this.savePlace()
        const state = { href }
        if (replace) history.replaceState(state, "", href)
        else history.pushState(state, "", href)
        return openFolder(href, { focus })
    }

    /// Changes only the query of the address: "?preview=a.txt", or "" to remove it.
    go(query, { replace = false } = {}) {
        this.savePlace()
        const address = folder.href + query
        if (replace) history.replaceState({ ...history.state, query }, "", address)
        else history.pushState({ ...history.state, href: folder.href, query }, "", address)
        this.route()
    }

    route() { this.dispatchEvent(new CustomEvent("route", { detail: new URL(location.href) })) }

    /// Saves the scroll position, focus, selection and search text in the history, to be restored on return.
    savePlace() {
        const selection = [...folder.selection]
        history.replaceState({
            ...history.state, href: folder.href, scroll: scrollY, focus: folder.focus,
            selection: selection.length <= 500 ? selection : [], find: folder.query,
        }, "")
    }

    /// Opens a folder or previews a file.
    open(entry) {
        if (entry.isFolder) return this.navigate(entry.href)
        return this.openPreview(entry)
    }

    /// Sets the function that previews an entry.
    setPreview(show) { this.#preview = show }
    openPreview(entry) {
        if (this.#preview) return this.#preview(entry)
        location.assign(entry.href)
    }

    /// Shows another view instead of the entries of the folder `href`; undefined restores them.
    showView(view, href = folder.href) {
        this.#shown?.remove()
        this.#shown = view
        stage.hidden = view !== undefined
        if (view) stage.after(view)
        const title = page.title ?? t("core.files")
        const name = view?.querySelector("h2").textContent ?? (href === page.root ? undefined : visible(nameOf(href)))
        document.title = name === undefined ? title : `${name} – ${title}`
        for (const one of welcome) if (one) one.hidden = href !== page.root || view !== undefined
    }

    get layout() { return this.views.items.layout }
    set layout(layout) {
        writeSetting("layout", layout)
        this.views.items.layout = layout
        bar.update()
    }

    /// Returns the context of an action: the selection, or `entries`.
    context(entries = folder.selected, more = {}) { return { folder, app: this, entries, ...more } }

    /// Runs an action by its ID.
    run(id, context = this.context()) { return named(id)?.run(context) }
}
export const app = new App()

const menu = (entries, at, event, onClose) => {
    const context = app.context(entries, { origin: at, event })
    const items = []
    let group
    for (const action of offered(context)) {
        if (group && action.group !== group) items.push("line")
        group = action.group
        items.push({
            label: typeof action.label === "function" ? action.label(context) : t(action.label), icon: action.icon,
            key: action.key && keyText([action.key].flat()[0]), isDanger: action.isDanger, run: () => action.run(context),
        })
    }
    openMenu(items, at, { label: t("core.actions"), onClose })
}

const items = new Items(folder, { open: (entry) => app.open(entry), menu })
app.views.items = items
const bar = toolbar(app, menu)
const trail = breadcrumbs(app)
const box = searchBox(app)
const state = element("div.state", { "aria-live": "off" })
const stage = element("div.stage", {}, element("div.bar", {}, bar.element, box.element), box.hint, items.element, state, summary(app))
const heading = element("h1.unseen")
const banners = element("div.banners")
showBanner.into(banners)
const text = (name) => page[name] && element(`div.${name}`, {}, page[name])
// The owner's texts, shown only in the root folder.
const welcome = [text("prologue"), text("epilogue")]
const content = element("main", { id: "entries" }, trail.element, heading, welcome[0], banners, stage, welcome[1])

const clearBody = () => {
    for (const child of [...document.body.children]) {
        if (!child.matches("#app, .unseen, .toasts, script, dialog")) child.remove()
    }
}
let isTaken = false
const takeOver = () => {
    if (isTaken) return
    isTaken = true
    clearBody()
    // The document may still be loading.
    addEventListener("DOMContentLoaded", clearBody)
    document.documentElement.lang = language
    document.documentElement.classList.add("has-scripts")
    let root = document.getElementById("app")
    if (!root) document.body.prepend(root = element("div", { id: "app" }))
    root.replaceChildren(
        element("a.skip", { href: "#entries", onclick: (event) => { event.preventDefault(); items.focusCurrent() } }, t("core.skip")),
        header(app), content,
        ...[page.footer && element("footer.page-footer", {}, page.footer)].filter(Boolean))
    items.layout = readSetting("layout", ["list", "grid"])
    // Scrolling requires the element to be in the document.
    trail.update(folder.href)
}
// Messages instead of entries

let late
const showState = () => {
    clearTimeout(late)
    const isEmpty = folder.view.length === 0
    items.element.hidden = isEmpty && folder.state !== "ready"
    items.header.hidden = isEmpty
    if (!isEmpty) {
        state.replaceChildren()
    } else if (folder.state === "loading") {
        // Show no message for folders that load quickly.
        state.replaceChildren()
        late = setTimeout(() => {
            state.replaceChildren(element("div.skeleton", { "aria-hidden": "true" }, Array.from({ length: 6 }, () => element("div"))),
                element("p.counted", {}, folder.query ? t("core.searching") : t("core.loading")))
        }, 250)
    } else if (folder.state === "failed") {
        state.replaceChildren(nothing("warning", t("core.notOpened"), explain(folder.error)))
    } else if (folder.query) {
        state.replaceChildren(nothing("search", t("core.nothingFound", { text: folder.query })))
    } else if (folder.filter) {
        state.replaceChildren(nothing("search", t("core.nothingMatches", { text: folder.filter })))
    } else if (isDropBox(folder)) {
        state.replaceChildren(nothing("upload", t("core.dropBox"), page.canWrite ? t("core.dropBoxHint") : ""))
    } else {
        state.replaceChildren(nothing("folder", t("core.empty"), page.canWrite && may("create", folder) ? t("core.emptyHint") : ""))
    }
}
const nothing = (name, ...texts) =>
    element("div.nothing", {}, element("span.nothing-icon", {}, icon(name)), texts.filter(Boolean).map((text, index) => element(index ? "p" : "h2", {}, text)))


folder.addEventListener("open", showState)
folder.addEventListener("change", showState)
folder.addEventListener("load", () => {
    clearBanner()
    showState()
})
folder.addEventListener("progress", ({ detail }) => {
    const counted = state.querySelector(".counted")
    if (counted) counted.textContent = t("core.loadingCount", { count: detail })
})
folder.addEventListener("error", ({ detail }) => {
    showState()
    // The offline banner is already shown, and the folder is read again on reconnection.
    if (!navigator.onLine) return
    const name = visible(nameOf(folder.href)) || page.title || t("core.files")
    if (detail.status === 404 && folder.href !== page.root) {
        showBanner(t("core.folderGone", { name }), { action: { label: t("core.up"), run: () => app.run("up", app.context([])) } })
    } else {
        showBanner(`${t("core.notRead", { name })} ${explain(detail)}`, { action: { label: t("core.retry"), run: () => folder.refresh() } })
    }
})

// The rights have changed since the folder was read.
let again
if (hasRights) {
    onForbidden(() => {
        clearTimeout(again)
        again = setTimeout(() => { if (folder.state === "ready") folder.refresh() }, 200)
    })
}

// Navigation

const openFolder = async (href, { restored, focus } = {}) => {
    clearBanner()
    app.showView(undefined, href)
    const name = href === page.root ? page.title ?? t("core.files") : visible(nameOf(href))
    heading.textContent = href === page.root ? page.header ?? name : name
    heading.className = href === page.root && page.header ? "" : "unseen"
    // On the first load, leave the focus at the start of the page.
    const hadFocus = app.isStarted && (document.activeElement === document.body || items.element.contains(document.activeElement))
    scrollTo(0, 0)
    let isPlaced = false
    const place = () => {
        if (isPlaced || folder.href !== href) return
        isPlaced = folder.view.length > 0
        if (!isPlaced) return
        if (restored) {
            const known = (restored.selection ?? []).filter((one) => folder.entry(one))
            if (known.length > 0) folder.select(known)
            if (restored.focus && folder.entry(restored.focus)) folder.setFocus(restored.focus)
            scrollTo(0, restored.scroll ?? 0)
            items.update()
            if (hadFocus && restored.focus) items.focusOn(restored.focus)
        } else {
            if (focus && folder.entry(focus)) items.focusOn(focus, { isCentered: true })
            else if (hadFocus && folder.view.length > 0) items.focusOn(folder.view[0].href)
        }
    }
    folder.addEventListener("load", place)
    trail.update(href)
    app.route()
    if (restored?.find) {
        Object.assign(folder, { href })
        await folder.search(restored.find)
    } else {
        await folder.open(href)
    }
    place()
    folder.removeEventListener("load", place)
    if (folder.href === href && folder.state === "ready") {
        announce(t("core.opened", { name, count: folder.view.length }))
    }
}

addEventListener("popstate", (event) => {
    const href = event.state?.href ?? canonical(location.pathname)
    if (href === folder.href && (event.state?.find ?? "") === folder.query && folder.state !== "failed") {
        selectFragment()
        app.route()
        return
    }
    openFolder(href, { restored: event.state ?? undefined })
})
let saveTimer
const savePlaceSoon = () => {
    clearTimeout(saveTimer)
    saveTimer = setTimeout(() => app.savePlace(), 300)
}
addEventListener("scroll", savePlaceSoon, { passive: true })
folder.addEventListener("selection", savePlaceSoon)
folder.addEventListener("focus", savePlaceSoon)
addEventListener("pagehide", () => app.savePlace())

/// Selects the member that the fragment `#name` of the address identifies.
const selectFragment = () => {
    if (location.hash.length < 2) return
    // Use the encoded fragment, because names are bytes and not always valid text.
    const name = canonical(location.hash.slice(1))
    const found = [folder.href + name, folder.href + name + "/"].find((href) => folder.entry(href))
    if (found) items.focusOn(found, { isSelected: true, isCentered: true })
    else toast(t("core.noSuchName", { name: visible(decode(name)) }), { kind: "error" })
}

// Global keyboard shortcuts

addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return
    if (event.target.closest("input, textarea, select, dialog, [role=menu], [contenteditable]")
        && !event.target.matches(".items input[type=checkbox]")) return
    const context = app.context(folder.selected.length > 0 ? folder.selected
        : items.element.contains(document.activeElement) && folder.entry(folder.focus) ? [folder.entry(folder.focus)] : [], { event })
    const action = forKey(event, context)
    if (!action) return
    event.preventDefault()
    // Ignore key repeat, so that a held key does not act on the next entry.
    if (!event.repeat) action.run(action.scope === "folder" ? { ...context, entries: [] } : context)
})

const details = later(() => import("./details.js"))
const help = later(() => import("./help.js"))
const connect = later(() => import("./connect.js"))

register({
    id: "open", label: "core.open", icon: "open", key: "Enter", group: "open", order: 0, isBar: false,
    enabled: ({ entries }) => entries.length === 1, run: ({ entries }) => app.open(entries[0]),
})
register({
    id: "show-in-folder", label: "core.showInFolder", icon: "folder", group: "open", order: 10, isBar: false,
    enabled: ({ entries, folder }) => entries.length === 1 && folder.query !== "",
    run: ({ entries }) => app.navigate(parentOf(entries[0].href), { focus: entries[0].href }),
})
register({
    id: "up", label: "core.up", icon: "up", key: ["Alt+ArrowUp", "Backspace"], group: "open", scope: "folder", isBar: false,
    enabled: ({ folder }) => folder.href !== page.root && isWithin(folder.href, page.root),
    run: ({ folder }) => app.navigate(parentOf(folder.href), { focus: folder.href }),
})
register({
    id: "refresh", label: "core.refresh", icon: "refresh", key: "Alt+r", group: "other", order: 10, scope: "folder", isBar: false,
    run: async () => {
        await folder.refresh()
        announce(t("core.refreshed"))
    },
})
register({
    id: "copy-link", label: "core.copyLink", icon: "link", group: "other", order: 50, isBar: false,
    enabled: ({ entries }) => entries.length === 1,
    run: ({ entries }) => copyText(new URL(entries[0].href, location.href).href),
})
register({
    id: "details", label: "core.details", icon: "info", key: "Alt+Enter", group: "other", order: 90, isBar: false, scope: "both",
    run: async (context) => (await details()).showDetails(context),
})
register({
    id: "find", label: "core.find", icon: "search", key: ["/", "Mod+f"], group: "other", scope: "folder", isBar: false, isKeyOnly: true,
    run: () => box.focus(),
})
register({
    id: "help", label: "core.help", icon: "help", key: "Shift+?", group: "other", scope: "folder", isBar: false, isKeyOnly: true,
    run: async () => (await help()).showHelp(),
})
// Not offered in menus or in the toolbar, because the action has its own button in the header.
register({ id: "connect", enabled: () => false, run: async () => (await connect()).showConnect() })

// Offline state

addEventListener("offline", () => showBanner(t("core.offline"), { kind: "info", id: "offline" }))
addEventListener("online", () => {
    clearBanner("offline")
    folder.refresh()
})

// Startup

// Time in ms before the page replaces the server's listing even if its own is not ready.
const takeoverTimeout = 1500

const start = async () => {
    history.scrollRestoration = "manual"
    const restored = history.state?.href === page.path ? history.state : undefined
    const address = new URL(location.href)
    history.replaceState({ ...history.state, href: page.path }, "", page.path + address.search + address.hash)
    // Keep the server's listing until the page's own is ready.
    for (const type of ["change", "error"]) folder.addEventListener(type, takeOver, { once: true })
    setTimeout(takeOver, takeoverTimeout)
    const opened = openFolder(page.path, { restored })
    const started = attempt(async () => {
        for (const { start } of await Promise.all(parts.map((part) => part()))) start(app)
    })
    const find = address.searchParams.get("find")
    if (find && !restored) box.set(find)
    await opened
    if (!restored) selectFragment()
    follow(app)
    app.isStarted = true
    await started
    document.documentElement.dataset.ready = "true"
    loadAhead()
}
start()
