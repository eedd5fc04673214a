"""Creating, renaming, moving, copying and deleting, without losing concurrent changes by other clients."""

import os

from harness import PHONE, ROOT, Lab, expect, test

MOVED = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>Anna</owner></lockinfo>'


def listed(lab, folder=""):
    return sorted(os.listdir(lab.share / folder))


def press(page, name, key):
    """Presses a key with the focus on the row of that name."""
    Lab.row(page, name).focus()
    page.keyboard.press(key)


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def toast(page, text):
    page.locator(".toast", has_text=text).first.wait_for()


def lock(lab, path):
    status, fields, _ = lab.server.request("LOCK", path, MOVED, Content_Type="application/xml", Timeout="Second-600")
    assert status in (200, 201), status
    return fields["Lock-Token"]


@test
def folder_can_be_created(lab):
    lab.write("a.txt", "a")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    page.keyboard.press("Alt+n")
    page.get_by_label("Name", exact=True).wait_for()
    lab.axe(page, "the dialog for a folder")
    lab.screenshot(page, "new-folder")
    field = page.locator("dialog input")
    for wrong, words in ((" ", "Enter a name."), ("..", "This name is not allowed."), ("a/b", "slash"),
                         ("x" * 256, "too long"), ("a.txt", "already")):
        field.fill(wrong)
        page.keyboard.press("Enter")
        page.locator(".field-error", has_text=words).wait_for()
    name = "Müll & <b>#1<b>?%41"
    field.fill(name)
    page.keyboard.press("Enter")
    lab.wait_for_names(page, [name, "a.txt"])
    expect(listed(lab), [name, "a.txt"])
    expect(page.evaluate("document.activeElement.querySelector('.name-text').textContent"), name, "the focus")
    # Another client has created the folder with this name, and the list is not up to date.
    page.keyboard.press("Alt+n")
    expect(field.input_value(), "New folder")
    (lab.share / "late").mkdir()
    field.fill("late")
    page.keyboard.press("Enter")
    lab.allow("405")
    toast(page, "already")
    page.locator("dialog input").fill("later")
    page.keyboard.press("Enter")
    lab.row(page, "later").wait_for()
    lab.until(page, "document.querySelectorAll('dialog').length === 0")
    assert (lab.share / "later").is_dir()


@test
def item_can_be_renamed_in_place(lab):
    lab.allow("412")
    for name in ("one.tar.gz", "two.txt", "three"):
        lab.write(name, name)
    (lab.share / "folder.d").mkdir()
    page = lab.page()
    lab.wait_for_names(page, ["folder.d", "one.tar.gz", "three", "two.txt"])

    def edit(name):
        lab.select(page, name)
        page.keyboard.press("F2")
        page.locator("input.rename").wait_for()

    def chosen():
        return page.evaluate("(() => { const field = document.querySelector('input.rename');"
                             "return field.value.slice(field.selectionStart, field.selectionEnd) })()")
    edit("one.tar.gz")
    expect(chosen(), "one")
    lab.axe(page, "a name that is edited")
    lab.screenshot(page, "rename")
    page.keyboard.type("uno")
    page.keyboard.press("Escape")
    expect(listed(lab), ["folder.d", "one.tar.gz", "three", "two.txt"])
    expect(page.evaluate("document.activeElement.dataset.href"), "/one.tar.gz", "the focus after Escape")
    edit("one.tar.gz")
    page.keyboard.type("uno")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["folder.d", "three", "two.txt", "uno.tar.gz"])
    expect(listed(lab), ["folder.d", "three", "two.txt", "uno.tar.gz"])
    expect(page.evaluate("document.activeElement.dataset.href"), "/uno.tar.gz", "the focus")
    # Leaving the field also saves the name. For a folder, the whole name is selected.
    edit("folder.d")
    expect(chosen(), "folder.d")
    page.keyboard.type("ordner")
    page.locator(".summary").click()
    lab.wait_for_names(page, ["ordner", "three", "two.txt", "uno.tar.gz"])
    # The page itself reports a name in the list that is in use, and the server reports a name that another client has taken. In
    # both cases, the field stays open.
    edit("two.txt")
    page.keyboard.type("three")
    page.keyboard.press("Control+A")
    page.keyboard.type("three")
    page.keyboard.press("Enter")
    page.locator(".rename-error", has_text="already").wait_for()
    lab.write("late.txt", "theirs")
    page.keyboard.press("Control+A")
    page.keyboard.type("late.txt")
    page.keyboard.press("Enter")
    page.locator(".rename-error", has_text="already").wait_for()
    page.keyboard.press("Escape")
    expect((lab.share / "late.txt").read_text(), "theirs")
    expect((lab.share / "two.txt").read_text(), "two.txt")


