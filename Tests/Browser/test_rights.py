"""What the page offers to accounts with different rights."""

from accounts import credentials, command, open_as, prepare
from harness import expect, test
from upload_support import drop, expect_same, local, wait_for_uploads


def offered(page):
    """Returns the actions in the toolbar and in its menu, sorted."""
    bar = page.locator(".bar-actions button[data-action]")
    names = set(bar.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))"))
    if "More actions" in names:
        page.get_by_role("button", name="More actions").click()
        names |= set(page.locator(".menu-item .menu-label").all_inner_texts())
        page.keyboard.press("Escape")
    return names - {"More actions"}


def forbidden(page):
    """Collects the requests that the server refuses with 403."""
    refused = []
    page.on("response", lambda response: refused.append(response.url) if response.status == 403 else None)
    return refused


READING = {"Download", "Open", "Copy", "Copy to…", "Copy link", "Details"}
CHANGING = {"Rename", "Move to…", "Cut", "Delete"}
CREATING = {"Upload files", "Upload folder", "New folder"}

# The rights to a folder; the actions on a file in it that are offered or not, and those on the folder.
CASES = [
    ("view", READING, CHANGING, set(), CREATING | {"New text file"}),
    ("add", READING, CHANGING, CREATING, {"New text file"}),
    ("edit", READING | CHANGING, set(), CREATING | {"New text file"}, {"Who may…"}),
    ("all", READING | CHANGING, set(), CREATING | {"New text file", "Who may…"}, set()),
    ("list", {"Copy link", "Details"}, CHANGING | {"Download", "Copy", "Copy to…"}, set(), CREATING),
    ("list,read,change", READING | {"Rename"}, CHANGING - {"Rename"}, set(), CREATING),
    ("list,read,delete", READING | {"Delete", "Move to…", "Cut"}, {"Rename"}, set(), CREATING),
]


@test
def only_permitted_actions_are_offered(lab):
    for index, _ in enumerate(CASES):
        lab.write(f"f{index}/a.txt", "text")
    prepare(lab, [("user:ben", f"/f{index}", rights) for index, (rights, *_) in enumerate(CASES)])
    page = open_as(lab, "ben")
    refused = forbidden(page)
    for index, (rights, on_file, not_on_file, on_folder, not_on_folder) in enumerate(CASES):
        page.goto(f"{lab.url}f{index}/")
        lab.ready(page)
        lab.wait_for_names(page, ["a.txt"])
        found = offered(page)
        expect((on_folder - found, not_on_folder & found), (set(), set()), f"actions on the folder with {rights}: {sorted(found)}")
        lab.select(page, "a.txt")
        found = offered(page)
        expect((on_file - found, not_on_file & found), (set(), set()), f"actions on a file with {rights}: {sorted(found)}")
    expect(refused, [])


@test
def actions_depend_on_each_member(lab):
    lab.write("team/secret/a.txt", "a")
    lab.write("team/b.txt", "b")
    lab.write("team/open/c.txt", "c")
    prepare(lab, [("user:ben", "/team", "edit"), ("user:ben", "/team/secret", "view")])
    page = open_as(lab, "ben", "team/")
    lab.wait_for_names(page, ["open", "secret", "b.txt"])
    lab.select(page, "open")
    assert "Delete" in offered(page)
    # A rule refers to this folder.
    lab.select(page, "secret")
    expect(offered(page) & CHANGING, set())
    lab.select(page, "secret", "b.txt")
    expect(offered(page) & CHANGING, set())
    assert lab.row(page, "open").get_attribute("data-drop-href"), "files can be dropped on a folder with the right to create"
    expect(lab.row(page, "secret").get_attribute("data-drop-href"), None)
    # The rights of search results, which are members of several folders.
    page.get_by_role("searchbox").fill("txt")
    page.keyboard.press("Enter")
    lab.until(page, "document.querySelectorAll('.item').length === 3")
    lab.select(page, "a.txt")
    assert "Delete" not in offered(page)
    lab.select(page, "c.txt")
    assert "Delete" in offered(page)


