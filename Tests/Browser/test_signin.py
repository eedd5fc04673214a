"""Signing in with the form, the account page, and sessions that end."""

import base64
import hmac
import re
import subprocess
import time
import urllib.parse

import accounts
from harness import Skipped, expect, test
from upload_support import NO_PICKERS, choose

USER = ("anna", "open:sesame")
# Browsers report the responses with the form as errors.
REFUSED = "Failed to load resource"
LANGUAGES = {"en": "Sign in", "de": "Anmelden", "fr": "Se connecter", "es": "Iniciar sesión", "zh-Hans": "登录"}
# A small phone, and a desktop.
SIZES = {"phone": {"width": 375, "height": 667}, "desktop": {"width": 1280, "height": 800}}


def start(lab, *options):
    lab.allow(REFUSED)
    lab.write("b.txt", b"text")
    lab.write("Folder/c.txt", b"text")
    return lab.start("--user", ":".join(USER), *options)


def signed_in(lab, context=None, path="", **options):
    page = lab.page(path, context=context, wait=False, **options)
    lab.sign_in(page, *USER)
    lab.ready(page)
    return page


def post(lab, fields, cookie="", query="account", **headers):
    """Sends a form as another program would."""
    return lab.server.request(
        "POST", f"/?{query}", urllib.parse.urlencode(fields), Content_Type="application/x-www-form-urlencoded", Cookie=cookie,
        **headers)


def cookie_of(context):
    return "; ".join(f"{one['name']}={one['value']}" for one in context.cookies())


@test
def form_signs_in_and_returns_to_the_requested_page(lab):
    start(lab)
    page = lab.page("Folder/?lang=en", wait=False)
    page.get_by_role("heading", name="Sign in").wait_for()
    lab.sign_in(page, "anna", "wrong")
    page.get_by_role("alert").get_by_text("The name or the password is wrong.").wait_for()
    expect(page.get_by_label("Name").input_value(), "anna")
    expect(page.get_by_label("Password").input_value(), "")
    lab.sign_in(page, *USER)
    lab.ready(page)
    expect(page.url, f"{lab.url}Folder/?lang=en")
    lab.wait_for_names(page, ["c.txt"])
    # The session is that of the browser, also for its other pages.
    other = lab.page(context=page.context)
    lab.wait_for_names(other, ["Folder", "b.txt"])
    [cookie] = page.context.cookies()
    expect((cookie["httpOnly"], cookie["sameSite"], cookie["path"]), (True, "Lax", "/"))
    expect(page.evaluate("document.cookie"), "")


@test
def form_works_without_scripts(lab):
    start(lab)
    context = lab.context(java_script_enabled=False)
    page = lab.page("Folder/", context=context, wait=False)
    lab.sign_in(page, *USER)
    page.get_by_role("link", name="c.txt", exact=True).wait_for()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("heading", name="Account").wait_for()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="c.txt", exact=True).wait_for()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    expect(page.url, f"{lab.url}Folder/")
    expect(context.cookies(), [])


@test
def files_can_be_opened_after_signing_in(lab):
    start(lab)
    page = lab.page("b.txt", wait=False)
    lab.sign_in(page, *USER)
    page.get_by_text("text").wait_for()
    expect(page.url, f"{lab.url}b.txt")


@test
def sessions_are_listed_and_ended(lab):
    start(lab)
    page = signed_in(lab)
    other = signed_in(lab, context=lab.context(user_agent="Mozilla/5.0 (iPhone) Version/18.0 Safari/604.1"))
    third = signed_in(lab)
    page.locator("a.user").click()
    page.get_by_role("heading", name="Account").wait_for()
    expect(page.locator(".account-device").count(), 3)
    assert page.locator(".account-device").first.inner_text().endswith("this browser")
    page.get_by_role("button", name="Sign out: Safari on iPhone").click()
    page.get_by_text("Safari on iPhone").wait_for(state="detached")
    other.reload()
    other.get_by_role("heading", name="Sign in").wait_for()
    third.reload()
    lab.ready(third)
    page.get_by_role("button", name="Sign out all other browsers").click()
    page.get_by_role("button", name="Sign out all other browsers").wait_for(state="detached")
    third.reload()
    third.get_by_role("heading", name="Sign in").wait_for()
    page.get_by_role("link", name="Back").click()
    lab.ready(page)


