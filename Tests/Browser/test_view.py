"""Window size, printing and selection, the data that thumbnails load, and the speed of many changes."""

import io
import re
import struct
import zlib

from harness import Lab, expect, test

ITEMS = "document.querySelectorAll('.item').length"


def fill(lab, count):
    for number in range(count):
        lab.write(f"{number:04}.txt", b"1")


@test
def taller_window_is_filled(lab):
    fill(lab, 120)
    page = lab.page()
    page.set_viewport_size({"width": 1280, "height": 500})
    lab.until(page, f"innerHeight === 500 && {ITEMS} > 0 && document.documentElement.dataset.live === 'true'")
    # Wait until updates after a change of the folder have finished.
    lab.until(page, "document.querySelector('.summary .room').textContent !== ''")
    page.evaluate("scrollTo(0, 1)")
    lab.until(page, f"{ITEMS} < 40")
    page.set_viewport_size({"width": 1280, "height": 2400})
    lowest = """() => Math.max(...[...document.querySelectorAll(".item")].map(one => one.getBoundingClientRect().bottom))"""
    lab.until(page, f"({lowest})() >= innerHeight")


@test
def all_names_are_printed(lab):
    fill(lab, 120)
    page = lab.page()
    page.evaluate("""() => {
        window.printed = []
        addEventListener("beforeprint", () => printed.push(document.querySelectorAll(".item").length))
    }""")
    before = page.evaluate(ITEMS)
    pages = page.pdf(format="A4")
    expect(page.evaluate("printed"), [120], "printed rows")
    count = len(re.findall(rb"/Type\s*/Page\b", pages))
    assert count >= 2, f"120 rows on {count} pages"
    lab.until(page, f"{ITEMS} === {before}")
    for layout in ("list", "grid"):
        page.emulate_media(media="screen")
        page.evaluate("layout => import(document.querySelector('script[type=module]').src).then(({ app }) => { app.layout = layout })", layout)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        overlaps = page.evaluate("""() => {
            const boxes = [...document.querySelectorAll(".item")].map(one => one.getBoundingClientRect())
            return boxes.filter((box, at) => at > 0 && box.top < boxes[at - 1].bottom - 1 && box.left < boxes[at - 1].right - 1).length
        }""")
        expect((page.evaluate(ITEMS), overlaps), (120, 0), f"rows and overlaps, as a {layout}")
        lab.screenshot(page, f"print-{layout}")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        lab.until(page, f"{ITEMS} < 120")


@test
def printed_rows_are_limited(lab):
    fill(lab, 5012)
    page = lab.page()
    lab.until(page, f"{ITEMS} > 0")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.evaluate(ITEMS), 5000)
    expect(page.locator(".items-rest").inner_text(), "12 more items not printed")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    lab.until(page, f"{ITEMS} < 100")
    expect(page.locator(".items-rest").is_visible(), False)


SELECTED = "document.querySelectorAll('.item[aria-selected=true]').length"


def toolbar(page):
    return page.eval_on_selector_all(".bar-actions [data-action]", "all => all.map(one => one.dataset.action)")


@test
def toolbar_remains_after_new_folder_and_rename(lab):
    lab.write("a.txt", "a")
    lab.write("b.txt", "b")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt"])

    def stays(what, focus):
        lab.until(page, f"document.activeElement.dataset.href === '{focus}'")
        expect(page.evaluate(SELECTED), 0, f"selected {what}")
        shown = toolbar(page)
        assert "upload" in shown and "new-folder" in shown, f"{shown} {what}"
    page.keyboard.press("Alt+n")
    page.locator("dialog input").fill("new")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["new", "a.txt", "b.txt"])
    stays("after New folder", "/new/")
    lab.screenshot(page, "after-new-folder")
    lab.select(page, "a.txt")
    page.keyboard.press("F2")
    page.locator("input.rename").fill("c.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["new", "b.txt", "c.txt"])
    stays("after renaming", "/c.txt")


@test
def menu_does_not_change_the_selection(lab):
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, name)
    lab.start("--trash")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt"])
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(640, 700),
                  lambda: lab.row(page, "b.txt").locator(".more button").click()):
        lab.row(page, "b.txt").hover()
        lab.row(page, "b.txt").locator(".more button").click()
        page.locator(".menu").wait_for()
        expect(page.evaluate(SELECTED), 1, "while the menu is open")
        close()
        lab.until(page, "document.querySelector('.menu') === null")
        expect(page.evaluate(SELECTED), 0, "after the menu")
    lab.row(page, "b.txt").click(button="right")
    page.keyboard.press("Escape")
    expect(page.evaluate(SELECTED), 0, "after the right button")
    lab.select(page, "a.txt", "c.txt")
    lab.row(page, "b.txt").click(button="right")
    expect(page.evaluate("document.querySelector('.item[aria-selected=true] .name-text').textContent"), "b.txt")
    page.get_by_role("menuitem", name="Delete").click()
    # Only the menu's entry is deleted.
    lab.wait_for_names(page, ["a.txt", "c.txt"])
    expect(page.evaluate(SELECTED), 2, "selected before and after")


