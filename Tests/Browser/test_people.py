"""Who may do what in a folder, and the administration of accounts."""

from accounts import credentials, PASSWORD, command, open_as, prepare
from harness import expect, test

VIEWS = [(False, False), (False, True), (True, False), (True, True)]


def who_may(page):
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Who may…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Everyone’s permissions here").wait_for()
    return dialog


def rows(dialog, section):
    return [" | ".join(part.strip() for part in text.split("\n") if part.strip())
            for text in dialog.locator(section).all_inner_texts()]


@test
def folder_shows_who_may_do_what(lab):
    lab.write("project/plan/a.txt", "a")
    prepare(lab, [("group:team", "/", "view"), ("user:ben", "/project", "edit"), ("group:team", "/project", "none"),
                  ("user:cora", "/project/plan", "add")],
            names=("anna", "ben", "cora"), groups={"team": ["cora", "ben"]})
    for phone, dark in VIEWS:
        page = open_as(lab, "anna", "project/", phone=phone, dark=dark)
        dialog = who_may(page)
        own = "[aria-labelledby=people-own] > li"
        expect(dialog.locator(own).count(), 4)
        texts = rows(dialog, own + ".is-inherited")
        expect(texts, ["Group “team” | Can view | from /", "anna | Full control | from /"])
        expect(rows(dialog, "details >> nth=0 >> li"), ["cora | Can view and add | /project/plan"])
        expect(rows(dialog, "details >> nth=1 >> li"), [
            "anna | Full control | anna (from /)", "ben | Can edit | ben", "cora | No access | Group “team”"])
        lab.axe(page, f"who may, {'phone' if phone else 'desktop'}, {'dark' if dark else 'light'}")
        lab.screenshot(page, f"whomay-{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}")


@test
def rules_are_added_changed_and_removed(lab):
    lab.write("project/a.txt", "a")
    prepare(lab, names=("anna", "ben"), groups={"team": ["ben"]})
    page = open_as(lab, "anna", "project/")
    dialog = who_may(page)
    dialog.get_by_label("Account or group").select_option("group:team")
    dialog.get_by_label("Permissions", exact=True).select_option("edit")
    dialog.get_by_role("button", name="Add", exact=True).click()
    rights = dialog.get_by_label("Permissions of Group “team”")
    rights.wait_for()
    expect(rights.input_value(), "edit")
    assert "group:team  edit" in command(lab, "access", "list")
    # By keyboard.
    rights.focus()
    page.keyboard.press("ArrowUp")
    lab.wait_until(page, lambda: "group:team  add" in command(lab, "access", "list"))
    lab.until(page, "document.activeElement.dataset.rule === 'group:team'")
    dialog.get_by_role("button", name="Remove rule for Group “team”").click()
    page.get_by_role("dialog").last.get_by_role("button", name="Remove", exact=True).click()
    rights.wait_for(state="detached")
    assert "team" not in command(lab, "access", "list")
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")


@test
def managers_grant_only_what_they_have(lab):
    lab.write("project/a.txt", "a")
    prepare(lab, [("user:ben", "/project", "list,read,manage"), ("user:cora", "/project", "none")], names=("anna", "ben", "cora"))
    page = open_as(lab, "ben", "project/")
    lab.allow("403")
    dialog = who_may(page)
    # The rights of the manager are not a preset.
    expect(dialog.get_by_label("Permissions of ben").locator("option:checked").inner_text(), "see, open, manage permissions")
    dialog.get_by_label("Permissions of cora").select_option("edit")
    dialog.get_by_text("You can only grant permissions that you have in this folder yourself.").wait_for()
    lab.until(page, "document.querySelector('[data-rule=\"user:cora\"]').value === 'none'")
    dialog.get_by_label("Permissions of cora").select_option("view")
    lab.wait_until(page, lambda: "user:cora  view" in command(lab, "access", "list"))
    # Without the right to manage, the dialog is not offered.
    page = open_as(lab, "cora", "project/")
    lab.wait_for_names(page, ["a.txt"])
    if page.get_by_role("button", name="More actions").count():
        page.get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Who may…").count(), 0)
    page.get_by_role("button", name="Signed in as cora").click()
    expect(page.get_by_role("menuitem").all_inner_texts(), ["App passwords", "Account", "Appearance and language"])


