// Text preview with syntax highlighting, loaded in parts; Markdown is rendered.

import { DavError } from "../dav.js"
import { element, icon, iconButton } from "../element.js"
import { announce } from "../messages.js"
import { page } from "../page.js"
import { may } from "../rights.js"
import { readSetting, writeSetting } from "../settings.js"
import { bytes, t } from "../strings.js"
import { decode } from "./encoding.js"
import { languageOf } from "./languages.js"
import { renderMarkdown } from "./markdown.js"
import { Tokens } from "./tokens.js"

const part = 1 << 20
const linesOfBlock = 200
const maxColored = 100_000
/// Maximum size of a file in the editor.
export const editable = 4 << 20

/// Reads a part of a file from an offset: {bytes, total, etag, from}. If the entity tag no longer matches `etag`, reads from 0.
const readPart = async (entry, from, etag, signal) => {
    // Bypass the cache for parts: Chromium combines cached bytes of the old file with the length of the new one.
    const isPart = from > 0 || entry.size > part
    const headers = isPart ? { Range: `bytes=${from}-${from + part - 1}`, ...(etag ? { "If-Range": etag } : {}) } : {}
    const response = await fetch(entry.href, { headers, signal, cache: isPart ? "no-store" : "no-cache" })
    if (response.status === 416) return { bytes: new Uint8Array(), total: from, etag, from }
    if (!response.ok) throw new DavError(response.status, { href: entry.href })
    const total = Number(/\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1] ?? NaN)
    if (response.status === 206) return { bytes: new Uint8Array(await response.arrayBuffer()), total, etag: response.headers.get("ETag"), from }
    // The server sent the full content: read no more than is shown.
    const reader = response.body.getReader()
    const chunks = []
    let count = 0
    let isWhole = false
    while (count < part) {
        const { done, value } = await reader.read()
        isWhole = done
        if (done) break
        chunks.push(value)
        count += value.length
    }
    if (!isWhole) reader.cancel()
    const all = new Uint8Array(await new Blob(chunks).arrayBuffer())
    return { bytes: all, total: isWhole ? all.length : Math.max(Number(response.headers.get("Content-Length")) || 0, all.length + 1), etag: response.headers.get("ETag"), from: 0 }
}

export const show = async (view) => {
    const { entry, stage, tools, signal, fail } = view
    const first = await readPart(entry, 0, "", signal)
    if (signal.aborted) return undefined
    const language = languageOf(entry.name)
    const found = decode(first.bytes, first.bytes.length < first.total)
    if (!found) return fail()
    let known = first.bytes
    let { total, etag } = first
    let text = found.text
    const isMarkdown = language === "markdown"
    let isSource = !isMarkdown || readSetting("markdown", ["rendered", "source"]) === "source"

    const scroll = element("div.preview-scroll", { tabindex: "0", role: "region", "aria-labelledby": "preview-title" })
    const more = element("button.plain", { type: "button" }, t("preview.more"))
    const rest = element("p.preview-rest", { hidden: true }, element("span"), more)
    let source
    const fill = () => {
        source?.close()
        source = undefined
        if (isSource) {
            source = sourceView(text, language ?? "", scroll)
            scroll.replaceChildren(source.element, rest)
        } else {
            const article = element("article.markdown", {}, renderMarkdown(text, entry.href))
            article.addEventListener("click", (event) => followLink(event, article, view))
            scroll.replaceChildren(article, rest)
        }
        rest.hidden = known.length >= total
        rest.firstChild.textContent = t("preview.partShown", { shown: bytes(known.length), total: bytes(total) })
        showTools()
    }
    more.addEventListener("click", async () => {
        more.disabled = true
        try {
            const next = await readPart(entry, known.length, etag, signal)
            // Start again if the file has changed.
            known = next.from === 0 ? next.bytes : new Uint8Array(await new Blob([known, next.bytes]).arrayBuffer())
            ;({ total, etag } = next)
            text = decode(known, known.length < total)?.text ?? text
            const top = scroll.scrollTop
            fill()
            scroll.scrollTop = top
            announce(rest.hidden ? t("preview.allShown") : rest.firstChild.textContent)
            if (rest.hidden) scroll.focus()
        } catch (error) {
            if (error.name !== "AbortError") rest.firstChild.textContent = t("preview.notMore")
        }
        more.disabled = false
    })
    const showTools = () => {
        const wrap = readSetting("wrap", ["off", "on"]) === "on"
        scroll.classList.toggle("is-wrapped", wrap)
        const toggle = (name, label, isOn, run) => {
            const button = iconButton(name, label, run)
            button.setAttribute("aria-pressed", String(isOn))
            return button
        }
        const canEdit = page.canWrite && may("change", view.entry) && total <= editable && known.length >= total
        tools.replaceChildren(...[
            isMarkdown && toggle(isSource ? "eye" : "code", t(isSource ? "preview.rendered" : "preview.source"), false, () => {
                isSource = !isSource
                writeSetting("markdown", isSource ? "source" : "rendered")
                fill()
                tools.firstChild.focus()
            }),
            isSource && toggle("wrap", t("preview.wrap"), wrap, () => {
                writeSetting("wrap", wrap ? "off" : "on")
                showTools()
                tools.querySelector("[aria-pressed]:last-of-type")?.focus()
            }),
            canEdit && element("button.plain.preview-edit", { type: "button", onclick: view.edit }, icon("edit"), element("span", {}, t("preview.edit"))),
        ].filter(Boolean))
    }
    fill()
    stage.replaceChildren(scroll)
    scroll.focus()
    return { close: () => source?.close() }
}

