"""Accessibility: keyboard, touch, screen readers, five languages, and right-to-left layout."""

import itertools
import pathlib
import re

from harness import expect, test

LANGUAGES = {"en": "Name", "de": "Name", "fr": "Nom", "es": "Nombre", "zh-Hans": "名称"}


def fill(lab):
    for name in ("Pictures/sea.jpg", "b.txt", "c.pdf", "d.mp3", "e.swift", "é.zip"):
        lab.write(name, b"x" * 2000)


def modes(lab):
    """Returns (phone, dark): all combinations, or with `--short` two that cover each value."""
    return ((False, False), (True, True)) if lab.arguments.short else itertools.product((False, True), repeat=2)


@test
def listing_has_no_accessibility_violations(lab):
    fill(lab)
    for phone, dark in modes(lab):
        page = lab.page(phone=phone, dark=dark)
        what = f"{'phone' if phone else 'desktop'}, {'dark' if dark else 'light'}"
        lab.axe(page, f"list, {what}")
        lab.row(page, "b.txt").locator(".check input").click()
        lab.axe(page, f"selection, {what}")
        lab.row(page, "b.txt").locator(".more button").click()
        page.get_by_role("menu").wait_for()
        lab.axe(page, f"menu, {what}")
        page.keyboard.press("Escape")
        page.locator(".bar-view button[aria-label='Grid view']").dispatch_event("click")
        lab.axe(page, f"tiles, {what}")
        page.context.close()


@test
def dialogs_and_searches_have_no_accessibility_violations(lab):
    fill(lab)
    for phone, dark in modes(lab):
        page = lab.page(phone=phone, dark=dark)
        what = f"{'phone' if phone else 'desktop'}, {'dark' if dark else 'light'}"
        for name in ("Connect", "Keyboard shortcuts"):
            page.get_by_role("button", name=name).click()
            page.get_by_role("dialog").wait_for()
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
            lab.axe(page, f"{name}, {what}")
            page.keyboard.press("Escape")
        page.get_by_role("button", name="Appearance and language").click()
        lab.axe(page, f"settings, {what}")
        page.keyboard.press("Escape")
        lab.row(page, "c.pdf").locator(".more button").click()
        page.get_by_role("menuitem", name="Details").click()
        lab.axe(page, f"details, {what}")
        page.keyboard.press("Escape")
        page.get_by_role("searchbox").fill("sea")
        page.get_by_role("searchbox").press("Enter")
        lab.wait_for_names(page, ["sea.jpg"])
        lab.axe(page, f"search, {what}")
        page.get_by_role("searchbox").fill("nowhere")
        page.get_by_role("searchbox").press("Enter")
        page.get_by_role("heading", name="No results").wait_for()
        lab.axe(page, f"nothing found, {what}")
        page.context.close()


