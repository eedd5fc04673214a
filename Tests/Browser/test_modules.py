"""Modules are loaded ahead, failures are reported, and the page works without storage."""

import json
import os
import re

from harness import DESKTOP, Lab, expect, test

MODULES = re.compile(r"/(change|preview|upload)/(?!start|badge|clipboard|drag|gather|pick|store)[^/]*\.js$|/(details|help|connect)\.js$")


def without_modules(lab, page):
    """Blocks modules, as if the connection were lost. Returns a function that unblocks them."""
    lab.allow("Failed to load resource")
    state = {"isCut": True}
    page.route(MODULES, lambda route: route.abort() if state["isCut"] else route.fallback())

    def end():
        state["isCut"] = False
    return end


@test
def missing_module_is_reported(lab):
    """Actions that need a module report that it could not be loaded."""
    for name in ("a.txt", "b.txt"):
        lab.write(name, name)
    lab.write("folder/in.txt", "1")
    page = lab.page()
    lab.wait_for_names(page, ["folder", "a.txt", "b.txt"])
    restored = without_modules(lab, page)
    message = page.locator(".toast.error", has_text="This part of the page could not be loaded.")

    def is_said():
        message.wait_for()
        expect(message.count(), 1, "messages")
        page.locator(".toast.error").get_by_role("button", name="Dismiss").click()
        message.wait_for(state="detached")

    lab.row(page, "a.txt").focus()
    for key in ("F2", "Alt+n", "Delete", "Alt+Enter"):
        page.keyboard.press(key)
        is_said()
    lab.row(page, "a.txt").locator(".name-link").click()
    is_said()
    page.go_back()
    lab.row(page, "a.txt").drag_to(lab.row(page, "folder"))
    is_said()
    lab.select(page, "a.txt")
    page.keyboard.press("F2")
    message.wait_for()
    lab.screenshot(page, "module-missing")
    restored()
    page.locator(".toast.error").get_by_role("button", name="Try again").click()
    page.locator("input.rename").wait_for()


@test
def failed_preview_can_be_retried(lab):
    lab.write("a.md", "# Title")
    lab.write("b.png", "1")
    page = lab.page()
    lab.row(page, "b.png").locator(".name-link").click()
    page.locator("dialog.preview").wait_for()
    page.locator(".preview-close").click()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    restored = without_modules(lab, page)
    lab.row(page, "a.md").locator(".name-link").click()
    page.locator(".preview-other", has_text="This part of the page could not be loaded.").wait_for()
    restored()
    page.locator(".preview-other").get_by_role("button", name="Try again").click()
    page.locator("dialog.preview h1", has_text="Title").wait_for()


@test
def modules_are_preloaded(lab):
    """Modules are loaded while the browser is idle; then renaming, New folder and previews work without further files."""
    lab.write("a.md", "# Title")
    page = lab.page(context=lab.context(saves_data=False))
    loaded = """() => performance.getEntriesByType("resource").map(one => one.name.replace(/.*[.]davit-browserpagefiles[/][^/]*[/]/, ""))"""
    wanted = ["change/rename.js", "change/create.js", "change/tree.js", "change/conflict.js", "preview/text.js", "preview/editor.js",
              "upload/main.js", "connect.js"]
    lab.until(page, f"(wanted) => {{ const all = ({loaded})(); return wanted.every(one => all.includes(one)) }}", wanted)
    # Modules that these import may still be on their way.
    page.evaluate("""async (wanted) => {
        const { files } = JSON.parse(document.getElementById("davit").textContent)
        await Promise.all(wanted.map(one => import(files + one)))
    }""", wanted)
    without_modules(lab, page)
    lab.row(page, "a.md").focus()
    page.keyboard.press("F2")
    page.locator("input.rename").wait_for()
    page.keyboard.press("Escape")
    lab.row(page, "a.md").locator(".name-link").click()
    page.locator("dialog.preview h1", has_text="Title").wait_for()
    page.locator(".preview-close").click()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    page.keyboard.press("Alt+n")
    page.get_by_label("Name", exact=True).wait_for()


