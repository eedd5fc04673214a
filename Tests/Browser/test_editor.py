"""The text editor: saves exactly what was typed, and loses no changes by other clients."""

from harness import expect, test

FOREIGN = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>Anna</owner></lockinfo>'


def edit(lab, name, **options):
    page = lab.page(f"?preview={name}&edit", **options)
    page.locator("textarea.editor-text").wait_for()
    return page


def save(lab, page):
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).first.wait_for()
    lab.until(page, "document.querySelector('.editor-footer span').textContent === 'Saved'")


def type_at_end(page, text):
    page.locator("textarea.editor-text").focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def locks(lab, path):
    _, _, content = lab.server.request("PROPFIND", path, '<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>',
                                       Depth="0", Content_Type="application/xml")
    return content.count(b"activelock>") // 2


@test
def file_is_locked_while_it_is_edited(lab):
    lab.write("a.txt", "first\n")
    page = lab.page("?preview=a.txt")
    page.get_by_role("button", name="Edit").click()
    page.locator("textarea.editor-text").wait_for()
    expect(locks(lab, "/a.txt"), 1, "locks while the editor is open")
    # Meanwhile, other clients are locked out.
    expect(lab.server.request("PUT", "/a.txt", b"theirs")[0], 423)
    type_at_end(page, "second")
    page.get_by_text("Unsaved changes").wait_for()
    expect(page.locator(".editor-numbers").inner_text(), "1\n2")
    page.get_by_text("Line 2, column 7").wait_for()
    lab.axe(page, "the editor")
    lab.screenshot(page, "editor")
    save(lab, page)
    expect((lab.share / "a.txt").read_bytes(), b"first\nsecond")
    # Save again with the button: the new entity tag is known.
    type_at_end(page, " and third")
    page.get_by_role("button", name="Save").click()
    lab.until(page, "document.querySelector('.editor-footer span').textContent === 'Saved'")
    expect((lab.share / "a.txt").read_bytes(), b"first\nsecond and third")
    page.get_by_role("button", name="Stop editing").click()
    page.locator(".source code", has_text="second and third").wait_for()
    lab.until(page, "fetch('/a.txt', {method: 'PROPFIND', headers: {Depth: '0'}}).then(one => one.text()).then(text => !text.includes('activelock'))")
    page.keyboard.press("Escape")
    lab.until(page, "document.querySelector('dialog.preview') === null")


@test
def unedited_text_is_saved_unchanged(lab):
    for name, content, typed, wanted in (
        ("crlf.txt", b"a\r\nb\r\n", "c\nd", b"a\r\nb\r\nc\r\nd"),
        ("bom.txt", b"\xef\xbb\xbfa\n", "é", b"\xef\xbb\xbfa\n" + "é".encode()),
        ("wide.txt", b"\xff\xfe" + "ä\r\n".encode("utf-16-le"), "ß", b"\xff\xfe" + "ä\r\nß".encode("utf-16-le")),
        ("old.txt", "Grüße\n".encode("latin-1"), "é", "Grüße\né".encode("latin-1")),
        ("mac.txt", b"a\rb\r", "c", b"a\rb\rc"),
        ("mixed.txt", b"a\nb\r\nc\nd\r\ne\n", "x\n", b"a\nb\r\nc\nd\r\ne\nx\n"),
        ("none.txt", b"", "x", b"x"),
        ("odd.txt", "a\u2028b\x0cc\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16").encode(), "!", "a\u2028b\x0cc😀!".encode()),
    ):
        lab.write(name, content)
        page = edit(lab, name)
        type_at_end(page, typed)
        save(lab, page)
        expect((lab.share / name).read_bytes(), wanted, name)
        page.close()
    # Unsupported characters change the encoding to UTF-8, with a message.
    page = edit(lab, "old.txt")
    type_at_end(page, "Ω")
    save(lab, page)
    page.get_by_text("Saved as UTF-8").wait_for()
    expect((lab.share / "old.txt").read_bytes(), "Grüße\néΩ".encode())


@test
def middle_lines_keep_their_line_endings(lab):
    lab.write("mixed.txt", b"1\n2\r\n3\n4\r\n5\n")
    page = edit(lab, "mixed.txt")
    page.locator("textarea").fill("1\n2\nnew\n3\n4\n5\n")
    save(lab, page)
    expect((lab.share / "mixed.txt").read_bytes(), b"1\n2\r\nnew\n3\n4\r\n5\n")