@test
def page_is_usable_by_keyboard(lab):
    fill(lab)
    page = lab.page()
    focused = "() => document.activeElement.closest('.item')?.querySelector('.name-text').textContent ?? document.activeElement.textContent.trim()"
    selected = "() => [...document.querySelectorAll('.item[aria-selected=true] .name-text')].map(one => one.textContent)"

    def at(name):
        lab.until(page, f"wanted => ({focused})() === wanted", name)
    page.keyboard.press("Tab")
    at("Skip to files")
    page.keyboard.press("Enter")
    at("Pictures")
    page.keyboard.press("ArrowDown")
    at("b.txt")
    expect(page.evaluate(selected), ["b.txt"])
    page.keyboard.press("Shift+ArrowDown")
    # The anchor of a range selection survives other actions.
    page.keyboard.press("Control+c")
    page.locator(".toast").first.wait_for()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.evaluate(selected), ["b.txt", "c.pdf", "d.mp3"])
    page.get_by_text("3 selected, 6.0 kB").first.wait_for()
    page.keyboard.press("Control+ArrowDown")
    page.keyboard.press("Space")
    expect(page.evaluate(selected), ["b.txt", "c.pdf", "d.mp3", "e.swift"])
    page.keyboard.press("Escape")
    expect(page.evaluate(selected), [])
    page.keyboard.press("Control+a")
    expect(len(page.evaluate(selected)), 6)
    page.keyboard.press("Home")
    at("Pictures")
    page.keyboard.press("End")
    at("é.zip")
    page.keyboard.press("c")
    at("c.pdf")
    page.keyboard.press("Shift+F10")
    page.get_by_role("menu").wait_for()
    at("OpenEnter")
    page.keyboard.press("End")
    at("DetailsAlt+Enter")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="c.pdf").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    at("c.pdf")
    page.keyboard.press("Home")
    at("Pictures")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["sea.jpg"])
    at("sea.jpg")
    page.keyboard.press("Backspace")
    at("Pictures")
    page.keyboard.press("Shift+?")
    page.get_by_role("dialog", name="Keyboard").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("swift")
    lab.wait_for_names(page, ["e.swift"])
    page.keyboard.press("ArrowDown")
    at("e.swift")
    # Shift+Tab leaves the list through the column headers to the toolbar.
    page.keyboard.press("Shift+Tab")
    at("Modified")
    # In the grid, ArrowLeft and ArrowRight also move the focus.
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Grid view").click()
    page.keyboard.press("Tab")
    lab.row(page, "Pictures").focus()
    page.keyboard.press("ArrowRight")
    at("b.txt")
    page.keyboard.press("ArrowRight")
    at("c.pdf")
    page.keyboard.press("ArrowLeft")
    at("b.txt")


@test
def mouse_selection_follows_conventions(lab):
    fill(lab)
    page = lab.page()
    selected = "() => [...document.querySelectorAll('.item[aria-selected=true] .name-text')].map(one => one.textContent)"

    def click(name, *modifiers):
        lab.row(page, name).locator(".modified").click(modifiers=list(modifiers))
    click("b.txt")
    expect(page.evaluate(selected), ["b.txt"])
    click("d.mp3", "Shift")
    expect(page.evaluate(selected), ["b.txt", "c.pdf", "d.mp3"])
    click("c.pdf", "Control")
    expect(page.evaluate(selected), ["b.txt", "d.mp3"])
    lab.row(page, "Pictures").locator("a").click(modifiers=["Control"])
    expect(page.evaluate(selected), ["Pictures", "b.txt", "d.mp3"])
    lab.row(page, "e.swift").click(button="right")
    expect(page.evaluate(selected), ["e.swift"])
    page.get_by_role("menu").wait_for()
    page.keyboard.press("Escape")
    lab.row(page, "Pictures").locator(".modified").dblclick()
    lab.wait_for_names(page, ["sea.jpg"])


@test
def tap_opens_and_long_press_selects(lab):
    fill(lab)
    page = lab.page(phone=True)
    box = lab.row(page, "b.txt").bounding_box()
    session = page.context.new_cdp_session(page)
    point = {"x": box["x"] + 150, "y": box["y"] + 20}
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    lab.until(page, "document.querySelector('.item[aria-selected=true] .name-text')?.textContent === 'b.txt'")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    # From now on, each tap selects or deselects an item, until no item is selected.
    lab.row(page, "c.pdf").locator("a").tap()
    lab.until(page, "document.querySelectorAll('.item[aria-selected=true]').length === 2")
    page.get_by_role("button", name="Clear selection").tap()
    lab.row(page, "Pictures").locator(".modified").tap()
    lab.wait_for_names(page, ["sea.jpg"])


@test
def touch_targets_are_large_enough(lab):
    fill(lab)
    page = lab.page(phone=True)
    small = page.evaluate("""() => [...document.querySelectorAll("button, a, input")]
        .filter(one => one.offsetParent && getComputedStyle(one).visibility !== "hidden" && !one.closest(".items-head, .skip"))
        .map(one => [one.closest(".check") ?? one.closest(".item .name") ?? one, one])
        .map(([box, one]) => [box.getBoundingClientRect(), one])
        .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24))
        .map(([box, one]) => `${one.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)""")
    expect(small, [])
    expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, "the page fits the width of the screen")


