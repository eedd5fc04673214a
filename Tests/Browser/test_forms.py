"""The page without scripts: forms, confirmations and results."""

import re
import zipfile

from harness import PHONE, expect, test


def plain(lab, path="", **options):
    """Opens a page in a browser without scripts."""
    return lab.page(path, context=lab.context(java_script_enabled=False, **options), wait=False)


def shown(page):
    """Returns the listed names when the page is complete."""
    page.wait_for_load_state("load")
    return page.locator("tbody .simple-name bdi").all_text_contents()


def tick(page, *names):
    for name in names:
        page.get_by_label(f"Select {name}", exact=True).check()


@test
def everything_works_without_scripts(lab):
    for name in ("b10.txt", "b9.txt", "A.md"):
        lab.write(name, name)
    (lab.share / "Zoo").mkdir()
    page = plain(lab)
    expect(shown(page), ["Zoo", "A.md", "b9.txt", "b10.txt"])
    lab.screenshot(page, "forms-listing")

    # Create a folder and upload files into it.
    page.locator("summary", has_text="New folder").click()
    page.locator("input[name=name]").fill("Mine & yours?")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("[role=status]").text_content(), "Folder created.")
    page.locator("tbody a.simple-folder", has_text="Mine & yours?").click()
    expect(page.locator("h1").text_content(), "Mine & yours?")
    page.locator("summary", has_text="Upload files").click()
    page.locator("input[type=file]").set_input_files([
        {"name": "ä b.txt", "mimeType": "text/plain", "buffer": b"one"},
        {"name": "large.bin", "mimeType": "application/octet-stream", "buffer": bytes(range(256)) * 20_000}])
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator("[role=status]").text_content(), "2 files uploaded.")
    expect((lab.share / "Mine & yours?" / "large.bin").read_bytes(), bytes(range(256)) * 20_000)
    expect((lab.share / "Mine & yours?" / "ä b.txt").read_text(), "one")

    # Upload again: the name is in use; then replace the file.
    for replaces, names in ((False, ["ä b (1).txt", "ä b.txt", "large.bin"]), (True, ["ä b (1).txt", "ä b.txt", "large.bin"])):
        page.locator("summary", has_text="Upload files").click()
        if replaces:
            page.get_by_label("Replace files with the same name").check()
        page.locator("input[type=file]").set_input_files(
            [{"name": "ä b.txt", "mimeType": "text/plain", "buffer": b"two" if replaces else b"again"}])
        page.get_by_role("button", name="Upload", exact=True).click()
        expect(sorted(shown(page)), sorted(names))
    expect((lab.share / "Mine & yours?" / "ä b.txt").read_text(), "two")
    expect((lab.share / "Mine & yours?" / "ä b (1).txt").read_text(), "again")

    # Move two items to the parent folder by entering its path, and copy one by choosing a folder.
    tick(page, "ä b.txt", "large.bin")
    page.get_by_role("button", name="Move…").click()
    expect(page.locator("h2").text_content(), "Move to which folder?")
    page.locator("input[name=to]").fill("..")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.locator("[role=status]").text_content(), "2 items moved.")
    page.locator("nav a").first.click()
    expect(shown(page), ["Mine & yours?", "Zoo", "A.md", "b9.txt", "b10.txt", "large.bin", "ä b.txt"])
    tick(page, "A.md")
    page.get_by_role("button", name="Copy…").click()
    page.locator("select").select_option(label="/Zoo")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect((lab.share / "Zoo" / "A.md").read_text(), "A.md")

    # Rename an item on its own page.
    page.get_by_label("More options for A.md", exact=True).click()
    page.locator("input[name=name]").fill("Z <1>.md")
    lab.screenshot(page, "forms-about")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("[role=status]").text_content(), "Item renamed.")

    # Deleting asks for confirmation; deselected members stay.
    tick(page, "Zoo", "Z <1>.md", "b9.txt")
    page.get_by_role("button", name="Delete…").click()
    lab.screenshot(page, "forms-delete")
    page.locator("li", has_text="b9.txt").locator("input").uncheck()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("[role=status]").text_content(), "2 items deleted.")
    expect(shown(page), ["Mine & yours?", "b9.txt", "b10.txt", "large.bin", "ä b.txt"])
    expect(sorted(path.name for path in lab.share.iterdir()),
           ["Mine & yours?", "b10.txt", "b9.txt", "large.bin", "ä b.txt"])


