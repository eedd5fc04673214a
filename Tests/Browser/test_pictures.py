"""The screenshots of the documentation: `run.sh --screenshots docs/images test_pictures` updates them."""

import os
import pathlib
import struct
import zlib

from harness import expect, test
from upload_support import behind_proxy, choose, local, queue, wait_for_uploads

# A fixed date in the past, so that screenshots do not change from day to day.
THEN = 1_750_000_000
TITLE = "The summer house"


def picture(width, height, upper, lower, sun):
    """Draws a landscape: sky, a sun, hills."""
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            hill = height * 0.7 - height * 0.12 * (1 - abs((x / width * 3) % 2 - 1))
            if y > hill:
                part = (y - hill) / (height - hill + 1)
                row += bytes(int(c * (1 - part * 0.4)) for c in lower)
            elif (x - width * sun[0]) ** 2 + (y - height * sun[1]) ** 2 < (height * 0.09) ** 2:
                row += b"\xff\xf4\xd0"
            else:
                part = y / height
                row += bytes(int(c + (255 - c) * part * 0.6) for c in upper)
        rows.append(b"\0" + bytes(row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + chunk(b"IEND", b""))


def fill(lab):
    for name in ("Holiday pictures", "Music", "Reports"):
        (lab.share / name).mkdir()
    lab.write("beach.png", picture(180, 120, (70, 150, 220), (222, 190, 130), (0.7, 0.3)))
    lab.write("forest.png", picture(120, 160, (120, 170, 200), (50, 110, 70), (0.3, 0.25)))
    lab.write("evening.png", picture(180, 110, (190, 90, 110), (70, 50, 90), (0.5, 0.55)))
    for name, size in (("Budget 2026.xlsx", 48213), ("Minutes of the meeting.docx", 18044), ("Talk.pptx", 2_412_000), ("Manual.pdf", 1_234_567),
                       ("Interview.mp3", 8_765_432), ("First day.mp4", 32_000_000), ("backup.zip", 5_120_000), ("main.swift", 4021),
                       ("Notes.md", 812), ("README", 300)):
        (lab.share / name).touch()
        os.truncate(lab.share / name, size)
    for number, path in enumerate(sorted(lab.share.iterdir())):
        os.utime(path, (THEN - number * 97_531, THEN - number * 97_531))


@test
def screenshots_of_browsing_are_taken(lab):
    fill(lab)
    lab.start("--title", TITLE)
    page = lab.page()
    lab.screenshot(page, "listing")
    page.context.close()
    page = lab.page(dark=True)
    lab.row(page, "Manual.pdf").locator(".modified").click()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    lab.screenshot(page, "dark")
    page.context.close()
    page = lab.page()
    page.get_by_role("button", name="Grid view").click()
    lab.until(page, "[...document.querySelectorAll('.item img')].filter(one => one.complete && one.naturalWidth > 0).length === 3")
    page.mouse.move(0, 0)
    lab.screenshot(page, "grid")
    page.context.close()
    page = lab.page(phone=True)
    lab.screenshot(page, "phone")
    if lab.arguments.screenshots:
        for name in ("listing", "dark", "grid", "phone"):
            size = (pathlib.Path(lab.arguments.screenshots) / f"{name}.png").stat().st_size
            assert size < 120_000, f"{name}.png has {size} bytes"
    expect(len(lab.names(page)), 16)


NOTES = """# The summer house

What is left to do before **June**:

- [x] Paint the door
- [ ] Mend the roof, see [the offer](Offer.pdf)
- [ ] Order ~~coal~~ wood

| Room | Square metres |
|---|--:|
| Kitchen | 18 |
| Parlour | 31 |

```swift
let rent = months * 420  // as agreed
```

> Whoever leaves last turns the water off.
"""


@test
def screenshots_of_changes_and_previews_are_taken(lab):
    fill(lab)
    lab.start("--title", TITLE)
    for number, name in enumerate(("Budget 2026.xlsx", "Talk.pptx", "beach.png")):
        path = lab.write(f"Reports/{name}", b"x" * (20_000 + 431 * number))
        os.utime(path, (THEN + (number - 1) * 864_000, THEN + (number - 1) * 864_000))
    page = lab.page()
    page.set_viewport_size({"width": 1000, "height": 640})
    for number, name in enumerate(("beach.png", "Budget 2026.xlsx", "Talk.pptx")):
        lab.row(page, name).locator(".modified").click(modifiers=["Control"] if number else [])
    page.get_by_role("button", name="Move to…").click()
    page.locator("[role=treeitem][data-href='/Reports/']").click()
    page.get_by_role("button", name="Move here").click()
    page.locator("dialog.conflict").wait_for()
    page.get_by_label("Action for Talk.pptx").select_option("replace")
    lab.screenshot(page, "conflict")
    page.context.close()
    lab.write("Notes.md", NOTES)
    page = lab.page("?preview=Notes.md", reduced_motion="reduce")
    page.locator(".markdown h1").wait_for()
    lab.until(page, "[...document.querySelectorAll('.preview-header use')].every(one => one.getBBox().width > 0)")
    page.evaluate("document.activeElement.blur()")
    lab.screenshot(page, "preview")
    if lab.arguments.screenshots:
        for name in ("conflict", "preview"):
            size = (pathlib.Path(lab.arguments.screenshots) / f"{name}.png").stat().st_size
            assert size < 120_000, f"{name}.png has {size} bytes"
    expect(sorted(os.listdir(lab.share / "Reports")), ["Budget 2026.xlsx", "Talk.pptx", "beach.png"])


@test(is_long=True)
def screenshots_of_uploads_are_taken(lab):
    """Shows several uploads with different progress."""
    fill(lab)
    with behind_proxy(lab, options=("--title", TITLE)) as (proxy, page):
        choose(page, local(lab, "Flyer.pdf", 3_500_000))
        wait_for_uploads(lab, page, 1)
        proxy.hold_at(proxy.passed + 50_000_000)
        choose(page, *(local(lab, name, size) for name, size in (
            ("Concert.mkv", 64_000_000), ("Walk through the garden.mp4", 18_000_000), ("Pictures 2025.zip", 36_000_000),
            ("Letters.tar.gz", 12_000_000), ("Scan 12.tiff", 9_000_000))))
        lab.until(page, "document.querySelector('.uploads-figures').textContent.includes('left')")
        proxy.wait_for(45_000_000)
        lab.until(page, "document.querySelectorAll('.upload').length > 4")
        page.mouse.move(0, 0)
        lab.screenshot(page, "upload")
        loaded = queue(page, "queue.totals.loaded")
        assert loaded > 20_000_000, loaded
        proxy.hold_at(None)
        wait_for_uploads(lab, page, 5)
