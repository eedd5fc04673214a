// The list or grid of entries. Only entries in or near the visible area and the focused entry have elements. Elements are
// mapped by href, so that an entry that moves keeps the focus.

import { element, fillName, icon, iconButton } from "./element.js"
import { prefetch } from "./folder.js"
import { parentOf, pathText, visible } from "./href.js"
import { later } from "./load.js"
import { may } from "./rights.js"
import { bytes, dateTime, shortTime, t } from "./strings.js"

const columns = [["name", "core.name"], ["size", "core.size"], ["modified", "core.modified"]]
const freshFor = 2500
const beyond = 8
// Maximum number of rows rendered for printing.
const printedAtMost = 5000
const thumbnailModule = later(() => import("./thumbnails.js"))
const hasTouch = matchMedia("(pointer: coarse)")
const longPress = 500
// A click on one of these elements clears the selection.
const ground = "html, body, #app, main, .stage, .items, .items-body, .items-head, .summary, .summary *, .prologue, .epilogue, .page-footer"

/// `delegate`: {open(entry, event), menu(entries, at, event, onClose)}.
export class Items {
    #folder
    #delegate
    #elements = new Map()
    #pool = []
    #size = { columns: 1, width: 0, height: 40, line: 40 }
    #decorators = new Set()
    #isAsked = false
    #isPrinted = false
    #thumbnails
    #typed = { text: "", time: 0 }

