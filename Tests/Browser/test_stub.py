"""The control page of davit stub: requests as they arrive, rules, faults and states."""

import json

from harness import StubServer, expect, test

RULE = {"name": "hello", "methods": ["GET"], "path": "/hello", "replies": [{"json": {"hello": "world"}}]}


def start(lab, *rules):
    """Starts a stub server with rules."""
    server = lab.start("--seed", "42", share=lab.work / "rules.sqlite", kind=StubServer)
    for rule in rules:
        status, _, content = server.request("POST", "/.davit/api/rules", json.dumps(rule))
        expect(status, 201, content)
    return server


def view(lab, name="requests", **options):
    page = lab.page(f".davit/#{name}", context=lab.context(**options), wait=False)
    page.locator("[role=tabpanel]:visible").wait_for()
    # The page has read everything when the seed is shown.
    page.locator("#state .note", has_text="Seed: 42").wait_for(state="attached")
    return page


def entry(page, text):
    return page.locator(".entry:visible", has_text=text)


@test
def requests_appear_as_they_arrive(lab):
    server = start(lab, RULE, {"name": "register", "path": "/register", "replies": [{"status": 201}],
                               "checks": [{"json": "$.email", "format": "email"}]})
    page = view(lab)
    expect(page.locator("#requests .empty").is_visible(), True)
    lab.axe(page, "the empty list")
    server.request("GET", "/hello?x=<b>1</b>")
    entry(page, "hello").wait_for()
    server.request("PUT", "/hello", "text")
    server.request("POST", "/register", '{"email": "x"}', Content_Type="application/json")
    entry(page, "1 failed").click()
    detail = page.locator("#requests article")
    detail.get_by_text("is not an e-mail address (x)").wait_for()
    expect(detail.locator("pre").first.text_content(), '{\n  "email": "x"\n}')
    entry(page, "no rule matched").click()
    detail.get_by_text("the method is not GET").wait_for()
    lab.axe(page, "the details of a request")
    lab.screenshot(page, "stub-requests")

    # Recorded text is never interpreted as markup.
    entry(page, "/hello?x=").click()
    detail.locator("h2", has_text="<b>").or_(detail.locator("h2", has_text="%3Cb")).wait_for()
    expect(detail.locator("b").count(), 0)

    page.get_by_label("Filter requests").fill("register")
    lab.until(page, "() => document.querySelectorAll('#requests .entry').length === 1")

    # What was missed without a connection is listed after it.
    port = server.port
    server.stop()
    lab.allow("ERR_CONNECTION_REFUSED")
    lab.allow("ERR_INCOMPLETE_CHUNKED_ENCODING")
    lab.until(page, "() => document.getElementById('connection').textContent !== ''")
    server.start()
    expect(server.port, port)
    lab.until(page, "() => document.getElementById('connection').textContent === ''")


@test
def images_and_binary_content_are_shown(lab):
    server = start(lab)
    page = view(lab)
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63606060f80f00010401"
                        "005fe5c34b0000000049454e44ae426082")
    server.request("PUT", "/picture", png, Content_Type="image/png")
    server.request("PUT", "/binary", b"\x00\xffab", Content_Type="application/octet-stream")
    entry(page, "/binary").click()
    expect(page.locator("#requests pre").first.text_content().startswith("0000  00 ff 61 62"), True)
    entry(page, "/picture").click()
    lab.until(page, "() => document.querySelector('#requests img')?.naturalWidth === 1")