@test
def rows_are_not_updated_while_a_name_is_edited(lab):
    for name in ("b.txt", "c.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["b.txt", "c.txt"])
    press(page, "c.txt", "F2")
    page.locator("input.rename").wait_for()
    before = page.locator("input.rename").bounding_box()
    page.keyboard.type("x")
    lab.server.request("PUT", "/a.txt", b"new")
    page.evaluate("import(document.querySelector('script[type=module]').src).then(main => main.app.folder.refresh())")
    expect(page.locator("input.rename").bounding_box(), before, "the position of the field")
    expect(page.locator("input.rename").input_value(), "x.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["a.txt", "b.txt", "x.txt"])


@test
def name_with_line_breaks_is_kept(lab):
    lab.write("new\nline.txt", "1")
    lab.write("z.txt", "z")
    page = lab.page()
    lab.wait_for_names(page, ["new\u240aline.txt", "z.txt"])
    for leave in (lambda: page.locator(".summary").click(), lambda: page.keyboard.press("Enter")):
        page.locator(".item").first.focus()
        page.keyboard.press("F2")
        page.locator("input.rename").wait_for()
        leave()
        page.locator("input.rename").wait_for(state="detached")
        expect(listed(lab), ["new\nline.txt", "z.txt"])


@test
def focus_stays_when_the_edited_item_disappears(lab):
    lab.allow("404")
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt"])
    press(page, "b.txt", "F2")
    page.locator("input.rename").wait_for()
    lab.server.request("DELETE", "/b.txt")
    lab.until(page, """async () => {
        const { app } = await import(document.querySelector("script[type=module]").src)
        if (app.folder.waiting === 0) await app.folder.refresh()
        return app.folder.waiting > 0
    }""")
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    toast(page, "The item no longer exists.")
    lab.wait_for_names(page, ["a.txt", "c.txt"])
    lab.until(page, "document.activeElement.dataset.href === '/c.txt'")


@test
def repeated_click_has_no_effect(lab):
    lab.write("a.txt", "a")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])

    def twice(module, do, dialog):
        release = lab.held(page, f"**/{module}.js")
        do()
        release()
        page.locator(dialog).first.wait_for()
        expect(page.locator("dialog").count(), 1, f"dialogs of {module}")
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
    twice("create", lambda: button(page, "New folder").dblclick(), "dialog.prompt")
    twice("connect", lambda: button(page, "Connect").dblclick(), "dialog.connecting")
    twice("help", lambda: [page.keyboard.press("Shift+?") for _ in range(2)], "dialog.help")
    lab.select(page, "a.txt")
    twice("transfer", lambda: button(page, "Move to…").dblclick(), "dialog.choose-folder")
    twice("remove", lambda: button(page, "Delete").dblclick(), "dialog.confirm")
    # After the dialog is closed, the action can be repeated.
    page.keyboard.press("Delete")
    page.locator("dialog.confirm").wait_for()


@test
def key_pressed_right_after_a_dialog_is_not_ignored(lab):
    lab.write("a.txt", "a")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    lab.select(page, "a.txt")
    # The row has the focus again as soon as the dialog is closed; the browser may handle the next key before any other task.
    press = """() => document.querySelector('.item').addEventListener('focusin', async ({ target }) => {
        for (let turn = 0; turn < 100; turn++) await undefined
        target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true }))
    }, { once: true })"""
    page.keyboard.press("Delete")
    for close in (lambda: page.keyboard.press("Escape"), lambda: button(page, "Cancel").click(), lambda: button(page, "Close").click(),
                  lambda: page.mouse.click(5, 5)):
        page.locator("dialog.confirm:modal").wait_for()
        page.evaluate("document.querySelector('dialog').dataset.first = ''")
        page.evaluate(press)
        close()
        page.locator("dialog.confirm:modal:not([data-first])").wait_for()
        expect(page.locator("dialog").count(), 1, "dialogs")