@test
def click_on_empty_space_clears_the_selection(lab):
    lab.write("a.txt", "a")
    page = lab.page()
    for x, y in ((640, 600), (8, 400), (640, 790)):
        lab.select(page, "a.txt")
        expect(page.evaluate(SELECTED), 1)
        page.mouse.click(x, y)
        expect(page.evaluate(SELECTED), 0, f"selected after a click at {x}, {y}")
    # The toolbar does not count as background.
    lab.select(page, "a.txt")
    page.get_by_role("button", name="Grid view").click()
    expect(page.evaluate(SELECTED), 1)


# Thumbnails


def segment(marker, content):
    return struct.pack(">BBH", 0xff, marker, len(content) + 2) + content


def exif(preview, turned=1, order=">"):
    """Returns an APP1 segment with a preview."""
    mark = b"MM" if order == ">" else b"II"
    first = struct.pack(order + "HHHIHH", 1, 0x112, 3, 1, turned, 0) + struct.pack(order + "I", 26)
    second = struct.pack(order + "HHHIIHHIII", 2, 0x201, 4, 1, 56, 0x202, 4, 1, len(preview), 0)
    return segment(0xe1, b"Exif\0\0" + mark + struct.pack(order + "HI", 42, 8) + first + second + preview)


JPEG = """async ([width, height, color]) => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height })
    const context = canvas.getContext("2d")
    context.fillStyle = color
    context.fillRect(0, 0, width, height)
    context.fillStyle = "white"
    context.fillRect(0, 0, width / 4, height / 4)
    const blob = await new Promise(resolve => canvas.toBlob(resolve, "image/jpeg", .8))
    return [...new Uint8Array(await blob.arrayBuffer())]
}"""


def photograph(page, size, preview=True, turned=1, order=">"):
    """Returns a JPEG of about `size` bytes, most of which are comments, to simulate an image with many pixels."""
    small = bytes(page.evaluate(JPEG, [160, 120, "#2f7dd1"]))
    large = bytes(page.evaluate(JPEG, [640, 480, "#c23a31"]))
    head = b"\xff\xd8" + (exif(small, turned, order) if preview else b"")
    filler = b""
    while len(head) + len(filler) + len(large) < size:
        filler += segment(0xfe, b"x" * min(65000, max(1, size - len(head) - len(filler) - len(large))))
    return head + filler + large[2:]


def shown(page):
    """Returns the size of each thumbnail by name; None for an icon."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".item")].map(one => {
        const image = one.querySelector(".picture img")
        return [one.querySelector(".name-text").textContent, image?.complete ? [image.naturalWidth, image.naturalHeight] : null]
    }))""")


@test
def tiles_load_only_small_images(lab):
    """Regression: to show twelve photographs of 2.5 MB, the page loaded 30 MB."""
    page = lab.page()
    for number in range(12):
        lab.write(f"{number:02}.jpg", photograph(page, 2_500_000, order="<>"[number % 2]))
    page.close()
    page = lab.page()
    loaded = []
    page.on("response", lambda answer: loaded.append(answer) if answer.url.endswith(".jpg") else None)
    page.get_by_role("button", name="Grid view").click()
    lab.until(page, "document.querySelectorAll('.picture img').length === 12")
    lab.until(page, "[...document.querySelectorAll('.picture img')].every(one => one.naturalWidth === 160)")
    count = sum(int(answer.headers.get("content-length", 0)) for answer in loaded)
    lab.note(f"{count} bytes for {len(loaded)} requests")
    assert count <= 12 * 65_536, f"{count} bytes"
    lab.screenshot(page, "tiles")