@test
def deletion_can_be_undone_without_scripts(lab):
    lab.start("--trash")
    lab.write("folder/inner/b.txt", "b")
    lab.write("a.txt", "a")
    lab.write("c.txt", "c")
    page = plain(lab)
    tick(page, "folder", "a.txt", "c.txt")
    page.get_by_role("button", name="Delete…").click()
    assert "Deleted items are moved to the trash" in page.locator("form").text_content()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("[role=status]").text_content(), "3 items deleted.")
    # The notice offers Undo.
    deleted = page.url
    expect(page.locator(".simple-notice bdi").all_text_contents(), ["folder", "a.txt", "c.txt"])
    lab.screenshot(page, "forms-undo")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[role=status]").text_content(), "3 items restored.")
    expect(shown(page), ["folder", "a.txt", "c.txt"])
    # The old address no longer offers Undo.
    page.goto(deleted)
    expect(page.get_by_role("button", name="Undo").count(), 0)
    tick(page, "folder", "a.txt", "c.txt")
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("link", name="Trash").click()
    expect(sorted(shown(page)), ["/", "/", "/", "a.txt", "c.txt", "folder"])
    lab.screenshot(page, "forms-trash")
    tick(page, "folder", "a.txt")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("[role=status]").text_content(), "2 items restored.")
    expect(shown(page), ["folder", "a.txt"])
    expect((lab.share / "folder" / "inner" / "b.txt").read_text(), "b")
    # Purging asks for confirmation.
    page.get_by_role("link", name="Trash").click()
    tick(page, "c.txt")
    page.locator("summary", has_text="Delete permanently…").click()
    page.get_by_role("button", name="Delete permanently").click()
    expect(page.locator("[role=status]").text_content(), "1 item permanently deleted.")
    page.get_by_role("link", name="Trash").click()
    expect(page.locator("tbody tr").count(), 0)


@test
def lock_is_broken_after_a_warning(lab):
    lab.write("a.txt", "1")
    page = plain(lab)
    lockinfo = ('<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
                '<owner>Anna</owner></lockinfo>')
    expect(page.request.fetch(lab.url + "a.txt", method="LOCK", data=lockinfo).status, 200)
    page.get_by_label("More options for a.txt", exact=True).click()
    page.locator("summary", has_text="Unlock…").click()
    lab.screenshot(page, "forms-unlock")
    page.get_by_role("button", name="Unlock").click()
    expect(page.locator("[role=status]").text_content(), "Item unlocked.")
    expect(page.request.fetch(lab.url + "a.txt", method="DELETE").status, 204)


@test
def selection_is_downloaded_as_one_file(lab):
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, name)
    page = plain(lab)
    for names, start in ((["a.txt", "b.txt", "c.txt"], lambda: page.get_by_role("link", name="Download all as ZIP").click()),
                         (["a.txt", "c.txt"], lambda: page.get_by_role("button", name="Download as ZIP").click())):
        if len(names) == 2:
            tick(page, *names)
        with page.expect_download() as download:
            start()
        with zipfile.ZipFile(download.value.path()) as archive:
            expect(sorted(name.rsplit("/", 1)[-1] for name in archive.namelist() if not name.endswith("/")), names)
            expect(archive.testzip(), None)


@test
def form_failures_are_described(lab):
    lab.write("a.txt", "1")
    lab.write("b.txt", "2")
    page = plain(lab)
    lab.allow("status of 4")
    page.get_by_label("More options for a.txt", exact=True).click()
    page.locator("input[name=name]").fill("b.txt")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("[role=alert] h2").text_content(), "The action failed")
    assert "An item with this name already exists." in page.locator("[role=alert]").text_content()
    lab.screenshot(page, "forms-failure")
    page.get_by_role("link", name="Back to folder").click()
    expect(shown(page), ["a.txt", "b.txt"])
    page.get_by_role("button", name="Delete…").click()
    assert "The form is incomplete." in page.locator("[role=alert]").text_content()