@test
def drop_box_accepts_files_and_shows_none(lab):
    lab.write("inbox/hidden.txt", "x")
    lab.write("new.txt", "new")
    prepare(lab, [("user:ben", "/inbox", "drop")])
    for dark in (False, True):
        page = open_as(lab, "ben", "inbox/", dark=dark, phone=dark)
        refused = forbidden(page)
        page.get_by_text("This is a drop box").wait_for()
        lab.axe(page, "a drop box")
        lab.screenshot(page, f"dropbox-{'phone' if dark else 'desktop'}")
        expect(lab.names(page), [])
        with page.expect_file_chooser() as chooser:
            page.evaluate("delete window.showOpenFilePicker")
            page.get_by_role("button", name="Upload files").first.click()
        chooser.value.set_files(str(lab.share / "new.txt"))
        lab.wait_until(page, lambda: (lab.share / "inbox/new.txt").exists())
        expect((lab.share / "inbox/new.txt").read_text(), "new")
        lab.until(page, "[...document.querySelectorAll('.uploads, .upload-panel, [class*=upload]')].some(one => /1/.test(one.textContent))")
        expect((lab.names(page), refused), ([], []))
        (lab.share / "inbox/new.txt").unlink()


@test
def changed_rights_are_explained_and_shown(lab):
    lab.write("team/a.txt", "a")
    prepare(lab, [("user:ben", "/team", "edit")])
    page = open_as(lab, "ben", "team/")
    lab.allow("403")
    lab.wait_for_names(page, ["a.txt"])
    lab.select(page, "a.txt")
    assert "Delete" in offered(page)
    command(lab, "access", "set", "user:ben", "/team", "view")
    page.keyboard.press("Delete")
    page.get_by_text("You are not allowed to do this here. Your permissions may have changed.").first.wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    page.locator(".bar-actions [data-action=delete]").wait_for(state="detached")
    expect(offered(page) & CHANGING, set())
    assert (lab.share / "team/a.txt").exists()


@test
def previews_depend_on_rights(lab):
    lab.write("view/a.txt", "text")
    lab.write("list/a.txt", "text")
    prepare(lab, [("user:ben", "/view", "view"), ("user:ben", "/list", "list")])
    page = open_as(lab, "ben", "view/?preview=a.txt")
    refused = forbidden(page)
    page.locator("dialog.preview").get_by_text("text", exact=True).wait_for()
    expect(page.get_by_role("button", name="Edit").count(), 0)
    page.goto(f"{lab.url}list/?preview=a.txt")
    page.get_by_text("You are not allowed to read this file.").wait_for()
    expect(page.get_by_role("button", name="Download").count(), 0)
    expect(refused, [])


@test
def trash_offers_what_is_permitted(lab):
    lab.write("edit/a.txt", "a")
    lab.write("view/b.txt", "b")
    lab.write("add/c.txt", "c")
    prepare(lab, [("user:ben", "/edit", "edit"), ("user:ben", "/view", "view"), ("user:ben", "/add", "add")])
    page = open_as(lab, "anna")
    for path in ("edit/a.txt", "view/b.txt", "add/c.txt"):
        page.evaluate("path => fetch(path, { method: 'DELETE' })", f"/{path}")
    page = open_as(lab, "ben", "?trash")
    page.locator(".trash-list li").nth(2).wait_for()
    buttons = page.locator(".trash-actions button").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    expect(sorted(buttons), ["Delete a.txt permanently", "Restore a.txt", "Restore c.txt"])
    expect(page.get_by_role("button", name="Empty trash").count(), 0)


@test
def plain_page_offers_what_is_permitted(lab):
    for name in ("view", "add", "edit", "inbox"):
        lab.write(f"{name}/a.txt", "a")
    prepare(lab, [("user:ben", "/view", "view"), ("user:ben", "/add", "add"), ("user:ben", "/edit", "edit"), ("user:ben", "/inbox", "drop")])
    context = lab.context(**credentials("ben"), java_script_enabled=False)
    page = context.new_page()
    wanted = {
        "view": ([], ["Copy…", "Download as ZIP"]), "add": (["Upload files", "New folder"], ["Copy…", "Download as ZIP"]),
        "edit": (["Upload files", "New folder"], ["Delete…", "Move…", "Copy…", "Download as ZIP"]), "inbox": (["Upload files", "New folder"], []),
    }
    for name, (forms, actions) in wanted.items():
        page.goto(f"{lab.url}{name}/")
        expect(page.locator(".simple-tools summary").all_inner_texts(), forms, name)
        expect(page.locator("#selected button").all_inner_texts(), actions, name)
    expect(page.get_by_text("This is a drop box").count(), 1)
    page.goto(f"{lab.url}view/?about=a.txt")
    expect(page.locator("form button").all_inner_texts(), ["Copy…"])