@test
def signing_in_again_replaces_the_session(lab):
    """A cookie that someone else has set does not become that of the user, and the previous session ends."""
    start(lab)
    context = lab.context()
    name = f"davit-{lab.server.port}"
    context.add_cookies([{"name": name, "value": "a" * 48, "url": lab.url}])
    page = signed_in(lab, context=context)
    first = cookie_of(context)
    assert first != f"{name}={'a' * 48}", first
    origin = lab.url.rstrip("/")
    status, headers, _ = post(lab, {"do": "sign-in", "name": USER[0], "password": USER[1]}, first, Origin=origin)
    expect(status, 303)
    second = headers["Set-Cookie"].split(";")[0]
    assert second != first
    expect(lab.server.request("GET", "/b.txt", Cookie=first)[0], 401)
    expect(lab.server.request("GET", "/b.txt", Cookie=second)[0], 200)
    # A session ends on the server, not only in the browser.
    expect(post(lab, {"do": "sign-out"}, second, Origin=origin)[0], 303)
    expect(lab.server.request("GET", "/b.txt", Cookie=second)[0], 401)
    page.close()


@test
def pages_of_other_origins_cannot_use_a_session(lab):
    """The page of another server on the same host: its requests carry the cookie, because cookies ignore ports."""
    start(lab)
    page = signed_in(lab)
    expect(len(page.context.cookies()), 1)
    foreign = lab.work / "foreign"
    foreign.mkdir()
    other = lab.start(share=foreign, name="other")
    lab.allow("has been blocked by CORS policy")
    lab.allow("net::ERR_FAILED")
    lab.allow("Refused to send form data")
    lab.allow("violates the following Content Security Policy")
    # A page without a content security policy.
    blank = page.context.new_page()
    blank.route(f"{other.url}attack", lambda route: route.fulfill(status=200, content_type="text/html", body="<body></body>"))
    blank.goto(f"{other.url}attack")
    results = blank.evaluate("""async (url) => {
        const results = []
        for (const method of ["PUT", "DELETE", "MKCOL", "PROPPATCH", "MOVE", "COPY", "LOCK", "PROPFIND", "POST", "GET"]) {
            for (const mode of ["cors", "no-cors"]) {
                try {
                    const answer = await fetch(url + "b.txt", { method, mode, credentials: "include", body: ["GET"].includes(method) ? undefined : "x" })
                    results.push(`${method} ${mode} ${answer.status} ${await answer.text()}`)
                } catch { results.push(`${method} ${mode} refused`) }
            }
        }
        return results
    }""", lab.url)
    for result in results:
        assert result.endswith(" refused") or result.endswith("no-cors 0 "), result
    expect((lab.share / "b.txt").read_bytes(), b"text")
    expect(sorted(path.name for path in lab.share.iterdir()), ["Folder", "b.txt"])
    # A form that signs the user in to another account, and one that signs the user out.
    for fields in ({"do": "sign-in", "name": "anna", "password": "open:sesame"}, {"do": "sign-out"}):
        before = cookie_of(page.context)
        blank.goto(f"{other.url}attack")
        blank.evaluate("""([url, fields]) => {
            const form = document.createElement("form")
            form.method = "post"
            form.action = url + "?account"
            for (const [name, value] of Object.entries(fields)) {
                const input = document.createElement("input")
                Object.assign(input, { name, value })
                form.append(input)
            }
            document.body.append(form)
            form.submit()
        }""", [lab.url, fields])
        blank.get_by_text("Cross-origin requests are not allowed.").wait_for()
        expect(cookie_of(page.context), before)
    # A link works.
    blank.goto(f"{other.url}attack")
    blank.evaluate("url => { const link = document.createElement('a'); link.href = url; document.body.append(link); link.click() }", lab.url)
    lab.ready(blank)
    lab.wait_for_names(blank, ["Folder", "b.txt"])


