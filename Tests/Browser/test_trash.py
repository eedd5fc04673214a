"""Restoring deleted files, and breaking locks of other users."""

import subprocess

from harness import expect, test

FOREIGN = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>Anna</owner></lockinfo>'


def toast(page, text):
    page.locator(".toast", has_text=text).first.wait_for()


def starts(lab):
    """Starts a server with a trash; returns False if this build has none."""
    if "--trash" not in subprocess.run([lab.arguments.davit, "serve", "--help"], capture_output=True, text=True, check=False).stdout:
        lab.note("skipped: this build has no trash")
        return False
    lab.start("--trash")
    return True


def features(page):
    return page.evaluate("JSON.parse(document.getElementById('davit').textContent).features")


@test
def deletion_can_be_undone(lab):
    if not starts(lab):
        return
    lab.write("a.txt", "a", 1_000_000_000)
    lab.write("folder/inner/b.txt", "b")
    page = lab.page()
    lab.wait_for_names(page, ["folder", "a.txt"])
    lab.select(page, "folder", "a.txt")
    # There is no confirmation, because the deletion can be undone.
    page.keyboard.press("Delete")
    toast(page, "2 items deleted.")
    lab.wait_for_names(page, [])
    expect(sorted(one.name for one in lab.share.iterdir() if not one.name.startswith(".davit-")), [])
    page.get_by_role("button", name="Undo").click()
    lab.wait_for_names(page, ["folder", "a.txt"])
    expect(((lab.share / "a.txt").read_text(), (lab.share / "a.txt").stat().st_mtime), ("a", 1_000_000_000))
    expect((lab.share / "folder/inner/b.txt").read_text(), "b")


@test
def held_key_deletes_once(lab):
    if not starts(lab):
        return
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["a.txt", "b.txt", "c.txt", "d.txt"])
    lab.row(page, "a.txt").focus()
    page.keyboard.down("Delete")
    lab.wait_for_names(page, ["b.txt", "c.txt", "d.txt"])
    lab.until(page, "document.activeElement.dataset.href === '/b.txt'")
    page.keyboard.down("Delete")
    page.keyboard.up("Delete")
    # Then hold an arrow key.
    page.keyboard.down("ArrowDown")
    page.keyboard.down("ArrowDown")
    page.keyboard.up("ArrowDown")
    lab.until(page, "document.activeElement.dataset.href === '/d.txt'")
    page.keyboard.press("Delete")
    lab.wait_for_names(page, ["b.txt", "c.txt"])


@test
def started_step_completes_when_stopped(lab):
    if not starts(lab):
        return
    names = [f"{number}.txt" for number in range(9)]
    for name in names:
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, names)
    held = []

    def answer(route):
        if route.request.method != "DELETE":
            route.fallback()
            return
        # The server has finished, and the response is on its way.
        held.append((route, route.fetch()))
    page.route("**/*.txt", answer)
    page.locator(".item").first.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.get_by_role("button", name="Stop").click()
    expect(len(held), 6)
    for route, response in held:
        route.fulfill(response=response)
    toast(page, "6 items deleted.")
    lab.wait_for_names(page, names[6:])
    expect(page.locator("dialog").count(), 0)
    page.get_by_role("button", name="Undo").click()
    lab.wait_for_names(page, names)


@test
def double_click_restores_once(lab):
    if not starts(lab):
        return
    lab.write("a.txt", "a")
    page = lab.page()
    lab.server.request("DELETE", "/a.txt")
    title = page.title()
    page.goto(lab.url + "?trash")
    page.get_by_role("button", name="Restore a.txt").wait_for()
    assert page.title().startswith("Trash for") and page.title().endswith(f" – {title}"), page.title()
    page.get_by_role("button", name="Restore a.txt").dblclick()
    page.get_by_text("The trash contains no items from this folder.").wait_for()
    expect(page.locator("dialog").count(), 0)
    expect(page.locator(".toast").count(), 1)


@test
def replaced_file_is_restored_by_undo(lab):
    if not starts(lab):
        return
    lab.write("a.txt", "new")
    lab.write("into/a.txt", "old")
    page = lab.page()
    lab.wait_for_names(page, ["into", "a.txt"])
    lab.select(page, "a.txt")
    page.get_by_role("button", name="Move to…").click()
    page.locator("[role=treeitem][data-href='/into/']").click()
    page.get_by_role("button", name="Move here").click()
    page.get_by_label("Action for a.txt").select_option("replace")
    page.get_by_role("button", name="Continue").click()
    toast(page, "moved to")
    expect((lab.share / "into/a.txt").read_text(), "new")
    page.get_by_role("button", name="Undo").click()
    toast(page, "Move undone.")
    expect(((lab.share / "into/a.txt").read_text(), (lab.share / "a.txt").read_text()), ("old", "new"))