@test
def narrow_screen_needs_no_horizontal_scrolling(lab):
    lab.write("a very long name that does not fit on any screen of a phone, however it is turned or held.tar.gz", b"1")
    lab.write("f" * 200 + "/g", b"1")
    context = lab.context(phone=True)
    page = lab.page(context=context)
    page.set_viewport_size({"width": 360, "height": 640})
    lab.until(page, "document.documentElement.scrollWidth <= innerWidth")
    # The end of a long name is visible, and its label is the full name.
    parts = page.locator(".is-split span")
    expect(parts.all_text_contents(), ["a very long name that does not fit on any screen of a phone, however it is turned or ", "held.tar.gz"])
    expect(parts.evaluate_all("all => all.map(one => one.scrollWidth > one.clientWidth)"), [True, False], "the truncated parts of the name")
    page.get_by_role("link", name="a very long name that does not fit on any screen of a phone, however it is turned or held.tar.gz",
                     exact=True).wait_for()
    lab.row(page, "f" * 200).locator("a").tap()
    lab.wait_for_names(page, ["g"])
    lab.until(page, "document.documentElement.scrollWidth <= innerWidth")


@test
def page_uses_the_language_of_the_browser(lab):
    fill(lab)
    for language, name in LANGUAGES.items():
        page = lab.page(language={"en": "en-US", "zh-Hans": "zh-CN"}.get(language, language))
        expect(page.locator(".items-header .name").inner_text(), name, language)
        expect(page.evaluate("document.documentElement.lang"), language)
        # A missing text would be shown as its key.
        page.get_by_role("button").nth(0).wait_for()
        page.locator(".connect").click()
        page.get_by_role("dialog").wait_for()
        left = re.findall(r"\b(?:core|error|help|kind|connect)\.[a-zA-Z.]+", page.inner_text("body"))
        expect(left, [], language)
        page.context.close()


@test
def language_can_be_chosen(lab):
    fill(lab)
    page = lab.page()
    page.get_by_role("button", name="Appearance and language").click()
    page.get_by_role("menuitemradio", name="Deutsch").click()
    page.get_by_role("button", name="Darstellung und Sprache").wait_for()
    lab.ready(page)
    page.get_by_role("button", name="Darstellung und Sprache").click()
    page.get_by_role("menuitemradio", name="Sprache des Browsers").click()
    page.get_by_role("button", name="Appearance and language").wait_for()


@test
def chosen_theme_is_kept(lab):
    fill(lab)
    page = lab.page()
    color = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(color)
    page.get_by_role("button", name="Appearance and language").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    dark = page.evaluate(color)
    assert dark != light, dark
    page.reload()
    lab.ready(page)
    expect(page.evaluate(color), dark)
    page = lab.page(dark=True)
    expect(page.evaluate(color), dark)


@test
def chosen_theme_applies_before_modules_load(lab):
    fill(lab)
    page = lab.page()
    page.evaluate("localStorage.setItem('davit.theme', 'dark')")
    # The request for the script is never answered.
    page.route("**/main.js", lambda route: None)
    page.goto(lab.url, wait_until="commit")
    page.locator("html[data-theme=dark] > body").wait_for(state="attached")
    page.unroute_all(behavior="ignoreErrors")


@test
def messages_are_usable_over_dialogs(lab):
    fill(lab)
    page = lab.page()
    page.get_by_role("button", name="Keyboard").or_(page.locator(".page-header .icon-button").last).first.click()
    dialog = page.locator("dialog[open]")
    dialog.wait_for()
    files = page.evaluate("document.querySelector('script[type=module]').src").rsplit("/", 1)[0]
    for text in ("first", "second"):
        page.evaluate("([files, text]) => import(`${files}/messages.js`).then(({ toast }) => toast(text, { timeout: 0 }))", [files, text])
    expect(dialog.locator(".toast").count(), 2)
    lab.until(page, "document.querySelector('dialog[open] [role=status].unseen')?.textContent === 'second'")
    dialog.locator(".toast").first.get_by_role("button", name="Dismiss").click()
    lab.until(page, "document.querySelectorAll('.toast').length === 1")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    # Messages remain when the dialog is closed.
    page.locator("body > .toasts .toast").get_by_role("button", name="Dismiss").click()
    lab.until(page, "document.querySelectorAll('.toast').length === 0")