@test
def cookies_authorize_only_requests_of_own_pages(lab):
    """Every method, also those for which a browser would ask first."""
    start(lab)
    page = signed_in(lab)
    cookie = cookie_of(page.context)
    own = {"Origin": lab.url.rstrip("/")}
    for method in ("PUT", "DELETE", "MKCOL", "PROPPATCH", "PROPFIND", "MOVE", "COPY", "LOCK", "UNLOCK", "PATCH", "POST", "REPORT", "SEARCH",
                   "OPTIONS", "GET", "HEAD"):
        reads = method in ("GET", "HEAD")
        for fields in ({"Origin": "http://127.0.0.1:1"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"},
                       {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, {}):
            found = lab.server.request(method, "/b.txt", b"x" if method == "PUT" else None, Cookie=cookie, **fields)[0]
            expect(found, 200 if reads and not fields else 403, f"{method} {fields}")
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        expect(lab.server.request(method, "/b.txt", Cookie=cookie, **link)[0], 200 if reads else 403, f"{method} {link}")
    expect((lab.share / "b.txt").read_bytes(), b"text")
    expect(lab.server.request("PUT", "/b.txt", b"new", Cookie=cookie, **own)[0], 204)


@test
def redirects_stay_on_the_server(lab):
    """A path that begins with two slashes is a host in a redirect."""
    start(lab)
    origin = lab.url.rstrip("/")
    for path in ("//elsewhere.example/", "//elsewhere.example/x", "/%5Celsewhere.example/", "/a:b"):
        status, headers, _ = lab.server.request(
            "POST", f"{path}?account", urllib.parse.urlencode({
                "do": "sign-in", "name": USER[0], "password": USER[1], "query": "a=b\r\nSet-Cookie: x=y"}),
            Content_Type="application/x-www-form-urlencoded", Origin=origin)
        expect(status, 303, path)
        target = urllib.parse.urlsplit(urllib.parse.urljoin(f"{origin}{path}", headers["Location"]))
        expect((target.scheme, target.netloc), urllib.parse.urlsplit(origin)[:2], path)
        assert headers["Location"].startswith("./") and "\r" not in headers["Location"]
        expect(len(headers.get_all("Set-Cookie")), 1)


@test
def other_clients_get_challenges(lab):
    """Only the navigation of a browser gets the form; what programs send, including one that accepts HTML, is challenged."""
    start(lab)
    rows = (
        ("GET", {}), ("GET", {"Accept": "text/html, text/*;q=0.9, */*;q=0.8"}), ("GET", {"Accept": "*/*", "Sec-Fetch-Mode": "navigate"}),
        ("OPTIONS", {}), ("PROPFIND", {"Depth": "1"}), ("PROPFIND", {"Accept": "text/html"}), ("HEAD", {}),
        ("GET", {"Accept": "text/html", "Upgrade-Insecure-Requests": "1", "Authorization": "Basic YTpi"}),
    )
    for method, fields in rows:
        status, headers, body = lab.server.request(method, "/", **fields)
        expect(status, 401)
        schemes = [value.split()[0] for value in headers.get_all("WWW-Authenticate")]
        expect(schemes, ["Digest", "Digest", "Basic"], f"{method} {fields}")
        assert b"<form" not in body
    for fields in ({"Sec-Fetch-Mode": "navigate"}, {"Upgrade-Insecure-Requests": "1"}):
        status, headers, body = lab.server.request("GET", "/b.txt", Accept="text/html,*/*;q=0.8", **fields)
        expect((status, headers["WWW-Authenticate"].split()[0], headers["Cache-Control"]), (401, "Cookie", "no-store"))
        assert b"<form" in body
    # A script of the page must not make the browser ask for the password.
    for fields in ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, {"Origin": lab.url.rstrip("/")}, {"Referer": lab.url}):
        expect(lab.server.request("GET", "/b.txt", **fields)[1]["WWW-Authenticate"].split()[0], "Cookie", fields)


@test
def wrong_passwords_are_delayed_with_the_same_message(lab):
    start(lab)
    page = lab.page(wait=False)
    said = []
    # A pause is at least as long as the number of attempts after the fifth, so a slow machine reaches it too.
    while not (said and said[-1].startswith("Too many attempts have failed.")):
        assert len(said) < 12, said
        with page.expect_response(lambda response: response.request.method == "POST"):
            lab.sign_in(page, ("anna", "nobody")[len(said) % 2], f"wrong {len(said)}")
        said.append(page.get_by_role("alert").inner_text())
    expect(set(said[:-1]), {"The name or the password is wrong."})
    assert len(said) > 5, said


@test
def sessions_in_the_database_survive_a_restart(lab):
    start_with_database(lab)
    server = lab.server
    page = lab.page(wait=False)
    lab.sign_in(page, "anna", "secret")
    lab.ready(page)
    server.kill()
    server.start()
    page.reload()
    lab.ready(page)
    lab.wait_for_names(page, ["b.txt"])
    # Another password ends the session.
    command(lab, "account", "password", str(lab.share), "anna", password="other\n")
    page.reload()
    page.get_by_role("heading", name="Sign in").wait_for()


@test
def pages_have_no_accessibility_violations(lab):
    start(lab)
    for name, size in SIZES.items():
        for dark in (False, True):
            context = lab.browser.new_context(viewport=size, color_scheme="dark" if dark else "light", locale="en-GB")
            lab.adopt(context)
            page = lab.page(context=context, wait=False)
            what = f"{name}-{'dark' if dark else 'light'}"
            page.get_by_role("heading", name="Sign in").wait_for()
            lab.axe(page, f"form, {what}")
            lab.screenshot(page, f"sign-in-{what}")
            lab.sign_in(page, "anna", f"wrong {what}")
            page.get_by_role("alert").wait_for()
            lab.axe(page, f"failure, {what}")
            lab.screenshot(page, f"sign-in-failed-{what}")
            lab.sign_in(page, *USER)
            lab.ready(page)
            page.goto(f"{lab.url}?account")
            lab.axe(page, f"account, {what}")
            lab.screenshot(page, f"account-{what}")
            for wide in ("form", "account"):
                expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"{wide}, {what}")