@test
def small_images_are_shown_and_rotated_in_tiles(lab):
    page = lab.page()
    lab.write("turned.jpg", photograph(page, 90_000, turned=6))
    lab.write("small.jpg", photograph(page, 90_000, preview=False))
    lab.write("tiny.jpg", bytes(page.evaluate(JPEG, [64, 48, "red"])))
    lab.write("large.jpg", photograph(page, 1_500_000, preview=False))
    lab.write("drawing.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>')
    lab.write("text.jpg", "no picture")
    broken = bytearray(photograph(page, 90_000))
    # Corrupt the offset of the preview, so that it begins after the end of its segment.
    at = broken.index(b"\x02\x01\x00\x04") + 8
    broken[at:at + 4] = b"\xff\xff\xff\xf0"
    lab.write("broken.jpg", bytes(broken))

    def png(width, height):
        def chunk(kind, content):
            return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress((b"\0" + b"\x20\x80\x40" * width) * height)) + chunk(b"IEND", b""))
    lab.write("wide.png", png(3000, 1000))
    page.close()
    page = lab.page(context=lab.context())
    page.get_by_role("button", name="Grid view").click()
    wanted = {"turned.jpg": [120, 160], "small.jpg": [304, 228], "tiny.jpg": [64, 48], "large.jpg": None, "drawing.svg": [10, 10],
              "text.jpg": None, "broken.jpg": [304, 228], "wide.png": [304, 101]}
    lab.until(page, """(wanted) => Object.entries(wanted).every(([name, size]) => {
        const item = [...document.querySelectorAll(".item")].find(one => one.querySelector(".name-text").textContent === name)
        const image = item?.querySelector(".picture img")
        return size ? image?.naturalWidth === size[0] && image.naturalHeight === size[1] : item && !image
    })""", wanted)
    expect(shown(page), wanted)


@test
def tiles_outside_the_viewport_load_nothing(lab):
    page = lab.page()
    content = photograph(page, 100_000)
    for number in range(200):
        lab.write(f"{number:03}.jpg", content)
    page.close()
    context = lab.context()
    page = lab.page(context=context)
    running, most, asked, finished = set(), [0], [], set()

    def begin(request):
        if request.url.endswith(".jpg"):
            asked.append(request.url)
            running.add(request)
            most[0] = max(most[0], len(running))

    page.on("request", begin)
    page.on("requestfinished", lambda request: finished.add(request.url))
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda request: running.discard(request))
    page.get_by_role("button", name="Grid view").click()
    lab.until(page, """() => {
        const seen = [...document.querySelectorAll(".item")].filter(one => {
            const box = one.getBoundingClientRect()
            return box.top < innerHeight && box.bottom > 0
        })
        return seen.length > 10 && seen.every(one => one.querySelector(".picture img"))
    }""")
    assert len(asked) < 60, f"{len(asked)} pictures were loaded"
    # Loaded thumbnails are cached: going back sends no requests.
    before, known = len(asked), set(finished)
    page.get_by_role("button", name="List view").click()
    page.get_by_role("button", name="Grid view").click()
    lab.until(page, "document.querySelectorAll('.picture img').length > 10")
    expect([url for url in asked[before:] if url in known], [], "loaded again")
    assert most[0] <= 3, f"{most[0]} requests at the same time"


# Many changes

MEASURE = """async (about) => {
    const files = JSON.parse(document.getElementById("davit").textContent).files
    const { app } = await import(document.querySelector("script[type=module]").src)
    const entries = app.folder.view.filter(one => !one.isFolder)
    let changes = 0
    app.folder.addEventListener("change", () => { changes++ })
    const begin = performance.now()
    if (about === "remove") await (await import(files + "change/remove.js")).remove(app, entries)
    else await (await import(files + "change/transfer.js")).transfer(app, entries, "/to/", { isCopy: about === "copy" })
    return [Math.round(performance.now() - begin), changes]
}"""


@test
def many_changes_are_rendered_together(lab):
    """400 copies or deletions cause few repaints, and no listings between the first and the last of them."""
    fill(lab, 400)
    (lab.share / "to").mkdir()
    lab.start("--trash")
    page = lab.page()
    lab.until(page, "document.documentElement.dataset.live === 'true'")
    figures = []
    requests = []
    page.on("request", lambda request: requests.append(request.method))
    for about, method, left in (("copy", "COPY", 400), ("remove", "DELETE", 0)):
        del requests[:]
        milliseconds, changes = page.evaluate(MEASURE, about)
        expect((requests.count(method), len([one for one in lab.share.iterdir() if one.is_file()])), (400, left), about)
        listings = [at for at, one in enumerate(requests) if one == "PROPFIND"]
        between = [at for at in listings if method in requests[:at] and method in requests[at:]]
        figures.append(f"{about} {milliseconds} ms, {changes} repaints")
        expect(between, [], f"listings during {about}")
        assert changes <= 20, f"{changes} repaints for {about}"
    page.get_by_role("button", name="Undo").click()
    page.locator(".toast", has_text="400 items restored.").wait_for()
    expect(len([one for one in lab.share.iterdir() if one.is_file()]), 400, "restored")
    for file in (lab.share / "to").iterdir():
        file.unlink()
    page.reload()
    lab.ready(page)
    lab.until(page, "document.documentElement.dataset.live === 'true'")
    milliseconds, changes = page.evaluate(MEASURE, "move")
    figures.append(f"move {milliseconds} ms, {changes} repaints")
    expect(len(list((lab.share / "to").iterdir())), 400, "moved")
    assert changes <= 20, f"{changes} repaints for moves"
    lab.note(", ".join(figures))
