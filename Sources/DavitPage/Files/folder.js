// The model of the current folder: its entries, their order and the selection. Independent of the view.

import { propfind, search } from "./dav.js"
import { parentOf } from "./href.js"
import { locale, page } from "./page.js"

const collator = new Intl.Collator(locale, { numeric: true })
const fold = (text) => text.normalize("NFC").toLowerCase()

// Listings of recently visited folders, so that going back is immediate.
const cache = new Map()
const maxCachedEntries = 200_000
const cacheListing = (href, listing) => {
    cache.delete(href)
    cache.set(href, listing)
    let count = 0
    for (const [other, { entries }] of [...cache].reverse()) {
        count += entries.length
        if (count > maxCachedEntries && other !== href) cache.delete(other)
    }
}

// Listings being prefetched, by href; `prefetchLifetime` is in ms.
const prefetched = new Map()
const prefetchLifetime = 5000

/// Starts to read a folder that is likely to be opened next. Without `isSure`, the request is cancelled if the folder is not
/// opened within `prefetchLifetime`.
export const prefetch = (href, isSure = false) => {
    if (prefetched.has(href) || cache.has(href)) return
    const controller = new AbortController()
    const early = { controller, batches: [], onEntries: (entries) => early.batches.push(entries) }
    early.read = propfind(href, { signal: controller.signal, onEntries: (entries) => early.onEntries(entries) })
    early.read.catch(() => prefetched.delete(href))
    prefetched.set(href, early)
    if (isSure) return
    setTimeout(() => {
        if (prefetched.get(href) !== early) return
        prefetched.delete(href)
        controller.abort()
    }, prefetchLifetime)
}

/// Starts to read the folder of this document.
export const prefetchOwn = () => prefetch(page.path, true)

const take = (href, options) => {
    const early = prefetched.get(href)
    prefetched.delete(href)
    if (!early) return propfind(href, options)
    early.batches.forEach(options.onEntries)
    early.onEntries = options.onEntries
    options.signal.addEventListener("abort", () => early.controller.abort())
    return early.read
}

/// Events: `open` (another folder, not read yet), `progress` (detail: number of entries received), `load` (the folder has been
/// read), `change` (entries or their order), `sort`, `selection`, `focus`, `error` (detail: the error).
export class Folder extends EventTarget {
    href = ""
    /// Entries by href, without the folder itself.
    entries = new Map()
    /// The visible entries, in display order.
    view = []
    /// The folder itself.
    own
    /// The rights to the folder; until it has been read, those to the previous folder.
    rights = page.rights ?? undefined
    /// "loading", "ready" or "failed".
    state = "loading"
    error
    /// Selected hrefs.
    selection = new Set()
    /// The href of the entry with the keyboard focus.
    focus = ""
    /// Hrefs of entries that were cut and are shown dimmed until pasted.
    cut = new Set()
    sort = { key: "name", isDescending: false }
    filter = ""
    /// The current search text; if set, the entries are search results.
    query = ""
    isTruncated = false
    /// Hrefs that were added or changed while the folder was open, with the time.
    fresh = new Map()

    #byName = []
    #anchor = ""
    #places
    #controller = new AbortController()
    #holds = 0
    #waiting = []

    // Loading

    /// Opens another folder. Resolves when the folder has been read or could not be read.
    async open(href) {
        this.#controller.abort()
        this.#controller = new AbortController()
        this.#waiting = []
        Object.assign(this, { href, query: "", filter: "", isTruncated: false, error: undefined, state: "loading", focus: "" })
        this.#anchor = ""
        this.fresh.clear()
        this.selection = new Set()
        const early = cache.get(href)
        if (early) {
            this.#take(early)
            this.state = "ready"
        } else {
            this.#take({ own: undefined, entries: [] })
        }
        this.#notify("open")
        this.#notify("selection")
        if (early) this.#notify("load")
        await this.#read(early !== undefined)
    }

    /// Repeats the current search, or reads the folder again, keeping the selection and the scroll position.
    refresh() {
        return this.query ? this.search(this.query) : this.#read(this.state === "ready")
    }

