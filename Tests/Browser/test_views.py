"""Accessibility and layout of each view, also in right-to-left layout. With `--screenshots`, takes a screenshot of each view."""

import os
import urllib.parse

from harness import PHONE, expect, test
from test_pictures import NOTES, THEN, picture
from upload_support import NO_PICKERS, choose, local, wait_for_uploads

LONG = "Minutes of the meeting about the summer house and everything that is still to be done before the winter, second draft.tar.gz"
NAMES = ("北京会议记录 2026 最终版.txt", "تقرير.pdf", LONG, "a & b <c>.swift", "song.mp3", "film.mp4", "unknown.bin", "page.html")
FOREIGN = ('<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
           '<owner>Anna from the office next door</owner></lockinfo>')
# Simulates a right-to-left language, because the page is not translated into one.
RIGHT_TO_LEFT = """new MutationObserver((_, observer) => {
    if (!document.documentElement) return
    document.documentElement.dir = "rtl"
    observer.disconnect()
}).observe(document, { childList: true });"""


class Views:
    """A browser and its current view."""

    def __init__(self, lab, phone=False, dark=False, is_turned=False, width=None):
        self.lab, self.phone = lab, phone
        self.mode = "-".join(("phone" if phone else "desktop", "dark" if dark else "light", *(["rtl"] if is_turned else [])))
        self.context = lab.context(phone=phone, dark=dark, reduced_motion="reduce")
        self.context.add_init_script(NO_PICKERS + ";" + (RIGHT_TO_LEFT if is_turned else ""))
        self.page = lab.page(context=self.context)
        if width:
            self.page.set_viewport_size({"width": width, "height": PHONE["height"]})

    def see(self, name):
        self.lab.axe(self.page, f"{name}, {self.mode}")
        self.lab.screenshot(self.page, f"{name}-{self.mode}")
        wide = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"{name}, {self.mode} is {wide[0]} wide on {wide[1]}"

    def open(self, query=""):
        self.page.goto(self.lab.url + query)
        self.lab.ready(self.page)

    def run(self, action, *names):
        """Runs an action by its ID, independent of its place in the menu."""
        self.page.evaluate("""([action, names]) => import(document.querySelector("script[type=module]").src).then(({ app }) => {
            app.folder.select(app.folder.view.filter(one => names.includes(one.name)).map(one => one.href))
            app.run(action, app.context())
        })""", [action, list(names)])

    def escape(self):
        self.page.keyboard.press("Escape")
        self.page.locator("dialog[open]").wait_for(state="detached")


def fill(lab):
    lab.start("--trash", "--title", "The summer house")
    for name in ("Holiday pictures", "Music", "空文件夹"):
        (lab.share / name).mkdir()
    lab.write("beach.png", picture(90, 60, (70, 150, 220), (222, 190, 130), (0.7, 0.3)))
    lab.write("Notes.md", NOTES)
    for name in NAMES:
        lab.write(name, bytes(range(256)) * 32 if "." in name and not name.endswith(("txt", "swift", "html")) else
                  "let a = 1 // one\nfunc b() -> Int { 2 }\n" * 9)
    for name in ("Notes.md", LONG):
        lab.write(f"Music/{name}", b"older")
        os.utime(lab.share / "Music" / name, (THEN - 900_000, THEN - 900_000))
    for number, path in enumerate(sorted(lab.share.iterdir())):
        if not path.name.startswith("."):
            os.utime(path, (THEN - number * 97_531, THEN - number * 97_531))
    for name in ("old.txt", LONG.replace("second", "first")):
        lab.write(name, "x")
        expect(lab.server.request("DELETE", "/" + urllib.parse.quote(name))[0], 204)
    expect(lab.server.request("LOCK", "/unknown.bin", FOREIGN, Content_Type="application/xml", Timeout="Second-6000")[0], 200)


def refusing(method, status):
    """Returns a route handler that answers requests of one method with a status."""
    return lambda route: route.fulfill(status=status) if route.request.method == method else route.fallback()


def entries(views):
    lab, page = views.lab, views.page
    views.see("listing")
    lab.row(page, "Notes.md").locator(".check input").click()
    page.keyboard.press("Shift+ArrowDown")
    views.see("selection")
    page.keyboard.press("Shift+F10")
    page.get_by_role("menu").wait_for()
    views.see("menu")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator(".bar-view button[aria-label='Grid view']").dispatch_event("click")
    lab.until(page, "document.querySelector('.item img')?.naturalWidth > 0")
    views.see("tiles")
    page.locator(".bar-view button[aria-label='List view']").dispatch_event("click")
    page.get_by_role("searchbox").fill("zzzz")
    page.get_by_role("heading", name="No matches").wait_for()
    views.see("filter-nothing")
    page.get_by_role("searchbox").fill("notes")
    page.get_by_role("searchbox").press("Enter")
    lab.until(page, "document.querySelectorAll('.item .where:not(:empty)').length > 0")
    views.see("search")
    page.get_by_role("searchbox").fill("")
    views.open(urllib.parse.quote("空文件夹") + "/")
    page.get_by_role("heading", name="This folder is empty").wait_for()
    views.see("empty")
    views.open()
    for status in (403, 404, 507):
        page.route("**/Music/", refusing("PROPFIND", status))
        lab.row(page, "Music").locator("a").click()
        page.get_by_role("alert").wait_for()
        views.see(f"error-{status}")
        page.unroute("**/Music/")
        views.open()
    views.context.set_offline(True)
    page.get_by_text("You are offline.").wait_for()
    views.see("offline")
    views.context.set_offline(False)
    page.get_by_text("You are offline.").wait_for(state="detached")