def administration(page):
    page.get_by_role("button", name="Signed in as anna").click()
    page.get_by_role("menuitem", name="Accounts and permissions").click()
    page.get_by_role("tab", name="Accounts").wait_for()


@test
def administration_is_accessible(lab):
    lab.write("project/a.txt", "a")
    prepare(lab, [("user:ben", "/project", "edit")], groups={"team": ["ben"], "empty": []})
    command(lab, "account", "disable", "ben")
    lab.allow("423")
    for phone, dark in VIEWS:
        page = open_as(lab, "anna", phone=phone, dark=dark)
        page.evaluate("""fetch('/project/a.txt', { method: 'LOCK', body: '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
            + '<locktype><write/></locktype></lockinfo>' }).then(() => undefined)""")
        administration(page)
        kind = f"{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}"
        for tab, text in (("Accounts", "Disabled"), ("Groups", "No members"), ("Rules", "/project"), ("Sessions", "No browser is signed in"),
                          ("Locks", "/project/a.txt")):
            page.get_by_role("tab", name=tab).click()
            page.get_by_role("tabpanel").get_by_text(text).first.wait_for()
            lab.axe(page, f"{tab}, {kind}")
            lab.screenshot(page, f"admin-{tab.lower()}-{kind}")
        # The view has an address.
        page.reload()
        lab.ready(page)
        page.get_by_role("tab", name="Locks", selected=True).wait_for()
        page.go_back()
        page.get_by_role("tab", name="Sessions", selected=True).wait_for()
        page.get_by_role("button", name="Back to folder").click()
        lab.wait_for_names(page, ["project"])


@test
def accounts_are_added_disabled_and_removed(lab):
    lab.write("a.txt", "a")
    prepare(lab)
    page = open_as(lab, "anna")
    lab.allow("409")
    lab.allow("422")
    administration(page)
    page.get_by_role("button", name="Add account").click()
    page.get_by_label("Account name").fill("ben")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("An account with this name already exists.").wait_for()
    page.get_by_label("Account name").fill("dora")
    password = page.get_by_label("Password").input_value()
    assert len(password) == 23, password
    page.get_by_label("Permissions in all folders").select_option("view")
    page.keyboard.press("Enter")
    page.get_by_role("tabpanel").get_by_text("dora").wait_for()
    context = lab.context(**credentials("dora", password))
    other = lab.page("", context)
    lab.wait_for_names(other, ["a.txt"])
    # By keyboard.
    page.get_by_role("button", name="Actions for dora").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("tabpanel").get_by_text("Disabled").wait_for()
    assert "dora (disabled)" in command(lab, "account", "list")
    page.get_by_role("button", name="Actions for dora").click()
    page.get_by_role("menuitem", name="Enable").click()
    page.get_by_role("tabpanel").get_by_text("Disabled").wait_for(state="detached")
    page.get_by_role("button", name="Actions for dora").click()
    page.get_by_role("menuitem", name="New password…").click()
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.get_by_role("button", name="Save").click()
    open_as(lab, "dora")
    page.get_by_role("button", name="Actions for dora").click()
    page.get_by_role("menuitem", name="Remove account…").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("tabpanel").get_by_text("dora").wait_for(state="detached")
    assert "dora" not in command(lab, "account", "list")
    # The last administrator remains.
    page.get_by_role("button", name="Actions for anna").click()
    page.get_by_role("menuitem", name="Disable").click()
    page.get_by_text("At least one enabled account must be able to manage the permissions of the root folder.").wait_for()
    assert "disabled" not in command(lab, "account", "list")