@test
def rules_are_made_and_edited(lab):
    server = start(lab, RULE)
    page = view(lab, "rules")
    lab.axe(page, "the list of rules")
    page.get_by_role("button", name="New rule").click()
    page.get_by_label("Name").fill("bye")
    page.get_by_label("Path").fill("bye")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("alert").get_by_text("path: a path begins with a slash").wait_for()
    lab.axe(page, "a refused rule")
    lab.allow("422")
    page.get_by_label("Path").fill("/bye")
    page.get_by_label("Text of the reply").fill("Bye!")
    page.get_by_label("Status").fill("203")
    page.get_by_role("button", name="Save").click()
    entry(page, "bye").wait_for()
    status, _, content = server.request("GET", "/bye")
    expect((status, content), (203, b"Bye!"))

    # A change of the JSON changes the fields.
    area = page.get_by_label("The complete rule as JSON")
    area.fill(area.input_value().replace("203", "202"))
    expect(page.get_by_label("Status").input_value(), "202")
    page.get_by_role("button", name="Save").click()
    lab.wait_until(page, lambda: server.request("GET", "/bye")[0] == 202)
    page.get_by_label("Enabled").uncheck()
    page.get_by_role("button", name="Save").click()
    lab.wait_until(page, lambda: server.request("GET", "/bye")[0] == 404)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Really delete?").click()
    lab.until(page, "() => document.querySelectorAll('#rules .entry').length === 1")

    # A rule made from a request answers the next one.
    server.request("POST", "/new?a=b")
    page.get_by_role("tab", name="Requests").click()
    entry(page, "/new").click()
    page.get_by_role("button", name="Make a rule from this").click()
    page.get_by_label("Text of the reply").fill("made")
    page.get_by_role("button", name="Save").click()
    lab.wait_until(page, lambda: server.request("POST", "/new?a=b")[2] == b"made")
    expect(server.request("POST", "/new")[0], 404)
    lab.screenshot(page, "stub-rules")


@test
def faults_and_states_are_changed(lab):
    server = start(lab, {"name": "cart", "path": "/cart", "scenario": {"name": "cart"}, "replies": [
        {"text": "empty", "state": "start"}, {"text": "full", "state": "full"}]},
        {"name": "login", "path": "/login", "session": "start", "replies": [{}]})
    page = view(lab, "state")
    lab.axe(page, "state and faults")
    faults = page.get_by_label("Fault rules, one per line")
    faults.fill("GET /cart status=503")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied.").wait_for()
    expect(server.request("GET", "/cart")[0], 503)
    faults.fill("\nGET cart x")
    page.get_by_role("button", name="Apply").click()
    lab.allow("422")
    page.get_by_text("line 2: ").wait_for()
    page.get_by_role("button", name="None").click()
    lab.wait_until(page, lambda: server.request("GET", "/cart")[2] == b"empty")
    page.get_by_label("State of cart").fill("full")
    page.get_by_role("button", name="Set", exact=True).click()
    lab.wait_until(page, lambda: server.request("GET", "/cart")[2] == b"full")
    server.request("POST", "/login")
    page.get_by_role("button", name="End the session of login").click()
    page.get_by_text("No sessions.").wait_for()
    lab.screenshot(page, "stub-state")

    page.get_by_role("button", name="Reset…").click()
    lab.axe(page, "the dialog")
    page.locator("dialog").get_by_role("button", name="Reset", exact=True).click()
    page.locator("dialog").wait_for(state="detached")
    expect(server.request("GET", "/cart")[2], b"empty")
    expect(json.loads(server.request("GET", "/.davit/api/rules")[2])["rules"].__len__(), 2)


@test
def page_fits_a_phone(lab):
    server = start(lab, RULE, {"name": "long " + "x" * 90, "path": "/" + "long/" * 60, "replies": [{"text": "y" * 500}]})
    server.request("GET", "/" + "long/" * 60, X_Long="z" * 600)
    for dark in (False, True):
        page = view(lab, phone=True, dark=dark)
        entry(page, "/long").click()
        page.locator("#requests article").wait_for()
        for name in ("Requests", "Rules", "State and faults"):
            page.get_by_role("tab", name=name).click()
            if name == "Rules":
                entry(page, "hello").click()
            width = page.evaluate("document.documentElement.scrollWidth")
            expect(width <= 390, True, f"{name}: {width} pixels wide")
            lab.axe(page, f"{name} on a phone")
            lab.screenshot(page, f"stub-phone-{name.split()[0].lower()}-{'dark' if dark else 'light'}")


@test
def tabs_work_with_the_keyboard(lab):
    start(lab, RULE)
    page = view(lab)
    page.get_by_role("tab", name="Requests").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#rules").is_visible(), True)
    expect(page.evaluate("document.activeElement.id"), "tab-rules")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#state").is_visible(), True)
