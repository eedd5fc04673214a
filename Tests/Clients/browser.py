"""Chromium, driven by Playwright.

    browser.py URL untrusted             a server with an unknown certificate authority
    browser.py URL routes ORIGIN SHARE   ClientServer, with requests from pages of ORIGIN
    browser.py URL folder SHARE          davit serve, for anna with the password open:sesame
"""

import os
import sys

from playwright.sync_api import Error, sync_playwright

base, what, rest = sys.argv[1], sys.argv[2], sys.argv[3:]


def expect(found, wanted):
    assert found == wanted, f"{found!r:.500} instead of {wanted!r:.500}"


def stored(share, name):
    with open(os.path.join(share, name), "rb") as file:
        return file.read()


def untrusted(browser):
    try:
        browser.new_page().goto(f"{base}/")
    except Error as problem:
        assert "ERR_CERT_AUTHORITY_INVALID" in problem.message, problem.message
        return
    raise AssertionError("a certificate of an unknown authority was trusted")


def routes(browser):
    origin, share = rest
    page = browser.new_page()
    for step in (forms, events, fetches):
        page.goto(f"{base}/")
        step(page, share)
    guests(page, origin, share)
    listing(page, share, f"{base}/files/")


def forms(page, _share):
    page.fill("#plain input", "1 & 2, <b>ü</b>")
    with page.expect_navigation():
        page.click("#plain button")
    expect((page.url, page.inner_text("body")), (f"{base}/form", "text=1 & 2, <b>ü</b>"))
    page.goto(f"{base}/")
    page.fill("#files input[name=text]", "日本語")
    page.set_input_files("#files input[type=file]", [
        {"name": 'naïve "name".bin', "mimeType": "application/octet-stream", "buffer": os.urandom(2_000_000)},
        {"name": "empty", "mimeType": "text/plain", "buffer": b""},
    ])
    with page.expect_navigation():
        page.click("#files button")
    expect(page.inner_text("body").splitlines(), [
        "text=日本語", 'file: naïve "name".bin, 2000000 bytes', "file: empty, 0 bytes"])


def events(page, _share):
    """The server closes the stream after three events; the browser reconnects with the last event ID."""
    found = page.evaluate("""() => new Promise(resolve => {
        const found = [], source = new EventSource("/events")
        source.onmessage = event => {
            found.push([event.lastEventId, event.data])
            if (found.length == 7) { source.close(); resolve(found) }
        }
    })""")
    expect(found, [[str(number + 1), f"event {number}\nöf two lines"] for number in range(7)])


def fetches(page, share):
    found = page.evaluate("""async () => {
        const ask = async (path, options) => {
            const answer = await fetch(path, options)
            return [answer.status, await answer.text()]
        }
        const rows = await fetch("/rows?count=20000")
        return {
            coding: rows.headers.get("Content-Encoding"), rows: (await rows.text()).length,
            put: await ask("/files/from%20a%20browser", { method: "PUT", body: "Chromium" }),
            part: await ask("/files/from%20a%20browser", { headers: { Range: "bytes=0-3" } }),
            changed: await ask("/files/hello.txt", { method: "PUT", body: "x", headers: { "If-Match": '"x"' } }),
            made: await ask("/files/made", { method: "MKCOL" }),
            found: (await ask("/files/", { method: "PROPFIND", headers: { Depth: "1" } }))[0],
            redirected: await ask("/307", { method: "POST", body: "kept" }),
            gone: await ask("/files/made", { method: "DELETE" }),
        }
    }""")
    expect((found["coding"], found["rows"]), ("gzip", sum(len(f"row {row}\n") for row in range(20000))))
    expect(found["put"][0], 201)
    expect(stored(share, "from a browser"), b"Chromium")
    expect((found["part"], found["changed"][0]), ([206, "Chro"], 412))
    expect((found["made"][0], found["found"], found["gone"][0]), (201, 207, 204))
    expect(found["redirected"], [200, "kept"])