@test
def concurrent_change_is_not_overwritten(lab):
    lab.allow("412")
    lab.allow("423")
    lab.write("a.txt", "first\n")

    def both_write():
        page = edit(lab, "a.txt")
        type_at_end(page, "mine")
        # Programs that write to the disk ignore locks.
        lab.write("a.txt", "theirs, from the disk\n")
        page.keyboard.press("Control+s")
        page.get_by_text("“a.txt” has changed on the server").wait_for()
        expect((lab.share / "a.txt").read_text(), "theirs, from the disk\n")
        return page
    page = both_write()
    page.get_by_text("theirs, from the disk").wait_for()
    # Nothing is saved while the dialog is open.
    expect(page.locator(".editor-footer span").first.inner_text(), "Unsaved changes")
    lab.axe(page, "both texts")
    lab.screenshot(page, "editor-conflict")
    # Closing the dialog chooses neither version.
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Load server version").wait_for(state="hidden")
    page.get_by_text("Unsaved changes").wait_for()
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Load server version").click()
    lab.until(page, "document.querySelector('textarea').value === 'theirs, from the disk\\n'")
    type_at_end(page, "and mine")
    save(lab, page)
    expect((lab.share / "a.txt").read_text(), "theirs, from the disk\nand mine")
    page.close()
    lab.write("a.txt", "first\n")
    page = both_write()
    page.get_by_role("button", name="Save a copy").click()
    lab.until(page, "location.search === '?preview=a%20(1).txt&edit' || location.search === '?preview=a%20%281%29.txt&edit'")
    expect((lab.share / "a (1).txt").read_text(), "first\nmine")
    expect((lab.share / "a.txt").read_text(), "theirs, from the disk\n")
    page.close()
    lab.write("a.txt", "first\n")
    page = both_write()
    page.get_by_role("button", name="Overwrite").click()
    lab.until(page, "document.querySelector('.editor-footer span').textContent === 'Saved'")
    expect((lab.share / "a.txt").read_text(), "first\nmine")


@test
def locked_file_is_read_only(lab):
    lab.allow("423")
    lab.write("a.txt", "theirs\n")
    lab.start()
    expect(lab.server.request("LOCK", "/a.txt", FOREIGN, Content_Type="application/xml")[0], 200)
    page = edit(lab, "a.txt")
    page.get_by_text("Read-only: locked by Anna.").wait_for()
    expect(page.locator("textarea").get_attribute("readonly"), "")
    expect(page.get_by_role("button", name="Save").count(), 0)
    lab.axe(page, "a file that is read only")


@test
def lost_lock_loses_no_changes(lab):
    lab.allow("412")
    lab.write("a.txt", "first\n")
    page = edit(lab, "a.txt")
    # Another client removes the lock.
    token = page.evaluate("fetch('/a.txt', {method: 'PROPFIND', headers: {Depth: '0'}}).then(one => one.text())"
                          ".then(text => /locktoken>\\s*<[^>]*href>([^<]+)/.exec(text)[1])")
    expect(lab.server.request("UNLOCK", "/a.txt", Lock_Token=f"<{token}>")[0], 204)
    type_at_end(page, "second")
    save(lab, page)
    expect((lab.share / "a.txt").read_text(), "first\nsecond")


@test
def leaving_with_unsaved_text_requires_confirmation(lab):
    lab.write("a.txt", "first\n")
    lab.write("b.txt", "b")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt"])
    page.locator(".name-link", has_text="a.txt").click()
    page.get_by_role("button", name="Edit").click()
    page.locator("textarea").wait_for()
    type_at_end(page, "x")
    page.keyboard.press("Escape")
    page.get_by_text("Save changes?").wait_for()
    lab.axe(page, "the question before leaving")
    page.get_by_role("button", name="Keep editing").click()
    expect(page.locator("textarea").input_value(), "first\nx")
    # The question is asked each time.
    for _ in range(6):
        page.keyboard.press("Escape")
    page.locator("textarea").wait_for()
    expect(page.locator("textarea").input_value(), "first\nx")
    lab.until(page, "document.querySelectorAll('dialog[open]').length > 0")
    if page.locator(".confirm[open]").count():
        page.get_by_role("button", name="Keep editing").click()
    lab.until(page, "document.querySelector('.confirm') === null")
    # The browser's Back button asks, too.
    page.go_back()
    page.get_by_text("Save changes?").wait_for()
    page.get_by_role("button", name="Keep editing").click()
    lab.until(page, "location.search === '?preview=a.txt&edit'")
    expect(page.locator("textarea").input_value(), "first\nx")
    # Closing the tab asks, too.
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    lab.until(page, "document.querySelector('textarea') !== null")
    expect(asked, ["beforeunload"])
    page.keyboard.press("Escape")
    page.locator(".confirm").get_by_role("button", name="Save").click()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    expect((lab.share / "a.txt").read_text(), "first\nx")
    # Discarded changes are not saved.
    page.locator(".name-link", has_text="a.txt").click()
    page.get_by_role("button", name="Edit").click()
    page.locator("textarea").wait_for()
    type_at_end(page, "y")
    page.get_by_role("button", name="Stop editing").click()
    page.get_by_role("button", name="Discard").click()
    page.locator(".source code", has_text="x").wait_for()
    expect((lab.share / "a.txt").read_text(), "first\nx")