@test
def share_without_accounts_requests_no_rights(lab):
    lab.write("a.txt", "a")
    context = lab.context()
    bodies = []
    context.on("request", lambda request: bodies.append(request.post_data or "") if request.method == "PROPFIND" else None)
    page = lab.page("", context)
    lab.wait_for_names(page, ["a.txt"])
    assert "rights" not in "".join(bodies)
    expect(page.evaluate("JSON.parse(document.getElementById('davit').textContent).rights"), None)
    expect(page.locator("button.user").count(), 0)


@test
def mount_points_can_be_neither_renamed_nor_removed(lab):
    lab.write("plain/a.txt", "a")
    lab.write("outer/b.txt", "b")
    for name in ("team", "below"):
        (lab.work / name).mkdir()
    lab.start("--mount", f"/team={lab.work / 'team'}", "--mount", f"/outer/below={lab.work / 'below'}")
    page = lab.page()
    refused = forbidden(page)
    lab.wait_for_names(page, ["outer", "plain", "team"])
    # A copy of a folder would not contain the mounted one in it.
    for name, missing in (("team", set()), ("outer", {"Copy", "Copy to…"})):
        lab.select(page, name)
        expect((offered(page) & CHANGING, READING - {"Open"} - offered(page)), (set(), missing), name)
        # By keyboard, and by dragging, which copies.
        page.keyboard.press("F2")
        page.keyboard.press("Delete")
        expect(page.get_by_role("dialog").count(), 0, name)
    lab.select(page, "plain")
    expect(CHANGING - offered(page), set())
    lab.select(page, "plain", "team")
    expect(offered(page) & CHANGING, set())
    # Inside, everything is permitted.
    page.goto(f"{lab.url}team/")
    lab.ready(page)
    expect(CREATING - offered(page), set())
    lab.write("../team/c.txt", "c")
    lab.wait_for_names(page, ["c.txt"])
    lab.select(page, "c.txt")
    expect(CHANGING - offered(page), set())
    expect(refused, [])
    plain = lab.context(java_script_enabled=False).new_page()
    plain.goto(f"{lab.url}?about=team")
    expect(plain.locator("form button").all_inner_texts(), ["Copy…"])


@test
def breadcrumbs_accept_what_the_folder_accepts(lab):
    lab.write("a/b/c/d.txt", "d")
    prepare(lab, [("user:ben", "/a", "view"), ("user:ben", "/a/b", "edit")])
    page = open_as(lab, "ben", "a/b/c/")
    refused = forbidden(page)
    lab.wait_for_names(page, ["d.txt"])
    lab.until(page, "document.querySelector('.trail a[href=\"/a/b/\"]').dataset.dropHref !== undefined")
    lab.until(page, "document.querySelector('.trail a[href=\"/a/b/c/\"]').dataset.dropHref !== undefined")
    expect(page.locator(".trail [data-drop-href]").count(), 2)
    # Neither where the right is missing, nor instead in the current folder.
    mine = local(lab, "mine.txt", 100)
    drop(page, mine, on=".trail a[href='/a/']")
    page.drag_and_drop(".item:has(bdi:text-is('d.txt'))", ".trail a[href='/a/']")
    drop(page, mine, on=".trail a[href='/a/b/']")
    wait_for_uploads(lab, page, 1)
    expect_same(mine, lab.share / "a/b/mine.txt")
    page.drag_and_drop(".item:has(bdi:text-is('d.txt'))", ".trail a[href='/a/b/']")
    lab.wait_for_names(page, [])
    expect(sorted(one.name for one in (lab.share / "a/b").iterdir()), ["c", "d.txt", "mine.txt"])
    expect(sorted(one.name for one in (lab.share / "a").iterdir()), ["b"])
    expect(refused, [])