FROM_ELSEWHERE = """async ([base, name]) => {
    try {
        const put = await fetch(`${base}/files/${name}`, { method: "PUT", body: "guest", credentials: "include" })
        const get = await fetch(`${base}/files/${name}`)
        return [put.status, await get.text(), get.headers.get("ETag") != null]
    } catch (problem) {
        return problem.name
    }
}"""


def guests(page, origin, share):
    """Pages of other origins send preflight requests (Fetch §4.8); the configured origin is allowed, and others are not."""
    page.goto(f"{origin}/")
    expect(page.evaluate(FROM_ELSEWHERE, [base, "guest"]), [201, "guest", True])
    expect(stored(share, "guest"), b"guest")
    page.goto(f"{origin.replace('127.0.0.1', 'localhost')}/")
    expect(page.evaluate(FROM_ELSEWHERE, [base, "stranger"]), "TypeError")
    assert not os.path.exists(os.path.join(share, "stranger")), "another origin was able to write"


def listing(page, share, url, plain=None):
    """The page of a folder lists all members and has working links without scripts; with scripts it causes no
    errors. `plain` is a page without scripts."""
    problems = []
    plain = plain or page.context.browser.new_context(java_script_enabled=False).new_page()
    names(plain, share, url)
    plain.context.close()
    page.on("pageerror", lambda problem: problems.append(str(problem)))

    def note(message):
        # Browsers request an icon automatically.
        if message.type == "error" and not message.location["url"].endswith("/favicon.ico"):
            problems.append(f"{message.text}: {message.location['url']}")

    page.on("console", note)
    expect(page.goto(url).status, 200)
    page.wait_for_selector("html[data-ready=true]")
    page.wait_for_selector("[role=row] a[href$='tree/']")
    expect(problems, [])


def names(page, share, url):
    expect(page.goto(url).status, 200)
    links = set(page.eval_on_selector_all("a[href]", "links => links.map(link => decodeURIComponent(link.pathname))"))
    prefix = page.evaluate("location.pathname")
    for name in os.listdir(share):
        path = prefix + name + ("/" if os.path.isdir(os.path.join(share, name)) else "")
        assert path in links, f"{path} is not on the page"
    with page.expect_navigation():
        page.click("a[href$='tree/']")
    with page.expect_navigation():
        page.click("a[href$='odd%20names/']")
    for name in os.listdir(os.path.join(share, "tree", "odd names")):
        # Invisible characters are shown.
        shown = name.replace("\u200b", "\ufffd")
        assert page.get_by_text(shown, exact=True).count() >= 1, f"{name} is not on the page"
    page.goto(url)
    with page.expect_navigation():
        page.click("a[href$='hello.txt']")
    expect(page.inner_text("body"), "hello")


def folder(browser):
    """Signs in with the form, or with Digest, for which there is none, as if the credentials were entered in the browser's
    dialog."""
    def opened(password, **options):
        credentials = {"username": "anna", "password": password} if password else None
        page = browser.new_context(http_credentials=credentials, **options).new_page()
        response = page.goto(f"{base}/")
        if password and page.locator("input[name=password]").count():
            page.fill("input[name=name]", "anna")
            page.fill("input[name=password]", password)
            with page.expect_navigation() as navigation:
                page.press("input[name=password]", "Enter")
            response = navigation.value
        return page, response.status

    def is_refused(password):
        try:
            return opened(password)[1] == 401
        except Error as problem:
            # The login dialog was not answered, or answered with the same wrong credentials again.
            return "ERR_INVALID_AUTH_CREDENTIALS" in problem.message

    assert is_refused(None), "no password was requested"
    assert is_refused("wrong"), "a wrong password was accepted"
    plain, status = opened("open:sesame", java_script_enabled=False)
    expect(status, 200)
    listing(opened("open:sesame")[0], rest[0], f"{base}/", plain)


with sync_playwright() as playwright:
    # Chromium running as root has no sandbox; only pages of this server are opened.
    browser = playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])
    try:
        {"untrusted": untrusted, "routes": routes, "folder": folder}[what](browser)
    finally:
        browser.close()