@test
def leaving_waits_for_a_save(lab):
    """Escape immediately after Ctrl+S closes the editor once the file is saved, without a question; a second Escape does not wait."""
    lab.write("a.txt", "first\n")
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    held = []
    page.route("**/a.txt", lambda route: held.append(route) if route.request.method == "PUT" else route.fallback())

    def change(text):
        page.locator(".name-link", has_text="a.txt").click()
        page.get_by_role("button", name="Edit").click()
        page.locator("textarea").wait_for()
        type_at_end(page, text)
        page.keyboard.press("Control+s")
        lab.wait_until(page, lambda: held)
        page.keyboard.press("Escape")

    change("x")
    expect(page.locator(".confirm").count(), 0, "questions")
    held.pop().fallback()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    expect((lab.share / "a.txt").read_text(), "first\nx")
    # Changes made during a save need confirmation.
    change("y")
    page.keyboard.type("z")
    held.pop().fallback()
    page.get_by_text("Save changes?").wait_for()
    page.get_by_role("button", name="Keep editing").click()
    lab.until(page, "document.querySelector('.confirm') === null")
    # A save that hangs does not prevent leaving. The two attempts go back only once in total, because a second step would leave
    # the page.
    page.evaluate("""() => {
        window.steps = 0
        const { go } = history
        history.go = (count) => {
            window.steps += 1
            go.call(history, count)
        }
    }""")
    page.keyboard.press("Control+s")
    lab.wait_until(page, lambda: held)
    page.locator(".preview-close").click()
    page.locator(".preview-close").click()
    page.get_by_text("Save changes?").wait_for()
    page.locator(".confirm").get_by_role("button", name="Save").click()
    held.pop().fallback()
    lab.until(page, "document.querySelector('dialog.preview') === null")
    expect((lab.share / "a.txt").read_text(), "first\nxyz")
    expect(page.evaluate("window.steps"), 1, "steps back")
    # A pending request would prevent the page from closing.
    page.unroute_all(behavior="ignoreErrors")


@test
def tab_key_indents_or_moves_the_focus(lab):
    lab.write("a.py", "one\n    two\nthree\n")
    page = edit(lab, "a.py")
    field = page.locator("textarea")
    field.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    expect(field.input_value(), "    one\n    two\nthree\n")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+Tab")
    expect(field.input_value(), "one\n    two\nthree\n")
    page.keyboard.press("Control+a")
    page.keyboard.press("Tab")
    expect(field.input_value(), "    one\n        two\n    three\n")
    page.keyboard.press("Control+z")
    expect(field.input_value(), "one\n    two\nthree\n")
    page.keyboard.press("Control+m")
    page.keyboard.press("Tab")
    expect(field.input_value(), "one\n    two\nthree\n")
    assert page.evaluate("document.activeElement !== document.querySelector('textarea')"), "Tab does not leave the editor"


@test
def long_texts_are_not_copied_for_each_line(lab):
    lab.write("a.txt", "line\n" * 3000)
    page = edit(lab, "a.txt")
    page.evaluate("""() => {
        const { get, set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")
        window.copies = 0
        Object.defineProperty(HTMLTextAreaElement.prototype, "value", { get() { window.copies += 1; return get.call(this) }, set })
    }""")
    type_at_end(page, "\n")
    page.get_by_text("Line 3002, column 1").wait_for()
    expect(page.locator(".editor-numbers").inner_text().splitlines()[-1], "3002")
    copies = page.evaluate("copies")
    assert copies < 20, copies


@test
def new_text_file_can_be_created_and_edited(lab):
    page = lab.page()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="New text file").click()
    page.locator("dialog.prompt input").fill("notes.md")
    page.keyboard.press("Enter")
    page.locator("textarea").wait_for()
    page.keyboard.insert_text("# Notes\n")
    save(lab, page)
    expect((lab.share / "notes.md").read_text(), "# Notes\n")
    page.keyboard.press("Escape")
    lab.wait_for_names(page, ["notes.md"])


@test
def editor_works_on_a_phone(lab):
    lab.write("a.txt", "first\n")
    page = edit(lab, "a.txt", phone=True)
    lab.axe(page, "the editor on a phone")
    lab.screenshot(page, "editor-phone")
    type_at_end(page, "second")
    page.get_by_role("button", name="Save").tap()
    lab.until(page, "document.querySelector('.editor-footer span').textContent === 'Saved'")
    expect((lab.share / "a.txt").read_text(), "first\nsecond")