@test
def groups_rules_locks_and_uploads_are_changed(lab):
    lab.write("project/a.txt", "a")
    prepare(lab, [("user:ben", "/project", "edit")])
    page = open_as(lab, "anna")
    administration(page)
    page.get_by_role("tab", name="Groups").click()
    page.get_by_role("button", name="Add group").click()
    page.get_by_label("Group name").fill("team")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Actions for team").click()
    page.get_by_role("menuitem", name="Add member…").click()
    page.get_by_label("Account name").select_option("ben")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("tabpanel").get_by_text("ben").wait_for()
    expect(command(lab, "group", "list"), "team: ben\n")
    page.get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="Actions for ben, /project").click()
    page.get_by_role("menuitem", name="Who may…").click()
    page.get_by_role("dialog").get_by_label("Permissions of ben").select_option("view")
    lab.wait_until(page, lambda: "user:ben  view" in command(lab, "access", "list"))
    page.keyboard.press("Escape")
    page.get_by_role("tabpanel").get_by_text("Can view").wait_for()
    page.get_by_role("button", name="Actions for ben, /project").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Actions for ben, /project").wait_for(state="detached")
    page.evaluate("""fetch('/project/a.txt', { method: 'LOCK', body: '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
        + '<locktype><write/></locktype></lockinfo>' }).then(() => undefined)""")
    page.get_by_role("tab", name="Locks").click()
    page.get_by_role("button", name="Actions for /project/a.txt").click()
    page.get_by_role("menuitem", name="Unlock").click()
    page.get_by_role("dialog").get_by_role("button", name="Unlock").click()
    page.get_by_text("No file is locked.").wait_for()
    page.evaluate("""fetch('/project/b.txt', { method: 'PUT', body: 'one', headers: { 'Upload-Complete': '?0', 'Upload-Length': '8' } })
        .then(() => undefined)""")
    page.get_by_role("tab", name="Uploads").click()
    page.get_by_role("tabpanel").get_by_text("3 bytes of 8 bytes").wait_for()
    lab.axe(page, "uploads of all accounts")
    lab.screenshot(page, "admin-uploads")
    page.get_by_role("button", name="Actions for /project/b.txt").click()
    page.get_by_role("menuitem", name="Cancel upload").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel upload").click()
    page.get_by_text("There are no unfinished uploads.").wait_for()
    expect(command(lab, "uploads", "list"), "no uploads\n")


def app_passwords(page, name):
    page.get_by_role("button", name=f"Signed in as {name}").click()
    page.get_by_role("menuitem", name="App passwords").click()
    dialog = page.get_by_role("dialog", name="App passwords")
    dialog.wait_for()
    return dialog


@test
def app_passwords_are_created_and_revoked(lab):
    lab.write("team/a.txt", "a")
    lab.write("other/b.txt", "b")
    prepare(lab, [("user:ben", "/team", "edit"), ("user:ben", "/other", "view")])
    for phone, dark in VIEWS:
        page = open_as(lab, "ben", "team/", phone=phone, dark=dark)
        dialog = app_passwords(page, "ben")
        dialog.get_by_role("button", name="Create app password").click()
        dialog.get_by_text("Enter a value.").wait_for()
        dialog.get_by_label("Device or program").fill("phone" if phone else "laptop")
        dialog.get_by_label("Permissions").select_option("view")
        dialog.get_by_label("Validity").select_option("30")
        dialog.get_by_label("Only in “team”").check()
        kind = f"{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}"
        lab.axe(page, f"app passwords, {kind}")
        lab.screenshot(page, f"passwords-{kind}")
        page.keyboard.press("Enter")
        shown = page.get_by_role("dialog", name="Connect a program or device")
        shown.get_by_text("It will not be shown again").wait_for()
        shown.get_by_role("img", name="Scan to copy the password").wait_for()
        lab.axe(page, f"a new app password, {kind}")
        lab.screenshot(page, f"password-{kind}")
        password = shown.locator("code").first.inner_text()
        assert len(password) == 23, password
        assert f"pass={password}" in shown.locator("code").all_text_contents()[-3], "the instructions contain the password"
        # The password is limited to the folder, and to reading.
        other = lab.context(http_credentials={"username": "ben", "password": password})
        lab.allow("40")
        client = other.request
        expect(client.get(f"{lab.url}team/a.txt").status, 200)
        expect(client.get(f"{lab.url}other/b.txt").status, 404)
        expect(client.delete(f"{lab.url}team/a.txt").status, 403)
        # It does not administrate.
        expect(client.get(f"{lab.url}?app-passwords").status, 403)
        page.keyboard.press("Escape")
        shown.wait_for(state="detached")
        dialog = app_passwords(page, "ben")
        name = "phone" if phone else "laptop"
        dialog.get_by_text("/team").first.wait_for()
        dialog.get_by_role("button", name=f"Remove “{name}”?").first.click()
        page.get_by_role("dialog", name=f"Remove “{name}”?").get_by_role("button", name="Remove", exact=True).click()
        dialog.get_by_text("You have no app passwords.").wait_for()
        expect(client.get(f"{lab.url}team/a.txt").status, 401)