@test
def trash_can_be_listed_restored_and_emptied(lab):
    if not starts(lab):
        return
    for name in ("a.txt", "b.txt", "c <b>.txt", "d/e.txt"):
        lab.write(name, name)
        lab.server.request("DELETE", "/" + name.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E"))
    page = lab.page()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Trash").click()
    page.locator(".trash-list li").nth(3).wait_for()
    # The latest items come first, each with the user and the original path.
    expect(page.locator(".trash-text bdi").all_inner_texts(), ["e.txt", "c <b>.txt", "b.txt", "a.txt"])
    assert "from d" in page.locator(".trash-text small").first.inner_text()
    lab.axe(page, "the trash")
    lab.screenshot(page, "trash")
    page.get_by_role("button", name="Restore c <b>.txt").click()
    toast(page, "1 item restored.")
    expect((lab.share / "c <b>.txt").read_text(), "c <b>.txt")
    lab.until(page, "document.querySelectorAll('.trash-list li').length === 3")
    # Restoring to a name that is in use overwrites nothing.
    lab.write("a.txt", "another")
    page.locator(".trash-list").get_by_label("Select a.txt").check()
    page.locator(".trash-list").get_by_label("Select b.txt").check()
    page.locator(".trash-bar").get_by_role("button", name="Restore").click()
    toast(page, "2 items restored.")
    expect(((lab.share / "a.txt").read_text(), (lab.share / "a (1).txt").read_text()), ("another", "a.txt"))
    page.get_by_role("button", name="Empty trash").click()
    page.get_by_text("1 item will be permanently deleted.").wait_for()
    lab.axe(page, "the question before emptying")
    page.locator("dialog").get_by_role("button", name="Delete permanently").click()
    page.get_by_text("The trash contains no items from this folder.").wait_for()
    # The address identifies the view.
    page.reload()
    # Wait for the scripts, because the page without scripts shows the same text.
    lab.ready(page)
    page.get_by_text("The trash contains no items from this folder.").wait_for()
    page.go_back()
    lab.until(page, "document.querySelector('.trash') === null")
    lab.wait_for_names(page, ["d", "a (1).txt", "a.txt", "b.txt", "c <b>.txt"])


@test
def trash_works_on_a_phone(lab):
    if not starts(lab):
        return
    lab.write("a.txt", "a")
    lab.server.request("DELETE", "/a.txt")
    page = lab.page("?trash", phone=True)
    page.locator(".trash-list li").wait_for()
    lab.axe(page, "the trash on a phone")
    lab.screenshot(page, "trash-phone")
    page.get_by_role("button", name="Restore a.txt").tap()
    page.get_by_role("button", name="Back to folder").tap()
    lab.wait_for_names(page, ["a.txt"])


@test
def locks_of_other_users_are_broken_after_a_warning(lab):
    lab.allow("423")
    lab.write("a.txt", "a")
    lab.start()
    expect(lab.server.request("LOCK", "/a.txt", FOREIGN, Content_Type="application/xml", Timeout="Second-600")[0], 200)
    page = lab.page()
    lab.wait_for_names(page, ["a.txt"])
    assert "Locked by Anna" in page.locator(".lock-badge").get_attribute("title")
    if "locks" not in features(page):
        lab.note("skipped: this build cannot break locks")
        return
    lab.select(page, "a.txt")
    page.keyboard.press("F2")
    page.locator("input.rename").fill("b.txt")
    page.keyboard.press("Enter")
    page.get_by_text("The item is locked by another user or program.").wait_for()
    page.get_by_role("button", name="Unlock…").click()
    page.get_by_text("Unlock “a.txt”?").wait_for()
    lab.axe(page, "the warning")
    lab.screenshot(page, "break-lock")
    page.get_by_role("button", name="Unlock", exact=True).click()
    # The failed action continues.
    page.locator("input.rename").wait_for()
    page.locator("input.rename").fill("b.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["b.txt"])
    expect((lab.share / "b.txt").read_text(), "a")


@test
def selection_is_downloaded_as_one_zip(lab):
    import io
    import zipfile
    for name in ("a.txt", "ü & <b>.txt", "f/g.txt"):
        lab.write(name, name)
    page = lab.page()
    lab.wait_for_names(page, ["f", "a.txt", "ü & <b>.txt"])
    if "archive" not in features(page):
        lab.note("skipped: this build has no archives")
        return
    lab.select(page, "f", "ü & <b>.txt")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download").click()
    with open(started.value.path(), "rb") as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist() if not name.endswith("/")}
    expect(sorted(found.values()), ["f/g.txt", "ü & <b>.txt"])
    assert any(name.endswith("ü & <b>.txt") for name in found), found