@test
def page_works_without_browser_storage(lab):
    """Simulates Chrome with site data blocked, where reading `localStorage` throws."""
    lab.allow("Failed to load resource")
    lab.write("a.txt", "a")
    lab.write("folder/b.txt", "b")
    lab.start()
    profile = lab.work / "profile"
    (profile / "Default").mkdir(parents=True)
    (profile / "Default/Preferences").write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
    context = lab.playwright.chromium.launch_persistent_context(
        str(profile), executable_path="/usr/bin/chromium", viewport=DESKTOP, locale="en-GB",
        args=["--no-sandbox"] if os.geteuid() == 0 else [])
    lab.adopt(context)
    page = context.pages[0]
    page.goto(lab.url)
    blocked = "() => { try { return typeof localStorage } catch (error) { return error.name } }"
    expect(page.evaluate(blocked), "SecurityError", "the error when reading localStorage")
    lab.ready(page)
    lab.wait_for_names(page, ["folder", "a.txt"])
    # Settings last until the page is closed.
    page.get_by_role("button", name="Grid view").click()
    page.locator(".items.grid").wait_for()
    page.get_by_role("button", name="List view").click()
    # The clipboard is also kept until then.
    Lab.select(page, "a.txt")
    page.keyboard.press("Control+x")
    lab.row(page, "folder").locator(".name-link").click()
    lab.wait_for_names(page, ["b.txt"])
    page.get_by_role("button", name="Paste").click()
    page.locator(".toast", has_text="“a.txt” moved").wait_for()
    lab.wait_for_names(page, ["a.txt", "b.txt"])
    expect((lab.share / "folder/a.txt").read_bytes(), b"a")
    # Changes by other clients and uploads also work.
    lab.server.request("PUT", "/folder/c.txt", b"c")
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt"])
    mine = lab.work / "d.txt"
    mine.write_bytes(b"d")
    page.evaluate("delete window.showOpenFilePicker")
    page.mouse.click(640, 450)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload files").click()
    chooser.value.set_files(str(mine))
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt", "d.txt"])


WITHIN = [
    ("/share/", True), ("/share", True), ("/share/a", True), ("/share/a/b/", True), ("/share/a%20b", True), ("/share/..a", True),
    ("/share/%2e%2ea", True), ("/share/a//b", True),
    ("/", False), ("/share2", False), ("/share2/", False), ("/shar", False), ("/share/..", False), ("/share/../x", False),
    ("/share/%2e%2e/x", False), ("/share/%2E./x", False), ("/share/a/../../x", False), ("//host/share/x", False),
    ("/\\host/share/x", False), ("\\\\host\\share\\x", False), ("///host/share/x", False), ("/share/..\\x", False),
    ("http://host/share/x", False), ("https:/share/x", False), ("javascript:alert(1)", False), ("data:,/share/", False),
    ("http://[/share/", False), ("/share/\t../x", False), ("/.//host/share/", False),
]


@test
def urls_within_the_share_are_recognized(lab):
    page = lab.page()
    found = page.evaluate("""async (hrefs) => {
        const { isWithin } = await import(JSON.parse(document.getElementById("davit").textContent).files + "href.js")
        return hrefs.map(href => isWithin(href, "/share/")).concat(["//host/x", "/\\\\host/x", "/..//host/x", "/a", "/"].map(href => isWithin(href, "/")))
    }""", [href for href, _ in WITHIN])
    wrong = [href for (href, wanted), is_within in zip(WITHIN, found) if is_within != wanted]
    expect(wrong, [], "wrongly classified URLs")
    expect(found[len(WITHIN):], [False, False, False, True, True], "URLs below the root of the server")


LANGUAGES = {
    "zh": "zh-Hans", "zh-CN": "zh-Hans", "zh-Hans": "zh-Hans", "zh-Hans-TW": "zh-Hans", "ZH-SG": "zh-Hans",
    "zh-Hant": None, "zh-Hant-CN": None, "zh-TW": None, "zh-HK": None, "zh-MO": None, "ZH-tw": None, "zha": None,
    "de-AT": "de", "FR": "fr", "es-419": "es", "en-GB": "en", "english": None, "": None, "it": None,
}


@test
def server_and_scripts_select_the_same_language(lab):
    page = lab.page(language="zh-TW")
    expect(page.evaluate("document.documentElement.lang"), "en", "the page in Traditional Chinese")
    found = page.evaluate("""async (tags) => {
        const { supportedLanguage } = await import(JSON.parse(document.getElementById("davit").textContent).files + "page.js")
        return Object.fromEntries(tags.map((tag) => [tag, supportedLanguage(tag) ?? null]))
    }""", list(LANGUAGES))
    expect(found, LANGUAGES, "languages of the scripts")
    for tag, language in LANGUAGES.items():
        _, _, content = lab.server.request("GET", "/", Accept="text/html", Accept_Language=tag)
        expect(re.search(rb'<html[^>]* lang="([^"]*)"', content)[1].decode(), language or "en", f"the server's language for {tag!r}")


@test
def preview_loads_nothing_from_other_servers(lab):
    """The page sends no request to the other server, even if the content security policy would block it."""
    lab.write("a.txt", "a")
    context = lab.context()
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    for query in ("?preview=//other.invalid/x.txt", "?preview=/%5Cother.invalid/x.txt", "?preview=//other.invalid/x.png"):
        page = lab.page(query, context=context)
        page.locator("dialog.preview .preview-other").wait_for()
        page.close()
    expect([url for url in asked if not url.startswith(lab.url)], [], "requests to another server")