/// Scrolls to headings for links within the document, without changing the address.
const followLink = (event, article, { app, open }) => {
    const link = event.target.closest("a")
    const target = link?.getAttribute("href")
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    if (target.startsWith("#md-")) {
        event.preventDefault()
        let id = target.slice(1)
        try { id = decodeURIComponent(id) } catch { /* Use the undecoded text. */ }
        const heading = [...article.querySelectorAll("[id]")].find((one) => one.id === id)
        heading?.setAttribute("tabindex", "-1")
        heading?.focus({ preventScroll: true })
        heading?.scrollIntoView()
    } else if (/\?preview=[^&]+$/.test(target)) {
        const [folder, name] = target.split("?preview=")
        if (folder !== app.folder.href) return
        event.preventDefault()
        open(folder + name)
    }
}

/// Renders lines in blocks. All text is present for the browser's search; a block is highlighted when it becomes visible.
const sourceView = (text, language, root) => {
    const plain = text.replace(/\r\n?/g, "\n")
    const tokens = new Tokens(plain, language)
    const node = element("div.source")
    const observer = new IntersectionObserver((seen) => {
        for (const { isIntersecting, target } of seen) {
            if (!isIntersecting) continue
            observer.unobserve(target)
            // Do not highlight very long lines, such as minified code: they would need too many elements.
            if (target.dataset.to - target.dataset.from > maxColored) continue
            target.querySelector("code").replaceChildren(tokens.nodes(Number(target.dataset.from), Number(target.dataset.to)))
        }
    }, { root, rootMargin: "800px" })
    let from = 0
    let line = 1
    while (from <= plain.length) {
        let to = from
        let count = 0
        for (; count < linesOfBlock && to < plain.length; count++) {
            const end = plain.indexOf("\n", to)
            to = end < 0 ? plain.length : end + 1
        }
        if (count === 0 && line > 1) break
        const isLast = to >= plain.length
        const shown = Math.max(1, count)
        const numbers = Array.from({ length: shown }, (_, index) => line + index).join("\n")
        const block = element("div.source-block", { "data-from": from, "data-to": to },
            element("pre.source-numbers", { "aria-hidden": "true" }, numbers), element("pre", {}, element("code", {}, plain.slice(from, to))))
        block.style.containIntrinsicHeight = `auto ${shown * 1.5}em`
        node.append(block)
        observer.observe(block)
        line += count
        from = to
        if (isLast) break
    }
    node.style.setProperty("--digits", String(line).length)
    return { element: node, close: () => observer.disconnect() }
}