@test
def form_is_translated(lab):
    start(lab)
    for language, text in LANGUAGES.items():
        page = lab.page(f"?lang={language}", wait=False)
        page.get_by_role("heading", name=text, exact=True).wait_for()
        expect(page.evaluate("document.documentElement.lang"), language)
        page.locator("input[name=name]").fill("anna")
        page.locator("input[name=password]").fill(f"wrong {language}")
        page.locator("button").click()
        page.get_by_role("alert").wait_for()
        expect(page.evaluate("document.documentElement.lang"), language)
        page.context.close()


# The second factor


def code_of(secret, step=0):
    """The code of an authenticator app (RFC 6238), `step` periods from now."""
    key = base64.b32decode(secret.replace("-", ""))
    digest = hmac.digest(key, (int(time.time()) // 30 + step).to_bytes(8, "big"), "sha1")
    offset = digest[19] & 15
    return f"{(int.from_bytes(digest[offset:offset + 4], 'big') & 0x7fffffff) % 10**6:06}"


def start_with_database(lab):
    lab.allow(REFUSED)
    lab.write("b.txt", b"text")
    command(lab, "account", "add", str(lab.share), "anna", "--rights", "all", password="secret\n")
    lab.start()


def command(lab, *words, password=None):
    subprocess.run([lab.arguments.davit, *words, "--state-dir", str(lab.work / "state")], check=True, capture_output=True,
                   input=password, text=True)


def turn_on(lab, page):
    """Turns the second factor on. Returns the secret, the recovery codes, and the code that was used."""
    page.goto(f"{lab.url}?account")
    page.get_by_role("button", name="Turn on").click()
    secret = page.locator(".account-secret").inner_text()
    code = code_of(secret)
    page.get_by_role("textbox", name="Code").fill(code)
    page.locator("input[name=password]").fill("secret")
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    codes = page.locator(".account-codes code").all_inner_texts()
    expect(len(set(codes)), 10)
    return secret, codes, code


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@test
def second_factor_is_needed_once_it_is_on(lab):
    start_with_database(lab)
    page = lab.page(wait=False)
    lab.sign_in(page, "anna", "secret")
    lab.ready(page)
    other = lab.page(wait=False)
    lab.sign_in(other, "anna", "secret")
    lab.ready(other)
    expect(lab.server.request("GET", "/b.txt", Authorization=basic("anna", "secret"))[0], 200)

    # A wrong code turns nothing on, and keeps the secret.
    page.goto(f"{lab.url}?account")
    page.get_by_role("button", name="Turn on").click()
    secret = page.locator(".account-secret").inner_text()
    page.get_by_role("textbox", name="Code").fill("000000" if code_of(secret) != "000000" else "000001")
    page.locator("input[name=password]").fill("secret")
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("alert").wait_for()
    expect(page.locator(".account-secret").inner_text(), secret)
    secret, codes, used = turn_on(lab, page)

    # This session continues, and others end; programs cannot use the password.
    page.get_by_role("link", name="Account").click()
    page.get_by_text("10 recovery codes left").wait_for()
    other.reload()
    other.get_by_role("heading", name="Sign in").wait_for()
    expect(lab.server.request("GET", "/b.txt", Authorization=basic("anna", "secret"))[0], 401)

    # The code that turned it on was used.
    lab.sign_in(other, "anna", "secret")
    other.get_by_role("textbox", name="Code").fill(used)
    other.get_by_role("button", name="Sign in").click()
    other.get_by_role("alert").get_by_text("The code is wrong or was used before.").wait_for()
    following = code_of(secret, 1)
    other.get_by_role("textbox", name="Code").fill(following)
    other.get_by_role("button", name="Sign in").click()
    lab.ready(other)
    lab.wait_for_names(other, ["b.txt"])
    # Also after a restart.
    lab.server.kill()
    lab.server.start()
    third = lab.page(wait=False)
    lab.sign_in(third, "anna", "secret")
    third.get_by_role("textbox", name="Code").fill(following)
    third.get_by_role("button", name="Sign in").click()
    third.get_by_role("alert").wait_for()
    # A recovery code works once.
    third.get_by_role("textbox", name="Code").fill(codes[0].lower())
    third.get_by_role("button", name="Sign in").click()
    lab.ready(third)
    third.goto(f"{lab.url}?account")
    third.get_by_text("9 recovery codes left").wait_for()

    def confirm(name, code):
        third.locator("summary", has_text=name).click()
        form = third.locator("details[open]")
        form.get_by_role("textbox", name="Code").fill(code)
        form.get_by_role("button", name=name).click()
    confirm("Turn off", codes[0])
    third.get_by_role("alert").get_by_text("The code is wrong or was used before.").wait_for()
    confirm("Create new recovery codes", codes[1])
    third.get_by_role("heading", name="Recovery codes").wait_for()
    renewed = third.locator(".account-codes code").all_inner_texts()
    assert not set(renewed) & set(codes)
    third.get_by_role("link", name="Account").click()
    confirm("Turn off", codes[2])
    third.get_by_role("alert").wait_for()
    confirm("Turn off", renewed[0])
    third.get_by_role("button", name="Turn on").wait_for()
    expect(lab.server.request("GET", "/b.txt", Authorization=basic("anna", "secret"))[0], 200)


@test
def administrators_turn_a_second_factor_off(lab):
    start_with_database(lab)
    page = lab.page(wait=False)
    lab.sign_in(page, "anna", "secret")
    lab.ready(page)
    turn_on(lab, page)
    command(lab, "account", "second-factor", str(lab.share), "anna", "off")
    page.goto(lab.url)
    lab.sign_in(page, "anna", "secret")
    lab.ready(page)


@test
def pages_of_the_second_factor_have_no_accessibility_violations(lab):
    start_with_database(lab)
    page = lab.page(wait=False)
    lab.sign_in(page, "anna", "secret")
    lab.ready(page)
    for number, (name, size) in enumerate(SIZES.items()):
        for dark in (False, True):
            page.emulate_media(color_scheme="dark" if dark else "light")
            page.set_viewport_size(size)
            what = f"{name}-{'dark' if dark else 'light'}"

            def check(view):
                lab.axe(page, f"{view}, {what}")
                lab.screenshot(page, f"{view}-{what}")
                expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, f"{view}, {what}")
            page.goto(f"{lab.url}?account")
            check("factor-off")
            page.get_by_role("button", name="Turn on").click()
            check("factor-setup")
            _, codes, _ = turn_on(lab, page)
            check("factor-codes")
            page.get_by_role("link", name="Account").click()
            page.locator("summary").first.click()
            check("factor-on")
            form = page.context.browser.new_context(viewport=size, color_scheme="dark" if dark else "light", locale="en-GB")
            lab.adopt(form)
            asked = lab.page(context=form, wait=False)
            lab.sign_in(asked, "anna", "secret")
            asked.get_by_role("textbox", name="Code").wait_for()
            lab.axe(asked, f"code, {what}")
            lab.screenshot(asked, f"factor-code-{what}")
            command(lab, "account", "second-factor", str(lab.share), "anna", "off")
            page.goto(lab.url)
            lab.sign_in(page, "anna", "secret")
            lab.ready(page)


# Sessions that end while the page is open


def sign_out_elsewhere(lab, context):
    """Ends the session of a browser on the server, as the account page of another one does."""
    status, _, _ = post(lab, {"do": "sign-out"}, cookie_of(context), Origin=lab.url.rstrip("/"))
    expect(status, 303)


def sign_in_again(page):
    renew = page.get_by_role("dialog", name="Sign in again")
    renew.locator("input[type=password]").fill(USER[1])
    renew.get_by_role("button", name="Sign in").click()
    renew.wait_for(state="detached")


@test
def ended_sessions_are_renewed_without_leaving_the_page(lab):
    """The session ends while the editor saves; what was typed is saved after signing in again."""
    start(lab)
    page = signed_in(lab)
    lab.row(page, "b.txt").locator(".name-link").click()
    page.get_by_role("button", name="Edit").click()
    page.locator("textarea").fill("typed")
    release = lab.held(page, "**/b.txt")
    page.get_by_role("button", name="Save").click()
    sign_out_elsewhere(lab, page.context)
    release()
    renew = page.get_by_role("dialog", name="Sign in again")
    renew.wait_for()
    lab.axe(page, "dialog")
    lab.screenshot(page, "sign-in-again")
    renew.locator("input[type=password]").fill("wrong")
    renew.get_by_role("button", name="Sign in").click()
    renew.get_by_text("The password is wrong.").wait_for()
    page.unroute("**/b.txt")
    sign_in_again(page)
    lab.wait_until(page, lambda: (lab.share / "b.txt").read_bytes() == b"typed")


@test
def uploads_continue_after_signing_in_again(lab):
    """The session ends before the chosen files are sent."""
    start(lab)
    context = lab.context()
    context.add_init_script(NO_PICKERS)
    page = signed_in(lab, context=context)
    mine = lab.work / "mine.bin"
    mine.write_bytes(b"x" * 1000)
    sign_out_elsewhere(lab, context)
    choose(page, mine)
    sign_in_again(page)
    lab.wait_until(page, lambda: (lab.share / "mine.bin").exists() and (lab.share / "mine.bin").stat().st_size == 1000)


@test
def ends_of_sessions_are_noticed_without_an_action(lab):
    """Through the event stream. A user who cancels is not asked again immediately."""
    start(lab)
    page = signed_in(lab)
    if not page.evaluate("JSON.parse(document.getElementById('davit').textContent).features.includes('events')"):
        raise Skipped("this server has no event streams")
    page.locator("html[data-live=true]").wait_for(state="attached")
    sign_out_elsewhere(lab, page.context)
    renew = page.get_by_role("dialog", name="Sign in again")
    renew.get_by_role("button", name="Cancel").click()
    renew.wait_for(state="detached")
    page.get_by_role("button", name="Refresh").click()
    page.get_by_text("You are not signed in.").first.wait_for()
    expect(renew.count(), 0)
    # In one step, because the page also refreshes by itself, and its question would then cover the button.
    page.get_by_role("button", name="Refresh").evaluate("button => { performance.now = () => 1e9; button.click() }")
    sign_in_again(page)
    lab.write("new.txt", b"")
    lab.row(page, "new.txt").wait_for()


@test
def password_is_chosen_with_a_link(lab):
    lab.allow(REFUSED)
    output = accounts.command(lab, "account", "add", "carla", "--rights", "all", "--link")
    path = re.search(r"^  /(\?account&name=carla&link=\S+)$", output, re.M).group(1)
    lab.write("a.txt", "text")
    lab.start()
    for phone in (True, False):
        for dark in (False, True):
            page = lab.page(path, phone=phone, dark=dark, wait=False)
            expect(page.get_by_role("heading", name="Choose a password").is_visible(), True)
            lab.screenshot(page, f"choose-{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}")
    page.get_by_label("Password", exact=True).fill("a good password")
    page.get_by_label("Password again").fill("another password")
    page.get_by_role("button", name="Save and sign in").click()
    page.get_by_text("The two passwords are different.").wait_for()
    page.get_by_label("Password", exact=True).fill("a good password")
    page.get_by_label("Password again").fill("a good password")
    page.get_by_role("button", name="Save and sign in").click()
    lab.ready(page)
    page.get_by_text("a.txt").first.wait_for()
    expect("link=" in page.url, False)
    # The link has ended.
    other = lab.page(path, wait=False)
    other.get_by_text("This link is not valid any more.").wait_for()
    lab.screenshot(other, "choose-ended")


@test
def visitors_of_a_public_folder_are_not_asked_until_they_sign_in(lab):
    lab.allow(REFUSED)
    lab.write("open/a.txt", b"text")
    lab.write("private/b.txt", b"text")
    accounts.prepare(lab, [("anonymous", "/open", "add")])
    page = lab.page(wait=False)
    page.get_by_role("heading", name="Sign in").wait_for()
    # The breadcrumbs look up the rights to the root, which the visitor may not see.
    with page.expect_response(lambda response: response.request.method == "PROPFIND" and response.url == lab.url) as refused:
        page.goto(f"{lab.url}open/")
    expect(refused.value.status, 401)
    lab.wait_for_names(page, ["a.txt"])
    expect(page.locator("dialog").count(), 0)
    page.get_by_role("link", name="Sign in").click()
    lab.sign_in(page, "anna", accounts.PASSWORD)
    lab.ready(page)
    expect(page.url, f"{lab.url}open/")
    lab.wait_for_names(page, ["a.txt"])
    # Without scripts too.
    page = lab.page("open/", context=lab.context(java_script_enabled=False), wait=False)
    page.get_by_role("link", name="Sign in").click()
    lab.sign_in(page, "anna", accounts.PASSWORD)
    page.get_by_role("link", name="a.txt", exact=True).wait_for()
    expect(page.url, f"{lab.url}open/")


@test
def form_for_a_new_password_has_no_accessibility_violations(lab):
    output = accounts.command(lab, "account", "add", "carla", "--link")
    path = re.search(r"^  /(\?account&name=carla&link=\S+)$", output, re.M).group(1)
    lab.start()
    for dark in (False, True):
        page = lab.page(path, lab.context(dark=dark, bypass_csp=True), wait=False)
        lab.axe(page, f"the form, {'dark' if dark else 'light'}")