@test
def layout_is_mirrored_for_right_to_left_languages(lab):
    fill(lab)
    page = lab.page()
    page.evaluate("document.documentElement.dir = 'rtl'")
    page.get_by_role("button", name="Refresh").click()
    lab.row(page, "b.txt").locator(".check input").click()
    boxes = page.evaluate("""() => [".check", ".name", ".size", ".modified", ".more"].map(name =>
        document.querySelector(".item " + name).getBoundingClientRect().left)""")
    expect(boxes, sorted(boxes, reverse=True))
    lab.axe(page, "right to left")
    page.get_by_role("button", name="Grid view").click()
    tiles = page.evaluate("[...document.querySelectorAll('.item')].map(one => one.getBoundingClientRect().left)")
    expect(tiles, sorted(tiles, reverse=True))
    expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)


@test
def reduced_motion_is_respected(lab):
    fill(lab)
    page = lab.page(reduced_motion="reduce")
    lab.write("new", b"1")
    page.get_by_role("button", name="Refresh").click()
    lab.row(page, "new").wait_for()
    expect(page.evaluate("document.getAnimations().filter(one => one.effect.getTiming().duration > 1).length"), 0)


@test
def connection_address_is_shown(lab):
    lab.start("--user", "anna:open:sesame")
    lab.allow("401 (Unauthorized)")
    page = lab.page(wait=False, user_agent="Mozilla/5.0 (Windows NT 10.0; Win64; x64)")
    lab.sign_in(page, "anna", "open:sesame")
    lab.ready(page)
    expect(page.locator(".user").inner_text(), "anna")
    page.locator(".connect").click()
    panel = page.get_by_role("dialog")
    expect(panel.locator("details[open] summary").inner_text(), "Windows")
    port = lab.server.port
    expect(panel.locator("details[open] code").nth(1).inner_text(), f"net use Z: \\\\127.0.0.1@{port}\\DavWWWRoot * /user:anna")
    panel.get_by_role("button", name=f"Copy {lab.url}", exact=True).first.click()
    page.get_by_text("Copied.").first.wait_for()


def strings(name):
    folder = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources/DavitPage/Files"
    lines = [line for part in ("", "people/") for line in (folder / f"{part}strings/{name}.txt").read_text().splitlines()]
    return [line.split(" = ", 1) for line in lines if line and not line.startswith("#")]


@test
def every_text_is_translated_and_used(_lab):
    english = dict(strings("en"))
    placeholders = re.compile(r"\{\w+\}")
    for language in LANGUAGES:
        found = strings(language)
        keys = [key for key, _ in found]
        expect(len(keys), len(set(keys)), f"duplicate keys in {language}: {sorted(key for key in keys if keys.count(key) > 1)}")
        expect(sorted(set(english) ^ set(keys)), [], f"missing or extra keys in {language}")
        for key, text in found:
            expect(sorted(set(placeholders.findall(text))), sorted(set(placeholders.findall(english[key]))), f"{language}: {key}")
            assert text.strip(), f"{language}: {key} is empty"
    folder = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources/DavitPage"
    code = "\n".join(path.read_text() for path in folder.rglob("*") if path.suffix in (".js", ".swift"))
    used = set(re.findall(r"[\"'`]([a-z]+(?:\.[A-Za-z0-9]+)+)[\"'`]", code))
    begun = set(re.findall(r"`([a-zA-Z]+\.(?:[A-Za-z0-9]+\.)?)\$\{", code))
    for key in english:
        plain = re.sub(r"\.(zero|one|two|few|many|other)$", "", key)
        assert plain in used or key in used or any(key.startswith(one) for one in begun), f"the text {key} is unused"
    areas = "core|error|help|kind|connect|change|people|preview|upload|server"
    for key in re.findall(rf"\bt\([\"'`]((?:{areas})\.[A-Za-z0-9.]+)[\"'`]", code):
        assert key in english or f"{key}.other" in english, f"{key} has no text"