def frames(views):
    """Menus and dialogs."""
    lab, page = views.lab, views.page
    for name in ("Connect", "Keyboard shortcuts"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("dialog").wait_for()
        views.see(name.split()[0].lower())
        views.escape()
    page.get_by_role("button", name="Appearance and language").click()
    views.see("settings")
    page.keyboard.press("Escape")
    views.run("details", "unknown.bin")
    page.get_by_role("dialog").wait_for()
    views.see("details")
    views.escape()


def changes(views):
    lab, page = views.lab, views.page
    views.run("rename", "Notes.md")
    page.locator("input.rename").fill("Music")
    page.keyboard.press("Enter")
    lab.until(page, "document.querySelector('.rename-error')?.textContent")
    views.see("rename")
    page.keyboard.press("Escape")
    views.run("new-folder")
    page.get_by_role("dialog").wait_for()
    views.see("new-folder")
    views.escape()
    views.run("move", "Notes.md", LONG)
    page.locator("[role=treeitem][data-href='/Music/']").click()
    views.see("tree")
    page.get_by_role("button", name="Move here").click()
    page.locator("dialog.conflict").wait_for()
    views.see("conflict")
    views.escape()
    views.run("rename", "unknown.bin")
    page.locator("input.rename").fill("known.bin")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Unlock…").wait_for()
    views.see("locked")
    page.get_by_role("button", name="Unlock…").click()
    page.get_by_text("Unlock “unknown.bin”?").wait_for()
    views.see("break-lock")
    views.escape()
    views.open("?trash")
    page.locator(".trash-list li").nth(1).wait_for()
    page.get_by_label("Select old.txt").check()
    views.see("trash")
    page.get_by_role("button", name="Empty trash").click()
    page.locator("dialog[open]").wait_for()
    views.see("trash-question")
    views.escape()
    views.open()


def previews(views):
    lab, page = views.lab, views.page
    for name, what in (("beach.png", "img.preview-image"), ("Notes.md", ".markdown h1"), ("a & b <c>.swift", ".source code"),
                       ("song.mp3", "audio, .preview-other"), ("unknown.bin", ".preview-other"), ("page.html", ".source code")):
        views.open("?preview=" + urllib.parse.quote(name))
        page.locator(what).first.wait_for()
        views.see("preview-" + name.rsplit(".", 1)[1])
    views.open("?preview=Notes.md&edit")
    page.locator("textarea.editor-text").focus()
    page.keyboard.insert_text("What is new. ")
    views.see("editor")
    page.keyboard.press("Escape")
    page.locator("dialog.dialog").wait_for()
    views.see("unsaved")
    page.keyboard.press("Escape")
    page.locator("dialog.dialog").wait_for(state="detached")
    os.utime(lab.share / "Notes.md", (THEN, THEN))
    page.keyboard.press("Control+s")
    page.get_by_text("has changed on the server").wait_for()
    views.see("editor-conflict")
    page.get_by_role("button", name="Load server version").click()
    page.locator("dialog.edit-conflict").wait_for(state="detached")
    page.get_by_role("button", name="Stop editing").click()
    page.locator("textarea.editor-text").wait_for(state="detached")
    views.open()


def uploads(views):
    lab, page = views.lab, views.page
    held = []
    page.route("**/held.iso", lambda route: held.append(route) if route.request.method == "PUT" else route.fallback())
    page.route("**/refused.txt", refusing("PUT", 423))
    choose(page, *(local(lab, name, size) for name, size in (
        ("done.jpg", 4000), ("refused.txt", 10), (LONG.replace("second", "third"), 20), ("held.iso", 3_000_000))))
    toggle = page.locator(".uploads-toggle")
    toggle.wait_for()
    # The panel is collapsed on a phone.
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    lab.until(page, "document.querySelectorAll('.upload').length === 4")
    lab.until(page, "document.querySelector('.upload[data-state=failed]') !== null")
    views.see("uploads")
    page.get_by_role("button", name="Pause held.iso").click()
    page.locator(".upload[data-state=paused]").wait_for()
    views.see("uploads-paused")
    page.get_by_role("button", name="Cancel held.iso").click()
    for route in held:
        route.abort()
    page.locator(".upload[data-state=paused]").wait_for(state="detached")
    wait_for_uploads(lab, page, 2, failed=1)
    views.see("uploads-ended")
    (lab.share / LONG.replace("second", "third")).unlink()
    (lab.share / "done.jpg").unlink()
    choose(page, local(lab, "CON.txt", 20), local(lab, "end. ", 20))
    page.get_by_role("dialog").wait_for()
    views.see("upload-names")
    page.get_by_role("button", name="Cancel", exact=True).last.click()


PARTS = (entries, frames, changes, previews, uploads)


def look(lab, **options):
    lab.allow("Failed to load resource")
    lab.allow("ERR_INTERNET_DISCONNECTED")
    fill(lab)
    views = Views(lab, **options)
    for part in PARTS:
        part(views)


@test(is_long=True)
def views_are_accessible_on_a_phone_in_the_dark_from_right_to_left(lab):
    look(lab, phone=True, dark=True, is_turned=True)


@test(is_long=True)
def views_are_accessible_on_a_desktop(lab):
    look(lab)


@test(is_long=True)
def views_are_accessible_on_a_desktop_in_the_dark_from_right_to_left(lab):
    look(lab, dark=True, is_turned=True)


@test(is_long=True)
def views_are_accessible_on_a_narrow_phone(lab):
    look(lab, phone=True, width=360)
