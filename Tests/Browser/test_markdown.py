"""Markdown from a seeded generator: rendering always ends, and the preview only shows text.

`--short` always takes the same seed, so that repeated runs give the same result; otherwise, the seed is random.
DAVIT_SEED repeats a run; a failure prints the seed.
"""

import os
import random

from harness import test

DOCUMENTS = 1500
SHORT_SEED = 3716210615

GENERATE = """
async ([files, seed, count]) => {
    const { renderMarkdown } = await import(`${files}/preview/markdown.js`)
    // mulberry32: the same documents for the same seed in every browser.
    let state = seed >>> 0
    const next = () => {
        state = (state + 0x6D2B79F5) >>> 0
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
    }
    const below = (limit) => Math.floor(next() * limit)
    const pieces = [
        "\\n", "\\n", "\\n\\n", " ", "    ", "\\t", "# ", "###### ", "> ", "> > ", "- ", "* ", "1. ", "99. ", "- [ ] ", "```", "~~~js", "`", "``",
        "*", "**", "***", "_", "__", "~~", "[", "]", "](", ")", "![", "[a]: ", "<", ">", "<!--", "-->", "<script>", "<img src=x onerror=alert(1)>",
        "javascript:alert(1)", "data:text/html,x", "//host/x", "http://example.com/", "https://a.b/?c=%", "#part", "?preview=//host/x", "../..", "%2e%2e/",
        "&amp;", "&#0;", "&#x110000;", "&lt", "|", "| - |", "|:-:|", "---", "===", "\\\\", "\\u0000", "\\u202E", "\\uD800", "é", "👩‍👩‍👧", "word", "a b", "1",
    ]
    const elements = new Set(["A", "BLOCKQUOTE", "BR", "CODE", "DIV", "EM", "H1", "H2", "H3", "H4", "H5", "H6", "HR", "IMG", "INPUT", "LI", "OL", "P", "PRE", "S",
        "SPAN", "STRONG", "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL"])
    const attributes = new Set(["align", "alt", "aria-label", "checked", "class", "disabled", "href", "id", "loading", "rel", "src", "start", "style",
        "tabindex", "target", "type"])
    for (let number = 0; number < count; number += 1) {
        let text = ""
        for (let left = below(120); left >= 0; left -= 1) {
            const piece = pieces[below(pieces.length)]
            text += below(40) ? piece : piece.repeat(below(400))
        }
        const fail = (why) => { throw new Error(`${why}, in ${JSON.stringify(text).slice(0, 2000)}`) }
        const fragment = renderMarkdown(text, location.pathname + "a.md")
        for (const made of fragment.querySelectorAll("*")) {
            if (!elements.has(made.tagName)) fail(`an element ${made.tagName}`)
            for (const { name } of made.attributes) if (!attributes.has(name)) fail(`an attribute ${name}`)
            if (made.tagName === "A" && made.hasAttribute("href")) {
                const url = new URL(made.getAttribute("href"), location.href)
                if (!["http:", "https:", "mailto:"].includes(url.protocol)) fail(`a link to ${url}`)
                if (url.protocol !== "mailto:" && url.origin !== location.origin && !made.rel.includes("noopener")) fail(`a link to ${url} without noopener`)
            }
            if (made.tagName === "IMG" && new URL(made.src, location.href).origin !== location.origin) fail(`a picture from ${made.src}`)
            if (made.tagName === "INPUT" && !(made.type === "checkbox" && made.disabled)) fail("an input that can be changed")
        }
        if (fragment.textContent.length > 4 * text.length + 100) fail("more text than the document has")
    }
    return count
}
"""


@test
def generated_documents_are_rendered_without_scripts(lab):
    seed = int(os.environ.get("DAVIT_SEED") or (SHORT_SEED if lab.arguments.short else random.randrange(1 << 32)))
    page = lab.page()
    files = page.evaluate("document.querySelector('script[type=module]').src.replace(/\\/[^/]*$/, '')")
    try:
        done = page.evaluate(GENERATE, [files, seed, DOCUMENTS])
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error}") from None
    assert done == DOCUMENTS, done