@test
def sorting_searching_and_paging_work(lab):
    for number in range(1201):
        lab.write(f"f{number}.txt", b"x" * number)
    page = plain(lab)
    expect(shown(page)[:2], ["f0.txt", "f1.txt"])
    page.get_by_role("link", name="Next").click()
    expect(shown(page)[0], "f500.txt")
    page.get_by_role("link", name="Next").click()
    expect((len(shown(page)), shown(page)[-1]), (201, "f1200.txt"))
    page.get_by_role("link", name="Previous").click()
    expect(shown(page)[0], "f500.txt")
    page.locator("thead").get_by_role("link", name="Size").click()
    expect(shown(page)[0], "f1200.txt")
    expect(page.locator("[aria-sort]").get_attribute("aria-sort"), "descending")
    page.locator("input[name=find]").fill("F11.")
    page.get_by_role("button", name="Find").click()
    expect(shown(page), ["f11.txt"])
    page.get_by_role("link", name="Show all").click()
    expect(shown(page)[0], "f1200.txt")


@test
def read_only_share_has_no_forms(lab):
    lab.write("a.txt", "1")
    lab.start("--read-only")
    page = plain(lab)
    expect(page.locator("form[method=post], input[type=checkbox]").count(), 0)
    expect(shown(page), ["a.txt"])


@test
def page_has_configured_texts_and_the_language_of_the_visitor(lab):
    lab.write("a.txt", "1")
    lab.start("--title", "Our files", "--header", "Welcome", "--prologue", "Take what you like.", "--footer", "Ask Anna.")
    for language, button in (("de-AT", "Suchen"), ("fr", "Rechercher"), ("es-MX", "Buscar"), ("zh-CN", "查找"), ("nl", "Find")):
        page = plain(lab, language=language)
        expect(page.locator("[role=search] button").text_content(), button, language)
        expect(page.locator("h1").text_content(), "Welcome")
        expect(page.title(), "Our files")
        assert "Take what you like." in page.locator("header").text_content()
        assert "Ask Anna." in page.locator("footer").text_content()


@test
def names_are_shown_as_text(lab):
    names = ["<b>bold<b>", "\"quote' & %41", "שלום.txt", "a\u202etxt.exe", "-", "#?"]
    for name in names:
        lab.write(name, name)
    page = plain(lab)
    # A bidirectional control character is made visible.
    seen = sorted(name.replace("\u202e", "\ufffd") for name in names)
    expect(sorted(shown(page)), seen)
    tick(page, *seen)
    page.get_by_role("button", name="Delete…").click()
    expect(sorted(page.locator(".simple-members bdi").all_text_contents()), seen)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(list(lab.share.iterdir()), [])


@test
def page_without_scripts_is_accessible(lab):
    """Runs axe, which requires scripts; the scripts of the page itself are blocked."""
    lab.start("--trash")
    for number in range(30):
        lab.write(f"file {number}.txt", b"x" * number)
    visitor = plain(lab)
    for number in range(5):
        expect(visitor.request.fetch(lab.url + f"file%20{number}.txt", method="DELETE").status, 204)
    (lab.share / "folder").mkdir()
    for what, options in (("desktop", {}), ("dark", {"dark": True}), ("phone", {"phone": True}),
                          ("phone-dark", {"phone": True, "dark": True})):
        context = lab.context(bypass_csp=True, **options)
        context.route(re.compile(r"/main\.js$"), lambda route: route.fulfill(status=200, content_type="text/javascript", body=""))
        for name, path in (("listing", ""), ("about", "?about=folder"), ("trash", "?trash")):
            page = lab.page(path, context=context, wait=False)
            lab.axe(page, f"{name}, {what}")
            lab.screenshot(page, f"forms-{name}-{what}")
            width = PHONE["width"] if options.get("phone") else 1280
            for opened in (False, True):
                wide = page.evaluate("""isOpen => {
                    for (const one of document.querySelectorAll("details")) one.open = isOpen
                    return Math.max(...[...document.querySelectorAll("*")].map(one => one.getBoundingClientRect().right))
                }""", opened)
                assert wide <= width, f"{name}, {what} is {wide} wide"