@test
def slow_second_click_begins_renaming(lab):
    lab.write("a.txt", "a")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    box = page.locator(".item .cell.name").bounding_box()
    at = (box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
    page.mouse.click(*at)
    lab.until(page, "document.querySelector('.item').getAttribute('aria-selected') === 'true'")
    page.mouse.click(*at)
    page.locator("input.rename").wait_for()
    page.keyboard.press("Escape")
    # A double click opens the item.
    page.mouse.dblclick(*at)
    page.locator("dialog.preview").wait_for()


@test
def names_that_are_not_utf8_can_be_changed(lab):
    path = os.fsencode(lab.share) + b"/bad\xff.txt"
    with open(path, "wb") as file:
        file.write(b"bytes")
    page = lab.page()
    page.locator(".item").wait_for()
    page.locator(".item").focus()
    # Copies in the same folder keep the bytes of the name.
    for number in (1, 2):
        page.keyboard.press("Control+c")
        page.keyboard.press("Control+v")
        page.locator(f"[data-href='/bad%FF%20%28{number}%29.txt']").wait_for()
        copy = os.fsencode(lab.share) + b"/bad\xff (%d).txt" % number
        with open(copy, "rb") as file:
            expect(file.read(), b"bytes")
    for number in (1, 2):
        expect(lab.server.request("DELETE", f"/bad%FF%20%28{number}%29.txt")[0], 204)
    page.evaluate("import(document.querySelector('script[type=module]').src).then(({ app }) => app.folder.refresh())")
    lab.wait_for_names(page, ["bad\ufffd.txt"])
    page.locator(".item").focus()
    page.keyboard.press("F2")
    page.locator("input.rename").fill("good.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["good.txt"])
    expect((lab.share / "good.txt").read_bytes(), b"bytes")


@test
def items_can_be_moved_with_the_folder_tree(lab):
    lab.write("a.txt", "a")
    lab.write("b.txt", "b")
    lab.write("x/y/z/deep.txt", "z")
    page = lab.page()
    lab.wait_for_names(page, ["x", "a.txt", "b.txt"])
    lab.select(page, "a.txt", "b.txt")
    button(page, "Move to…").click()
    tree = page.get_by_role("tree")
    tree.wait_for()
    lab.until(page, "document.querySelector('[role=treeitem][data-href=\"/x/\"]') !== null")
    lab.axe(page, "the folder tree")
    lab.screenshot(page, "folder-tree")
    # The current folder cannot be the destination; this is reported when it is chosen.
    lab.until(page, "document.activeElement.dataset.href === '/'")
    expect(page.locator(".field-error").inner_text(), "")
    button(page, "Move here").click()
    page.locator(".field-error", has_text="already").wait_for()
    page.locator("[role=treeitem][data-href='/']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    lab.until(page, "document.querySelector('[data-href=\"/x/y/\"]') !== null")
    page.keyboard.press("ArrowRight")
    # Create a folder inside without closing the dialog.
    page.locator("dialog.choose-folder").get_by_role("button", name="New folder").click()
    page.locator("dialog.prompt input").fill("new one")
    page.keyboard.press("Enter")
    lab.until(page, "document.activeElement.dataset.href === '/x/y/new%20one/'")
    page.keyboard.press("Enter")
    button(page, "Move here").click()
    toast(page, "2 items moved to “new one”.")
    expect(listed(lab, "x/y/new one"), ["a.txt", "b.txt"])
    lab.wait_for_names(page, ["x"])
    button(page, "Undo").click()
    lab.wait_for_names(page, ["x", "a.txt", "b.txt"])
    expect(listed(lab, "x/y/new one"), [])
    expect((lab.share / "a.txt").read_text(), "a")


@test
def folder_cannot_be_moved_into_itself(lab):
    (lab.share / "x/y").mkdir(parents=True)
    page = lab.page()
    lab.wait_for_names(page, ["x"])
    lab.select(page, "x")
    button(page, "Move to…").click()
    page.locator("[role=treeitem][data-href='/x/']").click()
    button(page, "Move here").click()
    page.locator(".field-error", has_text="into itself").wait_for()
    page.keyboard.press("Escape")
    expect(listed(lab), ["x"])


@test
def dragging_moves_and_copies_with_control(lab):
    lab.write("a.txt", "a")
    lab.write("b.txt", "b")
    lab.write("into/c.txt", "c")
    page = lab.page()
    lab.wait_for_names(page, ["into", "a.txt", "b.txt"])
    row = ".item:has(bdi:text-is('{}'))"
    page.drag_and_drop(row.format("a.txt"), row.format("into"))
    lab.wait_for_names(page, ["into", "b.txt"])
    expect(listed(lab, "into"), ["a.txt", "c.txt"])
    page.keyboard.down("Control")
    page.drag_and_drop(row.format("b.txt"), row.format("into"))
    page.keyboard.up("Control")
    toast(page, "“b.txt” copied to “into”.")
    expect(listed(lab, "into"), ["a.txt", "b.txt", "c.txt"])
    expect(listed(lab), ["b.txt", "into"])
    # Drop the item on a breadcrumb.
    page.locator(".item a.name-link", has_text="into").click()
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt"])
    page.drag_and_drop(row.format("c.txt"), ".trail a[href='/']")
    lab.wait_for_names(page, ["a.txt", "b.txt"])
    expect((lab.share / "c.txt").read_text(), "c")


@test
def items_can_be_cut_copied_and_pasted_by_keys(lab):
    lab.write("a.tar.gz", "a")
    lab.write("b.txt", "b")
    (lab.share / "into").mkdir()
    context = lab.context()
    page = lab.page(context=context)
    lab.wait_for_names(page, ["into", "a.tar.gz", "b.txt"])
    lab.select(page, "a.tar.gz")
    page.keyboard.press("Control+c")
    toast(page, "1 item copied")
    # In the same folder, the copy gets a number before the extension, without a question.
    page.keyboard.press("Control+v")
    lab.wait_for_names(page, ["into", "a (1).tar.gz", "a.tar.gz", "b.txt"])
    expect((lab.share / "a (1).tar.gz").read_text(), "a")
    lab.select(page, "b.txt")
    page.keyboard.press("Control+x")
    lab.until(page, "document.querySelector('.item.is-cut .name-text')?.textContent === 'b.txt'")
    lab.screenshot(page, "cut")
    # The clipboard is shared with other tabs.
    other = lab.page("into/", context=context)
    button(other, "Paste").wait_for()
    other.keyboard.press("Control+v")
    lab.wait_for_names(other, ["b.txt"])
    expect(listed(lab, "into"), ["b.txt"])
    lab.until(page, "document.querySelector('.item.is-cut') === null")
    expect(button(other, "Paste").count(), 0)


@test
def conflicts_are_resolved_before_a_move(lab):
    for name in ("keep.txt", "replace.txt", "skip.txt", "free.txt"):
        lab.write(name, f"new {name}", 2_000_000_000)
        if name != "free.txt":
            lab.write(f"into/{name}", f"old {name}", 1_000_000_000)
    page = lab.page()
    lab.wait_for_names(page, ["into", "free.txt", "keep.txt", "replace.txt", "skip.txt"])
    lab.select(page, "free.txt", "keep.txt", "replace.txt", "skip.txt")
    page.keyboard.press("Control+x")
    page.locator(".item a.name-link", has_text="into").click()
    lab.wait_for_names(page, ["keep.txt", "replace.txt", "skip.txt"])
    page.keyboard.press("Control+v")
    page.locator("dialog.conflict").wait_for()
    expect(listed(lab, "into"), ["keep.txt", "replace.txt", "skip.txt"])
    lab.axe(page, "the conflicts")
    lab.screenshot(page, "conflict")
    page.get_by_label("Action for replace.txt").select_option("replace")
    page.get_by_label("Action for skip.txt").select_option("skip")
    button(page, "Continue").click()
    lab.until(page, "document.querySelectorAll('.item').length === 5")
    expect({name: (lab.share / "into" / name).read_text() for name in listed(lab, "into")}, {
        "free.txt": "new free.txt", "keep (1).txt": "new keep.txt", "keep.txt": "old keep.txt",
        "replace.txt": "new replace.txt", "skip.txt": "old skip.txt"})
    expect(listed(lab), ["into", "skip.txt"])


@test
def later_conflicts_are_asked_about_again(lab):
    lab.allow("412")
    lab.write("a.txt", "mine")
    lab.write("into/a.txt", "first")
    page = lab.page()
    lab.wait_for_names(page, ["into", "a.txt"])
    lab.select(page, "a.txt")
    page.keyboard.press("Control+c")
    page.locator(".item a.name-link", has_text="into").click()
    lab.wait_for_names(page, ["a.txt"])
    page.keyboard.press("Control+v")
    page.get_by_label("Action for a.txt").select_option("replace")
    lab.server.request("PUT", "/into/a.txt", b"second, by somebody else")
    button(page, "Continue").click()
    # The existing file has changed since the dialog.
    lab.until(page, "document.querySelector('dialog.conflict select')?.value === 'keep'")
    expect((lab.share / "into/a.txt").read_text(), "second, by somebody else")
    page.get_by_label("Action for a.txt").select_option("replace")
    button(page, "Continue").click()
    toast(page, "copied to")
    expect((lab.share / "into/a.txt").read_text(), "mine")


@test
def deletion_lists_items_and_requires_confirmation(lab):
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, name)
    lab.write("folder/inner.txt", "x")
    page = lab.page()
    lab.wait_for_names(page, ["folder", "a.txt", "b.txt", "c.txt"])
    lab.select(page, "folder", "a.txt")
    page.keyboard.press("Delete")
    page.get_by_text("Delete 2 items?").wait_for()
    page.get_by_text("Folders are deleted with all their contents.").wait_for()
    lab.axe(page, "the question before deleting")
    lab.screenshot(page, "delete")
    # The destructive button is not focused.
    assert page.evaluate("document.activeElement.textContent") != "Delete"
    page.keyboard.press("Escape")
    expect(listed(lab), ["a.txt", "b.txt", "c.txt", "folder"])
    page.keyboard.press("Delete")
    page.locator("dialog button.danger").click()
    lab.wait_for_names(page, ["b.txt", "c.txt"])
    expect(listed(lab), ["b.txt", "c.txt"])
    expect(page.evaluate("document.activeElement.dataset.href"), "/b.txt", "the focus")


@test
def file_changed_meanwhile_is_not_deleted(lab):
    lab.allow("412")
    lab.write("a.txt", "seen")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    lab.select(page, "a.txt")
    page.keyboard.press("Delete")
    lab.server.request("PUT", "/a.txt", b"something else, by somebody else")
    page.locator("dialog button.danger").click()
    page.get_by_text("1 item could not be deleted").wait_for()
    page.get_by_text("The item was changed in the meantime.").wait_for()
    lab.axe(page, "what failed")
    expect((lab.share / "a.txt").read_bytes(), b"something else, by somebody else")
    # The deletion can be retried after another confirmation for the current version.
    lab.until(page, "document.querySelector('.item .size').textContent.startsWith('32')")
    button(page, "Try again").click()
    page.locator("dialog button.danger").click()
    lab.wait_for_names(page, [])
    expect(listed(lab), [])


@test
def failed_items_are_listed(lab):
    lab.allow("423")
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt"])
    lock(lab, "/b.txt")
    lab.select(page, "a.txt", "b.txt", "c.txt")
    page.keyboard.press("Delete")
    page.locator("dialog button.danger").click()
    failure = page.locator(".failures li")
    failure.wait_for()
    expect(failure.count(), 1)
    expect(failure.locator("bdi").inner_text(), "b.txt")
    expect(listed(lab), ["b.txt"])
    page.keyboard.press("Escape")
    lab.until(page, "document.querySelector('.lock-badge') !== null")
    assert "Anna" in page.locator(".lock-badge").get_attribute("title")


@test
def long_operations_show_progress_and_can_be_stopped(lab):
    for number in range(60):
        lab.write(f"{number:03}.txt", "x")
    (lab.share / "into").mkdir()
    page = lab.page()
    page.locator(".item").nth(1).focus()
    # Simulates a slow server: the first requests are answered immediately, and the others when the test releases them.
    held = []

    def answer(route):
        if route.request.method == "MOVE":
            held.append(route)
        if route.request.method != "MOVE" or len(held) <= 10:
            route.continue_()
    page.route("**/*.txt", answer)
    page.keyboard.press("Shift+End")
    page.keyboard.press("Control+x")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.get_by_text("This folder is empty").wait_for()
    page.keyboard.press("Control+v")
    page.locator(".work progress").wait_for()
    lab.axe(page, "the bar")
    lab.screenshot(page, "work")
    button(page, "Stop").click()
    for route in held[10:]:
        route.continue_()
    # Ten items were done and six were in progress.
    toast(page, "16 items moved to “into”.")
    expect((len(listed(lab, "into")), len(listed(lab))), (16, 45))


@test
def downloads_have_the_names_of_the_items(lab):
    name = "Überraschung & <1>.txt"
    lab.write(name, "inhalt")
    page = lab.page()
    lab.wait_for_names(page, [name])
    lab.select(page, name)
    with page.expect_download() as started:
        button(page, "Download").click()
    expect(started.value.suggested_filename.replace("_", "<", 1).replace("_", ">", 1), name)
    with open(started.value.path(), "rb") as file:
        expect(file.read(), b"inhalt")


@test
def changes_work_on_a_phone(lab):
    lab.write("a.txt", "a")
    (lab.share / "into").mkdir()
    page = lab.page(phone=True)
    lab.wait_for_names(page, ["into", "a.txt"])

    def choose(name, action):
        page.get_by_role("button", name=f"Actions for {name}").tap()
        page.get_by_role("menuitem", name=action).tap()
    choose("a.txt", "Rename")
    page.locator("input.rename").fill("b.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["into", "b.txt"])
    choose("b.txt", "Move to…")
    page.locator("[role=treeitem][data-href='/into/']").tap()
    lab.screenshot(page, "phone-tree")
    box = page.locator("dialog").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"], box
    page.get_by_role("button", name="Move here").tap()
    lab.wait_for_names(page, ["into"])
    choose("into", "Delete")
    lab.axe(page, "the question on a phone")
    lab.screenshot(page, "phone-delete")
    page.locator("dialog button.danger").tap()
    lab.wait_for_names(page, [])
    expect(listed(lab), [])


@test
def read_only_folder_offers_no_changes(lab):
    lab.write("a.txt", "a")
    lab.start("--read-only")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    lab.select(page, "a.txt")
    for name in ("Rename", "Move to…", "Delete", "New folder"):
        expect(button(page, name).count(), 0, name)
    press(page, "a.txt", "F2")
    expect(page.locator("input.rename").count(), 0)


@test
def free_names_match_the_table(lab):
    page = lab.page()
    source = page.evaluate("document.querySelector('script[type=module]').src").rsplit("/", 1)[0]
    rows = [line.split("\t") for line in (ROOT / "Tests/Tables/free-names.txt").read_text().splitlines() if line[0] != "#"]
    found = page.evaluate("""async ([base, rows]) => {
        const { freeName } = await import(`${base}/names.js`)
        return rows.map(([name, taken]) =>
            freeName(name.replace(/\\/$/, ""), new Set(taken.split("|")), name.endsWith("/")))
    }""", [source, rows])
    for (name, _, wanted), chosen in zip(rows, found, strict=True):
        expect(chosen, wanted, name)