    async #read(isKnown) {
        const { href } = this
        const { signal } = this.#controller
        let count = 0
        try {
            const found = await take(href, {
                signal, onEntries: (entries) => {
                    count += entries.length
                    if (!isKnown) this.#notify("progress", count)
                },
            })
            if (signal.aborted) return
            const listing = listingOf(found.entries)
            this.#whenFree(() => {
                if (this.query) return
                if (isKnown) this.#merge(listing)
                else this.#take(listing)
                cacheListing(href, listing)
                Object.assign(this, { state: "ready", error: undefined })
                this.#notify("change")
                this.#notify("load")
            })
        } catch (error) {
            if (error.name === "AbortError" || signal.aborted) return
            this.error = error
            // A deleted folder has no entries.
            const isGone = error.status === 404 || error.status === 410
            if (isGone) {
                cache.delete(href)
                this.#take({ entries: [] })
            }
            if (isGone || !isKnown) {
                this.state = "failed"
                this.select([])
            }
            this.#notify("error", error)
        }
    }

    /// Reads some members again and applies additions, changes and removals.
    async reload(hrefs) {
        if (this.query) return
        const inside = [...new Set(hrefs.map(plain))].filter((href) => parentOf(href) === this.href)
        if (inside.length > 24 || this.state === "failed") return this.refresh()
        const { signal } = this.#controller
        const found = await Promise.all(inside.map(async (href) => {
            try {
                return { href, entry: (await propfind(href, { depth: 0, signal })).entries[0] }
            } catch (error) {
                // Keep entries that could not be read.
                return { href, isUnknown: error.status !== 404 && error.status !== 410 }
            }
        }))
        if (signal.aborted) return
        this.#whenFree(() => {
            let isChanged = false
            for (const { href, entry, isUnknown } of found) {
                if (isUnknown) continue
                for (const known of [href, href + "/"]) {
                    const old = this.entries.get(known)
                    if (!old || (entry && known === entry.href && old.isLike(entry))) continue
                    if (known !== entry?.href) {
                        this.#drop(old)
                        isChanged = true
                    }
                }
                if (!entry || parentOf(entry.href) !== this.href) continue
                const old = this.entries.get(entry.href)
                if (old?.isLike(entry)) continue
                this.#put(entry)
                isChanged = true
            }
            if (!isChanged) return
            this.#cacheChanges()
            this.#arrange()
            this.#notify("change")
        })
    }

    /// Removes entries that are known to have been deleted.
    forget(hrefs) {
        if (this.query) return
        this.#whenFree(() => {
            const removed = hrefs.flatMap((href) => [plain(href), plain(href) + "/"]).map((href) => this.entries.get(href)).filter(Boolean)
            if (removed.length === 0) return
            for (const entry of removed) this.#drop(entry)
            this.#cacheChanges()
            this.#arrange()
            this.#notify("change")
        })
    }

    /// Searches for `text` in names below this folder; an empty text returns to the folder.
    async search(text) {
        this.#controller.abort()
        this.#controller = new AbortController()
        const { signal } = this.#controller
        this.#waiting = []
        if (!text) {
            const { href } = this
            return this.query || this.state !== "ready" ? this.open(href) : undefined
        }
        Object.assign(this, { query: text, filter: "", state: "loading", error: undefined, isTruncated: false })
        this.#take({ own: this.own, entries: [] })
        this.select([])
        this.#notify("open")
        const add = (entries) => {
            for (const entry of entries) if (entry.href !== this.href) this.#insert(entry)
            this.#arrange()
            this.#notify("change")
        }
        try {
            const { isTruncated } = await search(this.href, { text, signal, onEntries: (entries) => this.#whenFree(() => add(entries)) })
            Object.assign(this, { state: "ready", isTruncated })
            this.#notify("change")
            this.#notify("load")
        } catch (error) {
            if (error.name === "AbortError") return
            Object.assign(this, { state: "failed", error })
            this.#notify("error", error)
        }
    }

    /// Defers changes to the rows, for example during in-place renaming, until the returned function is called.
    hold() {
        this.#holds += 1
        let isHeld = true
        return () => {
            if (!isHeld) return
            isHeld = false
            this.#holds -= 1
            if (this.#holds > 0) return
            for (const change of this.#waiting.splice(0)) change()
        }
    }

    /// The number of deferred changes.
    get waiting() { return this.#waiting.length }

    #whenFree(change) {
        if (this.#holds > 0) this.#waiting.push(change)
        else change()
    }

    #take({ own, entries }) {
        this.own = own
        if (own) this.rights = own.rights
        this.#byName = entries
        this.entries = new Map()
        for (const entry of entries) this.entries.set(entry.href, entry)
        this.#arrange()
    }

    /// Applies a new listing of the same folder.
    #merge(listing) {
        const before = this.entries
        const now = Date.now()
        for (const entry of listing.entries) {
            const old = before.get(entry.href)
            if (!old || !old.isLike(entry)) this.fresh.set(entry.href, now)
        }
        this.#take(listing)
        this.#forget()
    }

    /// Deselects removed entries.
    #forget() {
        const removed = [...this.selection].filter((href) => !this.entries.has(href))
        if (removed.length === 0) return
        for (const href of removed) this.selection.delete(href)
        this.#notify("selection")
    }

    #cacheChanges() {
        this.#forget()
        cacheListing(this.href, { own: this.own, entries: [...this.#byName] })
    }

    #put(entry) {
        const old = this.entries.get(entry.href)
        this.fresh.set(entry.href, Date.now())
        if (old) {
            entry.rank = old.rank
            this.entries.set(entry.href, entry)
            this.#byName[this.#byName.indexOf(old)] = entry
        } else {
            this.#insert(entry)
        }
    }

    #insert(entry) {
        if (this.entries.has(entry.href)) return
        let low = 0
        let high = this.#byName.length
        while (low < high) {
            const middle = (low + high) >> 1
            if (collator.compare(this.#byName[middle].name, entry.name) <= 0) low = middle + 1
            else high = middle
        }
        this.#byName.splice(low, 0, entry)
        this.entries.set(entry.href, entry)
    }

    #drop(entry) {
        this.entries.delete(entry.href)
        this.#byName.splice(this.#byName.indexOf(entry), 1)
    }

    /// Moves the focus from a removed entry to the next one, or else to the previous one.
    #moveFocus() {
        const at = this.indexOf(this.focus)
        const isThere = ({ href }) => this.entries.has(href)
        this.focus = at < 0 ? "" : (this.view.slice(at).find(isThere) ?? this.view.slice(0, at).findLast(isThere))?.href ?? ""
    }

    // Order

    /// Sorts by "name", "size" or "modified".
    sortBy(key, isDescending = this.sort.key === key ? !this.sort.isDescending : key !== "name") {
        this.sort = { key, isDescending }
        this.#arrange()
        this.#notify("sort")
        this.#notify("change")
    }

    /// Filters entries by `text` in their names.
    filterBy(text) {
        if (text === this.filter) return
        this.filter = text
        this.#arrange()
        this.#notify("change")
        // Actions must not affect hidden entries.
        this.reselect()
    }

    /// Sorts and filters. Folders come first; ties are ordered by name.
    #arrange() {
        if (this.focus && !this.entries.has(this.focus)) this.#moveFocus()
        const { key, isDescending } = this.sort
        const wanted = fold(this.filter.trim())
        const folders = []
        const files = []
        for (const entry of this.#byName) {
            if (wanted && !fold(entry.name).includes(wanted)) continue
            (entry.isFolder ? folders : files).push(entry)
        }
        if (key !== "name") {
            const value = (entry) => (Number.isNaN(entry[key]) ? -Infinity : entry[key])
            const compare = (a, b) => {
                const first = value(a)
                const second = value(b)
                return first < second ? -1 : first > second ? 1 : 0
            }
            if (key === "modified") folders.sort(compare)
            files.sort(compare)
        }
        if (isDescending) {
            if (key !== "size") folders.reverse()
            files.reverse()
        }
        this.view = folders.concat(files)
        this.#places = undefined
    }

    /// Returns the index in the view, or -1.
    indexOf(href) {
        if (!this.#places) {
            this.#places = new Map()
            this.view.forEach((entry, index) => this.#places.set(entry.href, index))
        }
        return this.#places.get(href) ?? -1
    }

    entry(href) { return this.entries.get(href) }

    /// The names of all entries, for choosing a free one.
    get names() { return new Set([...this.entries.values()].map((entry) => entry.name)) }

    // Selection

    /// The selected entries, in the order of the view.
    get selected() {
        if (this.selection.size === 0) return []
        return this.view.filter((entry) => this.selection.has(entry.href))
    }

    /// Replaces the selection.
    select(hrefs) {
        this.selection = new Set(hrefs)
        const last = hrefs.at?.(-1)
        if (last) this.#anchor = last
        this.#notify("selection")
    }

    /// Removes hidden entries from the selection and fires `selection`. Keeps the anchor of a range.
    reselect() {
        this.selection = new Set(this.selected.map((entry) => entry.href))
        this.#notify("selection")
    }

    selectAll() {
        this.selection = new Set(this.view.map((entry) => entry.href))
        this.#notify("selection")
    }

    toggle(href) {
        if (!this.selection.delete(href)) this.selection.add(href)
        this.#anchor = href
        this.#notify("selection")
    }

    /// Selects the range from the anchor to `href`; `isAdded` keeps the existing selection.
    selectTo(href, isAdded = false) {
        const to = this.indexOf(href)
        if (this.indexOf(this.#anchor) < 0) this.#anchor = this.indexOf(this.focus) < 0 ? href : this.focus
        const from = this.indexOf(this.#anchor)
        const [first, last] = [Math.min(from, to), Math.max(from, to)]
        const hrefs = this.view.slice(first, last + 1).map((entry) => entry.href)
        this.selection = new Set(isAdded ? [...this.selection, ...hrefs] : hrefs)
        this.#notify("selection")
    }

    setFocus(href) {
        if (this.focus === href) return
        this.focus = href
        this.#notify("focus")
    }

    /// Marks entries as cut.
    markCut(hrefs) {
        this.cut = new Set(hrefs)
        this.#notify("change")
    }

    #notify(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })) }
}

const plain = (href) => (href.endsWith("/") ? href.slice(0, -1) : href)

const listingOf = ([own, ...members]) => {
    const entries = new Array(members.length + 1)
    for (const entry of members) entries[entry.rank] = entry
    return { own, entries: entries.filter(Boolean) }
}
