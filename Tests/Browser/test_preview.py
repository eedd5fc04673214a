"""Previews, and the safety of hostile files."""

import base64
import os
import struct
import zlib

from harness import expect, test

OUTCH = "<script>window.outch = 1</script><img src=x onerror='window.outch = 1'>"


def png(width, height):
    """Creates an image with a single color."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + b"\x20\x80\xc0" * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def wav(seconds):
    data = b"\x80" * (8000 * seconds)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
            + b"data" + struct.pack("<I", len(data)) + data)


def opened(lab, name, **options):
    page = lab.page(f"?preview={name}", **options)
    page.locator("dialog.preview").wait_for()
    return page


def unharmed(page):
    expect(page.evaluate("window.outch"), None, "code that a file has run")


@test
def images_are_fitted_and_zoomed(lab):
    lab.write("a.png", png(2400, 1200))
    lab.write("b.png", png(40, 30))
    page = lab.page()
    lab.wait_for_names(page, ["a.png", "b.png"])
    page.locator(".name-link", has_text="a.png").click()
    image = page.locator("img.preview-image")
    image.wait_for()
    expect(page.url.split("/")[-1], "?preview=a.png")
    lab.axe(page, "a picture")
    lab.screenshot(page, "preview-picture")
    whole = image.bounding_box()
    assert whole["width"] <= 1280 and abs(whole["width"] - 2 * whole["height"]) < 2, whole
    expect(page.evaluate("document.querySelector('img.preview-image').alt"), "a.png")
    page.keyboard.press("+")
    lab.until(page, "before => document.querySelector('img.preview-image').getBoundingClientRect().width > before * 1.4", whole["width"])
    page.keyboard.press("0")
    lab.until(page, "before => document.querySelector('img.preview-image').getBoundingClientRect().width === before", whole["width"])
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -500)
    lab.until(page, "before => document.querySelector('img.preview-image').getBoundingClientRect().width > before", whole["width"])
    # Panning.
    before = image.bounding_box()
    page.mouse.down()
    page.mouse.move(700, 420)
    page.mouse.up()
    after = image.bounding_box()
    assert after["x"] > before["x"] and after["y"] >= before["y"], (before, after)
    page.mouse.dblclick(640, 400)
    lab.until(page, "before => document.querySelector('img.preview-image').getBoundingClientRect().width === before", whole["width"])
    # A small image keeps its size.
    page.keyboard.press("ArrowRight")
    lab.until(page, "document.querySelector('img.preview-image')?.getBoundingClientRect().width === 40")
    expect(page.url.split("/")[-1], "?preview=b.png")


@test
def keys_work_while_a_file_is_loading(lab):
    """The first file has no previous one: its button is disabled, and must not keep the focus."""
    lab.write("a.png", png(40, 30))
    lab.write("b.txt", "this is b.txt")
    page = lab.page()
    lab.wait_for_names(page, ["a.png", "b.txt"])
    lab.held(page, "**/a.png")
    page.locator(".name-link", has_text="a.png").click()
    page.get_by_text("1 of 2").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("this is b.txt").wait_for()
    # The last file has no next one.
    page.keyboard.press("ArrowLeft")
    page.get_by_text("1 of 2").wait_for()
    page.get_by_role("button", name="Next file").click()
    page.get_by_text("this is b.txt").wait_for()
    expect(page.evaluate("document.activeElement.closest('dialog.preview') !== null && !document.activeElement.disabled"), True, "the focus")
    page.keyboard.press("ArrowLeft")
    page.get_by_text("1 of 2").wait_for()


@test
def previews_can_be_navigated_and_left(lab):
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, f"this is {name}")
    (lab.share / "folder").mkdir()
    page = lab.page()
    lab.wait_for_names(page, ["folder", "a.txt", "b.txt", "c.txt"])
    page.locator(".name-link", has_text="b.txt").click()
    page.get_by_text("this is b.txt").wait_for()
    page.get_by_text("2 of 3").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("this is c.txt").wait_for()
    expect(page.locator("dialog .preview-step").last.is_disabled(), True)
    page.get_by_role("button", name="Previous file").click()
    page.get_by_text("this is b.txt").wait_for()
    # Moving between files adds no history entries: Back closes the preview, and the last shown row is focused.
    page.go_back()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    expect(page.evaluate("document.activeElement.dataset.href"), "/b.txt", "the focus")
    page.go_forward()
    page.get_by_text("this is b.txt").wait_for()
    page.keyboard.press("Escape")
    lab.until(page, "document.querySelector('dialog.preview') === null && location.search === ''")
    # Open a preview by its link.
    page.goto(lab.url + "?preview=c.txt")
    page.get_by_text("this is c.txt").wait_for()
    page.locator(".preview-scroll").press("ArrowLeft")
    page.get_by_text("this is b.txt").wait_for()
    page.get_by_role("button", name="Close").click()
    lab.until(page, "document.querySelector('dialog.preview') === null && location.search === ''")
    lab.wait_for_names(page, ["folder", "a.txt", "b.txt", "c.txt"])
    # A link to a folder opens the folder, and a link to a missing file reports an error.
    page.goto(lab.url + "?preview=folder/")
    lab.until(page, "location.pathname === '/folder/'")
    lab.allow("404")
    page.goto(lab.url + "?preview=nothing.txt")
    page.get_by_text("The item no longer exists.").wait_for()


@test
def long_name_keeps_its_extension(lab):
    name = "Minutes of the meeting about the summer house and all that is to be done, second draft.tar.gz"
    lab.write(name, "x")
    page = lab.page(f"?preview={name.replace(' ', '%20').replace(',', '%2C')}", phone=True)
    page.get_by_role("dialog", name=name, exact=True).wait_for()
    title = page.locator("#preview-title")
    expect(title.text_content(), name)
    end, room = title.locator("span").last.bounding_box(), title.bounding_box()
    assert end["x"] + end["width"] <= room["x"] + room["width"] + 1, (end, room)


@test
def a_double_click_opens_one_preview(lab):
    lab.write("a.txt", "its content")
    page = lab.page()
    release = lab.held(page, "**/preview/main.js")
    page.locator(".item .name-link").dblclick()
    release()
    page.locator(".source code", has_text="its content").wait_for()
    expect(page.locator("dialog.preview").count(), 1, "previews")
    page.keyboard.press("Escape")
    lab.until(page, "document.querySelector('dialog.preview') === null && location.search === ''")


@test
def focus_is_trapped_and_restored(lab):
    for name in ("a.txt", "b.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt"])
    page.locator(".item").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator(".preview-scroll").wait_for()
    for _ in range(20):
        page.keyboard.press("Tab")
        inside = page.evaluate("document.activeElement === document.body || document.activeElement.closest('dialog') !== null")
        assert inside, "the focus has left the preview"
    page.keyboard.press("Escape")
    lab.until(page, "document.activeElement.dataset?.href === '/b.txt'")


@test
def swipes_navigate_between_previews_on_a_phone(lab):
    lab.write("a.png", png(40, 30))
    lab.write("b.png", png(50, 30))
    page = opened(lab, "a.png", phone=True)
    page.locator("img.preview-image").wait_for()
    lab.axe(page, "a picture on a phone")
    lab.screenshot(page, "preview-phone")
    swipe(page, 300, 60)
    lab.until(page, "document.querySelector('img.preview-image')?.naturalWidth === 50")
    swipe(page, 60, 300)
    lab.until(page, "document.querySelector('img.preview-image')?.naturalWidth === 40")


def swipe(page, start, end):
    session = page.context.new_cdp_session(page)
    for kind, x in (("touchStart", start), ("touchMove", (start + end) / 2), ("touchMove", end), ("touchEnd", None)):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if x is None else [{"x": x, "y": 400}]})
    session.detach()


@test
def audio_can_be_played_from_any_position(lab):
    lab.write("a.wav", wav(20))
    page = opened(lab, "a.wav")
    lab.until(page, "document.querySelector('audio')?.duration === 20")
    page.evaluate("document.querySelector('audio').currentTime = 15")
    lab.until(page, "document.querySelector('audio').currentTime === 15 && document.querySelector('audio').seeking === false")
    lab.axe(page, "sound")
    lab.screenshot(page, "preview-sound")


@test
def unsupported_types_can_be_downloaded(lab):
    for name, content in (("a.bin", bytes(range(256)) * 10), ("b.mp4", b"no video"), ("c.png", b"no picture"), ("d.zip", b"PK")):
        lab.write(name, content)
    lab.allow("")
    page = opened(lab, "a.bin")
    for name, words in (("a.bin", "No preview available."), ("b.mp4", "cannot play this file"), ("c.png", "cannot display this image"),
                        ("d.zip", "No preview available.")):
        page.locator(".preview-other", has_text=words).wait_for()
        link = page.locator(".preview-other a")
        expect((link.get_attribute("href"), link.get_attribute("download")), (f"/{name}", name))
        if name == "a.bin":
            lab.axe(page, "a file without a preview")
            lab.screenshot(page, "preview-other")
        page.locator(".preview-close").focus()
        page.keyboard.press("ArrowRight")


@test
def text_of_every_encoding_is_shown(lab):
    text = "Grüße, Ελλάδα\n"
    for name, content in (
        ("1.txt", text.encode()), ("2.txt", b"\xef\xbb\xbf" + text.encode()), ("3.txt", b"\xff\xfe" + text.encode("utf-16-le")),
        ("4.txt", b"\xfe\xff" + text.encode("utf-16-be")), ("5.txt", "Gr\u00fc\u00dfe".encode("latin-1")), ("6.txt", b""),
        ("7", b"no ending\n"),
    ):
        lab.write(name, content)
    page = opened(lab, "1.txt")
    for wanted in (text, text, text, text, "Grüße", "", "no ending\n"):
        found = lab.until(page, "wanted => { const code = document.querySelector('.source code');"
                                "return code && code.textContent === wanted ? [code.textContent] : null }", wanted)
        expect(found, [wanted])
        page.keyboard.press("ArrowRight")


@test
def source_has_colors_and_line_numbers(lab):
    lab.write("a.swift", 'struct Point {\n    // where\n    let name = "p\\"q"\n    let x = 0x1F\n}\n')
    page = opened(lab, "a.swift")
    lab.until(page, "document.querySelector('.tok-k') !== null")
    found = page.eval_on_selector_all(".source span", "all => all.map(one => [one.className, one.textContent])")
    expect(found, [["tok-k", "struct"], ["tok-t", "Point"], ["tok-c", "// where"], ["tok-k", "let"], ["tok-s", '"p\\"q"'],
                   ["tok-k", "let"], ["tok-n", "0x1F"]])
    expect(page.locator(".source-numbers").inner_text(), "1\n2\n3\n4\n5")
    lab.axe(page, "source")
    lab.screenshot(page, "preview-source")
    dark = opened(lab, "a.swift", dark=True)
    lab.until(dark, "document.querySelector('.tok-k') !== null")
    lab.axe(dark, "source in the dark")
    lab.screenshot(dark, "preview-source-dark")


@test
def long_files_are_loaded_in_parts(lab):
    line = b"0123456789 this is a line of a long log\n"
    content = (line * 60_000)[:2_300_000 - 2] + "é".encode()
    lab.write("long.log", content)
    sizes = []
    context = lab.context()
    context.on("response", lambda answer: sizes.append(answer.headers.get("content-range")) if answer.url.endswith("long.log") and answer.status == 206 else None)
    page = opened(lab, "long.log", context=context)
    page.get_by_text("of 2.3 MB.").wait_for()
    expect(sizes, ["bytes 0-1048575/2300000"])
    shown = "[...document.querySelectorAll('.source code')].map(one => one.textContent).join('').length"
    expect(page.evaluate(shown), 1 << 20)
    for _ in range(2):
        page.get_by_role("button", name="Show more").click()
        lab.until(page, "document.querySelector('.preview-rest button').disabled === false")
    expect(page.evaluate(shown), 2_300_000 - 1)
    expect(page.locator(".preview-rest").is_visible(), False)
    expect(page.evaluate("[...document.querySelectorAll('.source code')].at(-1).textContent.endsWith('é')"), True)
    # If the file is replaced before more of it is requested, the preview starts again.
    page.reload()
    page.get_by_text("of 2.3 MB.").wait_for()
    lab.server.request("PUT", "/long.log", b"short now\n")
    page.get_by_role("button", name="Show more").click()
    lab.until(page, "document.querySelector('.source code')?.textContent === 'short now\\n'")


@test
def markdown_is_rendered(lab):
    lab.write("docs/read me.md", """Title
