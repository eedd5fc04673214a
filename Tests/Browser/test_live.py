"""Changes by other clients appear automatically."""

import os
import shutil

from harness import Skipped, expect, test


def watched(lab, page):
    """Waits until the event stream is connected."""
    if not lab.has_events():
        raise Skipped("this server has no event stream")
    lab.until(page, "document.documentElement.dataset.live === 'true'")


@test
def changes_by_other_clients_are_shown(lab):
    for name in ("a.txt", "b.txt", "c.txt"):
        lab.write(name, b"1")
    page = lab.page()
    watched(lab, page)
    lab.row(page, "b.txt").locator(".modified").click()
    lab.server.request("PUT", "/aa%20new.txt", b"12345")
    lab.wait_for_names(page, ["a.txt", "aa new.txt", "b.txt", "c.txt"])
    expect(page.locator(".item[aria-selected=true] .name-text").inner_text(), "b.txt")
    assert "is-fresh" in lab.row(page, "aa new.txt").get_attribute("class")
    lab.server.request("DELETE", "/a.txt")
    lab.wait_for_names(page, ["aa new.txt", "b.txt", "c.txt"])
    lab.server.request("MOVE", "/c.txt", Destination="/A%26Z")
    lab.wait_for_names(page, ["A&Z", "aa new.txt", "b.txt"])
    lab.server.request("MKCOL", "/folder")
    lab.wait_for_names(page, ["folder", "A&Z", "aa new.txt", "b.txt"])
    lab.server.request("PUT", "/b.txt", b"1234567")
    lab.until(page, "document.querySelector('.item[data-href=\"/b.txt\"] .size').textContent === '7 bytes'")
    # Changes by programs that write to the disk are shown, too.
    lab.write("z", b"")
    lab.wait_for_names(page, ["folder", "A&Z", "aa new.txt", "b.txt", "z"])
    expect(page.evaluate("document.activeElement.dataset.href"), "/b.txt")


@test
def position_is_kept_during_changes(lab):
    for number in range(500):
        lab.write(f"{number:04}.txt")
    page = lab.page()
    watched(lab, page)
    page.evaluate("scrollTo(0, 9000)")
    before = page.evaluate("scrollY")
    lab.write("9999.txt")
    lab.until(page, "document.querySelector('.items').getAttribute('aria-rowcount') === '502'")
    expect(page.evaluate("scrollY"), before)


@test
def updates_wait_while_a_name_is_edited(lab):
    lab.write("b", b"1")
    page = lab.page()
    watched(lab, page)
    page.evaluate("""async () => {
        const { app } = await import(document.querySelector("script[type=module]").src)
        window.release = app.folder.hold()
    }""")
    lab.write("a", b"1")
    lab.write("c", b"1")
    # The changes have arrived and are deferred.
    lab.until(page, """async () => {
        const { app } = await import(document.querySelector("script[type=module]").src)
        return app.folder.waiting > 0
    }""")
    expect(lab.names(page), ["b"])
    page.evaluate("window.release()")
    lab.wait_for_names(page, ["a", "b", "c"])


@test
def tabs_share_one_stream_and_see_their_own_folders(lab):
    if lab.arguments.files:
        raise Skipped("a shared worker imports files only from the binary")
    lab.write("one/x")
    lab.write("two/y")
    context = lab.context()
    first = lab.page("one/", context=context)
    second = lab.page("two/", context=context)
    watched(lab, first)
    watched(lab, second)
    lab.write("one/new in one")
    lab.write("two/new in two")
    lab.wait_for_names(first, ["new in one", "x"])
    lab.wait_for_names(second, ["new in two", "y"])
    # Opening a third tab and closing a tab do not affect the other tabs.
    third = lab.page(context=context)
    watched(lab, third)
    second.close()
    lab.write("one/again")
    lab.wait_for_names(first, ["again", "new in one", "x"])
    lab.write("top")
    lab.wait_for_names(third, ["one", "two", "top"])
    # Browsers open at most six connections to a server. If the tabs did not share one, none would be left.
    tabs = [lab.page("two/", context=context) for _ in range(7)]
    for tab in tabs:
        watched(lab, tab)
    lab.write("two/for all")
    for tab in tabs:
        lab.wait_for_names(tab, ["for all", "new in two", "y"])


@test
def events_follow_navigation(lab):
    lab.write("sub/x")
    page = lab.page()
    watched(lab, page)
    page.locator(".name-link").click()
    lab.wait_for_names(page, ["x"])
    watched(lab, page)
    lab.write("sub/y")
    lab.wait_for_names(page, ["x", "y"])
    page.go_back()
    lab.wait_for_names(page, ["sub"])
    lab.write("top")
    lab.wait_for_names(page, ["sub", "top"])


@test
def changes_during_a_restart_are_shown(lab):
    lab.write("a")
    page = lab.page()
    watched(lab, page)
    lab.allow("ERR_")
    lab.server.kill()
    lab.write("b")
    os.remove(lab.share / "a")
    lab.server.start()
    lab.wait_for_names(page, ["b"])
    lab.write("c")
    lab.wait_for_names(page, ["b", "c"])


@test
def removed_folder_is_reported(lab):
    lab.write("sub/x")
    page = lab.page("sub/")
    watched(lab, page)
    lab.allow("404")
    shutil.rmtree(lab.share / "sub")
    page.get_by_text("“sub” no longer exists.").wait_for()
    # The listing is empty, and no item can be created in it.
    lab.wait_for_names(page, [])
    expect(page.locator(".summary").is_visible(), False, "the summary")
    expect(page.get_by_role("button", name="Upload files").count(), 0)
    expect(page.get_by_role("button", name="New folder").count(), 0)
    # The folder is created again, and its contents appear.
    lab.server.request("MKCOL", "/sub/")
    lab.server.request("PUT", "/sub/y", b"1")
    lab.wait_for_names(page, ["y"])
    expect(page.get_by_role("alert").count(), 0)
    page.get_by_role("button", name="New folder").wait_for()
    shutil.rmtree(lab.share / "sub")
    page.get_by_role("button", name="Go to parent folder").click()
    page.get_by_role("heading", name="This folder is empty").wait_for()
    # Going back does not show outdated entries.
    page.go_back()
    page.get_by_role("heading", name="This folder could not be opened").wait_for()


@test
def lock_owners_are_shown(lab):
    lab.write("report.odt", b"1")
    page = lab.page()
    watched(lab, page)
    body = ('<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
            "<owner>Anna &amp; Bert</owner></lockinfo>")
    expect(lab.server.request("LOCK", "/report.odt", body.encode())[0], 200)
    lab.until(page, """async () => {
        const { app } = await import(document.querySelector("script[type=module]").src)
        const [lock] = app.folder.entry("/report.odt").locks
        return lock && lock.owner === "Anna & Bert" && Date.now() - lock.created < 3_600_000 && lock.until > Date.now()
    }""")
    lab.row(page, "report.odt").locator(".more button").click()
    page.get_by_role("menuitem", name="Details").click()
    page.get_by_role("dialog").get_by_text("Anna & Bert, since").wait_for()