    constructor(folder, delegate) {
        this.#folder = folder
        this.#delegate = delegate
        this.header = element("div.items-header", { role: "row", "aria-rowindex": "1" },
            element("div.cell.check", { role: "columnheader" },
                (this.all = element("input", { type: "checkbox", "aria-label": t("core.selectAll"), onchange: () => this.#toggleAll() }))),
            columns.map(([key, label]) => element(`div.cell.${key}`, { role: "columnheader", "data-column": key },
                element("button.sort", { type: "button", onclick: () => folder.sortBy(key) }, t(label), icon("down", "sort-arrow")))),
            element("div.cell.more", { role: "columnheader" }, element("span.unseen", {}, t("core.actions"))))
        this.body = element("div.items-body", { role: "rowgroup" })
        this.rest = element("p.items-rest", { hidden: true })
        this.element = element("div.items.list", {
            role: "grid", "aria-multiselectable": "true", "aria-label": t("core.entries"), "aria-colcount": "5",
        }, element("div.items-head", { role: "rowgroup" }, this.header), this.body)
        this.#listen()
        this.#listenForPrinting()
    }

    /// "list" or "grid".
    get layout() { return this.element.classList.contains("grid") ? "grid" : "list" }
    set layout(layout) {
        this.element.classList.toggle("grid", layout === "grid")
        this.element.classList.toggle("list", layout !== "grid")
        for (const node of this.#elements.values()) {
            this.#thumbnails?.hide(node.querySelector(".picture"))
            node.remove()
        }
        this.#elements.clear()
        this.#pool = []
        if (layout === "grid") this.#loadThumbnails()
        this.update()
    }

    async #loadThumbnails() {
        if (this.#thumbnails) return
        try {
            const { Thumbnails, canShow } = await thumbnailModule()
            this.#thumbnails = Object.assign(new Thumbnails(), { canShow })
        } catch {
            // If the module cannot be loaded, icons are shown instead of thumbnails.
            return
        }
        this.update()
    }

    /// Registers `decorator(element, entry)`, which is called for each filled row so that other modules can add badges.
    decorate(decorator) {
        this.#decorators.add(decorator)
        this.update()
    }

    /// Returns the element with the name of an entry, for in-place editing; undefined if the entry has no row.
    nameElement(href) { return this.#elements.get(href)?.querySelector(".name-text") }

    /// Returns the row of an entry; undefined if the entry is far from the visible area.
    elementOf(href) { return this.#elements.get(href) }

    // Rendering

    #listen() {
        const folder = this.#folder
        addEventListener("scroll", () => this.#ask(), { passive: true })
        new ResizeObserver(() => this.update()).observe(this.element)
        // The ResizeObserver does not report changes of the window height.
        addEventListener("resize", () => this.#ask())
        document.addEventListener("click", (event) => {
            if (folder.selection.size > 0 && event.target.matches(ground)) folder.select([])
        })
        folder.addEventListener("change", () => this.update())
        folder.addEventListener("open", () => this.update())
        folder.addEventListener("selection", () => this.update())
        folder.addEventListener("focus", () => this.#markFocus())
        this.body.addEventListener("click", (event) => this.#click(event))
        this.body.addEventListener("dblclick", (event) => {
            const entry = this.#entryAt(event)
            if (!entry || event.target.closest("a, button, input") || event.ctrlKey || event.metaKey || event.shiftKey) return
            this.#delegate.open(entry, event)
        })
        this.body.addEventListener("contextmenu", (event) => this.#contextMenu(event))
        this.body.addEventListener("pointerdown", (event) => this.#press(event))
        this.body.addEventListener("focusin", (event) => {
            const entry = this.#entryAt(event)
            if (entry) folder.setFocus(entry.href)
        })
        this.element.addEventListener("keydown", (event) => this.#key(event))
    }

    #listenForPrinting() {
        const print = (isPrinted) => {
            this.#isPrinted = isPrinted
            const rest = isPrinted ? this.#folder.view.length - printedAtMost : 0
            this.rest.hidden = rest <= 0
            this.rest.textContent = rest > 0 ? t("core.notPrinted", { count: rest }) : ""
            this.element.after(this.rest)
            this.#show(false)
        }
        addEventListener("beforeprint", () => print(true))
        addEventListener("afterprint", () => print(false))
    }

    #ask() {
        if (this.#isAsked) return
        this.#isAsked = true
        requestAnimationFrame(() => {
            this.#isAsked = false
            this.#show(false)
        })
    }

    /// Renders the current state of the folder.
    update() {
        this.#measure()
        const { view, selection, sort } = this.#folder
        const { columns: across, line } = this.#size
        this.body.style.height = `${Math.ceil(view.length / across) * line}px`
        this.element.setAttribute("aria-rowcount", String(view.length + 1))
        this.element.classList.toggle("has-selection", selection.size > 0)
        this.element.classList.toggle("is-found", this.#folder.query !== "")
        this.all.checked = selection.size > 0 && selection.size >= view.length
        this.all.indeterminate = selection.size > 0 && selection.size < view.length
        for (const header of this.header.querySelectorAll("[data-column]")) {
            const isSorted = header.dataset.column === sort.key
            if (isSorted) header.setAttribute("aria-sort", sort.isDescending ? "descending" : "ascending")
            else header.removeAttribute("aria-sort")
        }
        this.#show(true)
    }

    #measure() {
        const style = getComputedStyle(this.element)
        const width = this.body.clientWidth
        if (this.layout === "grid") {
            const across = Math.max(2, Math.floor(width / parseFloat(style.getPropertyValue("--tile-width"))))
            const line = parseFloat(style.getPropertyValue("--tile-height"))
            this.#size = { columns: across, width: width / across, height: line, line }
        } else {
            const line = parseFloat(style.getPropertyValue("--row-height")) || 40
            this.#size = { columns: 1, width, height: line, line }
        }
    }

    /// Creates and removes elements for the visible range. `isWhole` also refills existing elements.
    #show(isWhole) {
        const { view } = this.#folder
        const { columns: across, line } = this.#size
        const top = -this.body.getBoundingClientRect().top
        const first = this.#isPrinted ? 0 : Math.max(0, Math.floor(top / line) - beyond) * across
        const last = Math.min(view.length, this.#isPrinted ? printedAtMost : (Math.ceil((top + innerHeight) / line) + beyond) * across)
        const wanted = new Set()
        for (let index = first; index < last; index++) wanted.add(view[index].href)
        // Keep the focused element even when it is scrolled out of view.
        const held = document.activeElement?.closest?.(".item")
        if (held && this.body.contains(held) && this.#folder.indexOf(held.dataset.href) >= 0) wanted.add(held.dataset.href)
        for (const [href, node] of this.#elements) {
            if (wanted.has(href)) continue
            this.#elements.delete(href)
            const hadFocus = node.contains(document.activeElement)
            node.remove()
            this.#thumbnails?.hide(node.querySelector(".picture"))
            if (this.#pool.length < 60) this.#pool.push(node)
            if (hadFocus) queueMicrotask(() => this.focusCurrent())
        }
        let before
        for (const href of wanted) {
            const index = this.#folder.indexOf(href)
            let node = this.#elements.get(href)
            const isNew = node === undefined
            if (isNew) {
                node = this.#pool.pop() ?? this.#make()
                this.#elements.set(href, node)
            }
            if (isNew || isWhole || node.dataset.index !== String(index)) this.#fill(node, view[index], index)
            // Keep the DOM order equal to the view order for assistive technology.
            if (node.parentNode !== this.body || (before && before.nextSibling !== node)) {
                if (!node.contains(document.activeElement)) {
                    if (before) before.after(node)
                    else this.body.prepend(node)
                }
            }
            before = node
        }
        this.#markFocus()
    }

    #make() {
        return element("div.item", { role: "row", tabindex: "-1" },
            element("div.cell.check", { role: "gridcell" }, element("input", { type: "checkbox", tabindex: "-1" })),
            element("div.cell.name", { role: "gridcell" },
                element("span.picture"),
                element("span.name-box", {},
                    element("a.name-link", { tabindex: "-1", draggable: "false" }, element("bdi.name-text")),
                    element("span.where"), element("span.badges"))),
            element("div.cell.size", { role: "gridcell" }),
            element("div.cell.modified", { role: "gridcell" }, element("time")),
            element("div.cell.more", { role: "gridcell" }, iconButton("more", t("core.actions"), () => {})))
    }

    #fill(node, entry, index) {
        const { selection, cut, fresh, query, href: here } = this.#folder
        const { columns: across, width, height } = this.#size
        const name = visible(entry.name)
        const isSelected = selection.has(entry.href)
        node.dataset.index = index
        node.dataset.href = entry.href
        node.dataset.type = entry.type
        if (entry.isFolder && may("create", entry)) node.dataset.dropHref = entry.href
        else delete node.dataset.dropHref
        node.draggable = !hasTouch.matches
        node.setAttribute("aria-rowindex", index + 2)
        node.setAttribute("aria-selected", String(isSelected))
        node.classList.toggle("is-cut", cut.has(entry.href))
        const isFresh = Date.now() - (fresh.get(entry.href) ?? 0) < freshFor
        node.classList.toggle("is-fresh", isFresh)
        const isRight = document.documentElement.dir === "rtl"
        const x = (index % across) * width * (isRight ? -1 : 1)
        node.style.transform = `translate(${x}px, ${Math.floor(index / across) * height}px)`
        node.style.width = across > 1 ? `${width}px` : ""

        const [check, nameCell, size, modified, more] = node.children
        check.firstChild.checked = isSelected
        check.firstChild.setAttribute("aria-label", t("core.selectName", { name }))
        const link = nameCell.querySelector(".name-link")
        link.setAttribute("href", entry.href)
        const text = link.firstChild
        if (text.textContent !== name) {
            fillName(text, name, entry.isFolder)
            // Let screen readers read a split name as one word.
            link.setAttribute("aria-label", name)
        }
        link.title = name
        this.#fillPicture(nameCell.firstChild, entry)
        nameCell.querySelector(".where").textContent = query && pathText(parentOf(entry.href).slice(here.length))
        const badges = nameCell.querySelector(".badges")
        badges.replaceChildren()
        size.textContent = bytes(entry.size)
        const time = modified.firstChild
        time.textContent = shortTime(entry.modified)
        time.title = dateTime(entry.modified)
        if (Number.isFinite(entry.modified)) time.dateTime = new Date(entry.modified).toISOString()
        else time.removeAttribute("datetime")
        const button = more.firstChild
        button.setAttribute("aria-label", t("core.actionsFor", { name }))
        button.setAttribute("aria-haspopup", "menu")
        button.tabIndex = -1
        for (const decorator of this.#decorators) decorator(node, entry)
    }

    #fillPicture(picture, entry) {
        const hasThumbnail = this.layout === "grid" && this.#thumbnails?.canShow(entry) && may("read", entry)
        const key = hasThumbnail ? entry.href + entry.etag : entry.type
        if (picture.dataset.key === key) return
        picture.dataset.key = key
        const showIcon = () => picture.replaceChildren(icon(entry.type, `type-${entry.type}`))
        showIcon()
        if (!hasThumbnail) {
            this.#thumbnails?.hide(picture)
            return
        }
        this.#thumbnails.enter(this.#folder.href)
        this.#thumbnails.show(picture, entry, showIcon)
    }

    #markFocus() {
        const { focus, view } = this.#folder
        const at = focus && this.#folder.indexOf(focus) >= 0 ? focus : view[0]?.href
        for (const [href, node] of this.#elements) node.tabIndex = href === at ? 0 : -1
    }

    /// Scrolls to an entry and focuses it.
    focusOn(href, { isSelected = false, isCentered = false } = {}) {
        if (this.#folder.indexOf(href) < 0) return
        this.#folder.setFocus(href)
        if (isSelected) this.#folder.select([href])
        this.reveal(href, isCentered)
        this.#elements.get(href)?.focus({ preventScroll: true })
    }

    focusCurrent() {
        const { focus, view } = this.#folder
        const href = this.#folder.indexOf(focus) >= 0 ? focus : view[0]?.href
        if (href) this.focusOn(href)
    }

    reveal(href, isCentered = false) {
        const index = this.#folder.indexOf(href)
        const { columns: across, line } = this.#size
        const top = this.body.getBoundingClientRect().top + Math.floor(index / across) * line
        // Keep the entry clear of the sticky bars at the top and bottom.
        const upper = parseFloat(getComputedStyle(this.element).scrollMarginTop) || 0
        const lower = innerHeight - (parseFloat(getComputedStyle(this.element).scrollMarginBottom) || 0)
        if (isCentered && (top < upper || top + line > lower)) scrollBy(0, top - (innerHeight - line) / 2)
        else if (top < upper) scrollBy(0, top - upper)
        else if (top + line > lower) scrollBy(0, top + line - lower)
        this.#show(false)
    }

    // Pointers

    #entryAt(event) {
        const item = event.target.closest(".item")
        return item ? this.#folder.entry(item.dataset.href) : undefined
    }

    #press(event) {
        const entry = this.#entryAt(event)
        if (!entry) return
        this.#wasLong = false
        if (entry.isFolder && event.button === 0 && event.target.closest(".name-link")) prefetch(entry.href)
        if (event.pointerType !== "touch") return
        // A long press selects the entry.
        const { clientX, clientY } = event
        const end = () => {
            clearTimeout(timer)
            for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, end)
            removeEventListener("pointermove", moved)
        }
        const moved = (next) => { if (Math.hypot(next.clientX - clientX, next.clientY - clientY) > 10) end() }
        const timer = setTimeout(() => {
            this.#wasLong = true
            this.#folder.toggle(entry.href)
            navigator.vibrate?.(10)
            end()
        }, longPress)
        for (const type of ["pointerup", "pointercancel"]) addEventListener(type, end)
        addEventListener("pointermove", moved)
    }
    #wasLong = false

    #click(event) {
        const entry = this.#entryAt(event)
        const folder = this.#folder
        if (!entry) return
        if (event.target.closest(".is-editing")) return
        if (this.#wasLong) {
            this.#wasLong = false
            event.preventDefault()
            return
        }
        if (event.target.closest("input[type=checkbox]")) {
            if (event.shiftKey) folder.selectTo(entry.href, true)
            else folder.toggle(entry.href)
            return
        }
        const button = event.target.closest(".more button")
        if (button) {
            this.#openMenu(entry, button, event)
            return
        }
        if (event.target.closest("button")) return
        const link = event.target.closest(".name-link")
        if (event.ctrlKey || event.metaKey) {
            event.preventDefault()
            folder.toggle(entry.href)
        } else if (event.shiftKey) {
            event.preventDefault()
            folder.selectTo(entry.href)
        } else if (event.pointerType === "touch" && folder.selection.size > 0) {
            event.preventDefault()
            folder.toggle(entry.href)
            return
        } else if (link || event.pointerType === "touch") {
            event.preventDefault()
            folder.setFocus(entry.href)
            this.#delegate.open(entry, event)
            return
        } else {
            folder.select([entry.href])
        }
        folder.setFocus(entry.href)
        this.#elements.get(entry.href)?.focus({ preventScroll: true })
    }

    #contextMenu(event) {
        const entry = this.#entryAt(event)
        if (!entry || event.target.closest("input[type=text]")) return
        event.preventDefault()
        // The long press has already selected the entry.
        if (event.pointerType === "touch" || this.#wasLong) return
        this.#openMenu(entry, { x: event.clientX, y: event.clientY }, event)
    }

    #openMenu(entry, at, event) {
        const folder = this.#folder
        // Select the entry while its menu is open and restore the previous selection afterwards.
        let onClose
        if (!folder.selection.has(entry.href)) {
            const before = [...folder.selection]
            folder.select([entry.href])
            onClose = () => folder.select(before.filter((href) => folder.entry(href)))
        }
        folder.setFocus(entry.href)
        this.#elements.get(entry.href)?.focus({ preventScroll: true })
        this.#delegate.menu(folder.selected, at, event, onClose)
    }

    #toggleAll() {
        if (this.#folder.selection.size >= this.#folder.view.length) this.#folder.select([])
        else this.#folder.selectAll()
    }

    // The keyboard

    #key(event) {
        if (event.defaultPrevented || event.target.closest("input[type=text], textarea") || !this.body.contains(event.target)) return
        const folder = this.#folder
        const { view } = folder
        const index = folder.indexOf(folder.focus)
        const entry = view[index]
        const { columns: across } = this.#size
        const perPage = Math.max(1, Math.floor(innerHeight / this.#size.line) - 3) * across
        const isRight = document.documentElement.dir === "rtl"
        const go = (to) => {
            const href = view[Math.max(0, Math.min(view.length - 1, to))]?.href
            if (!href) return
            if (event.shiftKey) folder.selectTo(href)
            else if (!event.ctrlKey && !event.metaKey) folder.select([href])
            this.focusOn(href)
        }
        const isPlain = !event.altKey
        switch (isPlain && event.key) {
        case "ArrowDown": go(index + across); break
        case "ArrowUp": go(index - across < 0 ? (across > 1 ? index : 0) : index - across); break
        case "ArrowLeft": if (across > 1) go(index + (isRight ? 1 : -1)); else return; break
        case "ArrowRight": if (across > 1) go(index + (isRight ? -1 : 1)); else return; break
        case "PageDown": go(index + perPage); break
        case "PageUp": go(index - perPage); break
        case "Home": go(0); break
        case "End": go(view.length - 1); break
        case " ":
            if (this.#typed.text && Date.now() - this.#typed.time < 800) this.#findTyped(event)
            else if (entry) folder.toggle(entry.href)
            break
        case "Enter":
            if (event.target.closest("button, input") || !entry) return
            this.#delegate.open(entry, event)
            break
        case "ContextMenu": case "F10": {
            if ((event.key === "F10" && !event.shiftKey) || !entry) return
            this.#openMenu(entry, this.#elements.get(entry.href).querySelector(".more button"), event)
            break
        }
        case "Escape":
            if (folder.selection.size === 0) return
            folder.select([])
            break
        case "a": case "A":
            if (event.ctrlKey || event.metaKey) folder.selectAll()
            else this.#findTyped(event)
            break
        default:
            if (event.altKey || event.ctrlKey || event.metaKey || event.key.length !== 1 || event.key === "?" || event.key === "/") return
            this.#findTyped(event)
        }
        event.preventDefault()
    }

    /// Focuses and selects the next entry whose name begins with the typed text.
    #findTyped(event) {
        const now = Date.now()
        const isNew = now - this.#typed.time > 800
        const text = (isNew ? "" : this.#typed.text) + event.key.toLowerCase()
        this.#typed = { text, time: now }
        const { view, focus } = this.#folder
        const from = Math.max(0, this.#folder.indexOf(focus)) + (text.length === 1 ? 1 : 0)
        for (let step = 0; step < view.length; step++) {
            const entry = view[(from + step) % view.length]
            if (!entry.name.toLowerCase().startsWith(text)) continue
            this.focusOn(entry.href, { isSelected: true })
            return
        }
    }
}