=====

Some *emphasis*, **strong**, ~~gone~~, `code <b>`, a [link](other.md), an ![picture](../a.png) and
[elsewhere](https://example.org/ "x").

- [x] done
- [ ] open
  1. one
  2. two

| a | b |
|---|--:|
| 1 | 2 |

> quoted
> text

```swift
let x = 1
```

[Up](#title) and <https://example.org/> & &lt; \\*no\\*
""")
    lab.write("docs/other.md", "# The other one\n")
    lab.write("a.png", png(4, 4))
    page = lab.page("docs/?preview=read%20me.md")
    page.locator("article.markdown").wait_for()
    html = page.evaluate("document.querySelector('article.markdown').innerHTML")
    for part in ('<h1 id="md-title">Title</h1>', "<em>emphasis</em>", "<strong>strong</strong>", "<s>gone</s>", "<code>code &lt;b&gt;</code>",
                 '<a href="/docs/?preview=other.md">link</a>', 'src="/a.png"', 'href="https://example.org/" target="_blank"',
                 'rel="noopener noreferrer nofollow"', "<blockquote><p>quoted\ntext</p></blockquote>", '<span class="tok-k">let</span>',
                 "&amp; &lt; *no*", '<ol><li>one</li><li>two</li></ol>'):
        assert part in html, f"{part} is not in {html}"
    expect(page.evaluate("[...document.querySelectorAll('.task input')].map(one => one.checked)"), [True, False])
    expect(page.evaluate("[...document.querySelectorAll('.markdown td')].map(one => one.textContent)"), ["1", "2"])
    lab.axe(page, "Markdown")
    lab.screenshot(page, "preview-markdown")
    page.locator("article a", has_text="link").click()
    page.get_by_role("heading", name="The other one").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Title").wait_for()
    page.get_by_role("button", name="Show source").click()
    page.locator(".source code", has_text="**strong**").wait_for()
    page.go_forward()
    page.locator(".source code", has_text="# The other one").wait_for()
    page.keyboard.press("Escape")
    lab.until(page, "document.querySelector('dialog.preview') === null && location.pathname === '/docs/'")


@test
def hostile_files_are_harmless(lab):
    lab.allow("")
    lab.write("1.md", f"""{OUTCH}
[a](javascript:window.outch=1) [b](JaVaScRiPt:window.outch=1) [c](data:text/html,<script>window.outch=1</script>) [d](java\tscript:window.outch=1)
![p](javascript:window.outch=1) ![out](https://example.org/track.png) <javascript:window.outch=1> [e](&#106;avascript:window.outch=1)
[f]: javascript:window.outch=1
[f] [__proto__] [constructor] # <svg onload=window.outch=1>
[g](vbscript:x) [h](<javascript:window.outch=1>) [i](//example.org/x) [j](\x01javascript:window.outch=1)
""")
    lab.write("2.html", f"<!doctype html>{OUTCH}")
    lab.write("3.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='window.parent.outch = 1'><script>parent.outch = 1</script></svg>")
    lab.write(f"4 <img src=x onerror='window.outch=1'>.txt", OUTCH)
    page = opened(lab, "1.md")
    page.locator("article.markdown").wait_for()
    hrefs = page.eval_on_selector_all("article a", "all => all.map(one => one.href)")
    assert all(href.startswith((lab.url, "https://example.org/", "http://example.org/")) for href in hrefs), hrefs
    expect(page.eval_on_selector_all("article img", "all => all.map(one => one.src)"), [])
    for link in page.locator("article span").all():
        link.click()
    unharmed(page)
    page.locator(".preview-close").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".source code", has_text="<!doctype html>").wait_for()
    unharmed(page)
    page.locator("dialog").get_by_role("button", name="Actions for 2.html").click()
    with page.expect_popup() as popup:
        page.get_by_role("menuitem", name="Open in new tab (sandboxed)").click()
    popup.value.wait_for_load_state()
    expect(popup.value.evaluate("self.origin"), "null", "the origin of HTML")
    popup.value.close()
    page.locator(".preview-close").focus()
    page.keyboard.press("ArrowRight")
    page.locator("img.preview-image").wait_for()
    unharmed(page)
    page.locator(".preview-close").focus()
    page.keyboard.press("ArrowRight")
    page.locator(".source code", has_text="onerror").wait_for()
    expect(page.locator("dialog h2").text_content(), "4 <img src=x onerror='window.outch=1'>.txt")
    unharmed(page)


@test
def long_hostile_text_is_rendered_quickly(lab):
    size = 1 << 20
    parts = ["[", "![a](", "*a ", "_a", "`", "> ", "- ", "<!--", "~~", "\\", "[a][", "|a", "&#", "(/", '"', "r#\"", "<a ", "/*", "${"]
    page = lab.page()
    base = page.evaluate("document.querySelector('script[type=module]').src").rsplit("/", 1)[0]
    for part in parts:
        took = page.evaluate("""async ([base, part, size]) => {
            const { renderMarkdown } = await import(`${base}/preview/markdown.js`)
            const { tokenize } = await import(`${base}/preview/tokens.js`)
            const { languages } = await import(`${base}/preview/languages.js`)
            const text = part.repeat(size / 8 / part.length)
            const begin = performance.now()
            renderMarkdown(text, "/a.md")
            renderMarkdown((part + "\\n").repeat(size / 32 / part.length), "/a.md")
            const middle = performance.now()
            for (const name of Object.keys(languages)) tokenize(text, name, () => {})
            return [middle - begin, performance.now() - middle]
        }""", [base, part, size])
        assert max(took) < 10_000, f"{part!r} takes {took} ms"


@test
def rendering_time_is_limited(lab):
    """Renders documents that could cause backtracking or repeated searches for a missing end."""
    spaces = " " * (1 << 18)
    documents = {
        "comments without end": "<!--" * (1 << 18), "a heading of spaces": f"# a{spaces}b{spaces}c", "marks": "# " + "# " * (1 << 17) + "a",
        "a row of spaces": f"a|b\n-{spaces}x", "spaces before a line end": f"a{spaces}b\n" * 2,
        "blank lines in a list": "- a\n\n" * (1 << 17), "blank lines in items": "- a\n\n  b\n\n" * (1 << 16),
    }
    page = lab.page()
    base = page.evaluate("document.querySelector('script[type=module]').src").rsplit("/", 1)[0]
    for name, text in documents.items():
        took = page.evaluate("""async ([base, text]) => {
            const { renderMarkdown } = await import(`${base}/preview/markdown.js`)
            const begin = performance.now()
            renderMarkdown(text, "/a.md")
            return performance.now() - begin
        }""", [base, text])
        assert took < 10_000, f"{name} takes {took} ms"
    shown = page.evaluate("""async (base) => {
        const { renderMarkdown } = await import(`${base}/preview/markdown.js`)
        const made = document.createElement("div")
        made.append(renderMarkdown("# a b #  \\n## c# ##\\n###\\n# #\\n<!--x-->d<!--\\n\\n- e\\n\\n  f\\n- g\\n\\na|b\\n-|-  \\n1|2", "/a.md"))
        return [...made.querySelectorAll("h1,h2,h3,p,li,td")].map((one) => `${one.localName} ${one.textContent}`)
    }""", base)
    expect(shown, ["h1 a b", "h2 c#", "h3 ", "h1 ", "p d<!--", "li ef", "p e", "p f", "li g", "p g", "td 1", "td 2"])


@test
def pdf_has_a_viewer_or_a_link(lab):
    lab.allow("")
    lab.write("a.pdf", base64.b64decode(
        "JVBERi0xLjEKMSAwIG9iajw8L1BhZ2VzIDIgMCBSPj5lbmRvYmoKMiAwIG9iajw8L0tpZHNbMyAwIFJdL0NvdW50IDE+PmVuZG9iagozIDAgb2JqPDwvUGFyZW50"
        "IDIgMCBSPj5lbmRvYmoKdHJhaWxlcjw8L1Jvb3QgMSAwIFI+Pg=="))
    page = opened(lab, "a.pdf")
    if page.evaluate("navigator.pdfViewerEnabled"):
        expect(page.locator("iframe.preview-pdf").get_attribute("src"), "/a.pdf")
    else:
        page.get_by_text("This browser cannot display PDF files.").wait_for()
        expect(page.locator(".preview-other a").get_attribute("href"), "/a.pdf")


@test
def names_that_are_not_utf8_are_shown(lab):
    with open(os.fsencode(lab.share) + b"/bad\xff.txt", "wb") as file:
        file.write(b"its content")
    page = lab.page()
    page.locator(".item .name-link").click()
    page.locator(".source code", has_text="its content").wait_for()
    expect(page.url.split("?")[-1], "preview=bad%FF.txt")
    page.reload()
    page.locator(".source code", has_text="its content").wait_for()
