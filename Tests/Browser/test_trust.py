"""The page over plain HTTP on which people learn how to trust the server's own authority."""

import plistlib
import re
import ssl
import urllib.request

from harness import expect, test


def start(lab):
    """Starts a server with its own authority, and returns the address of the page that it prints."""
    lab.start("--tls-self-signed")
    return re.search(r"open (http://\S+/\.davit-trust)\n", (lab.work / "server.log").read_text()).group(1)


def fetch(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


@test
def page_shows_the_fingerprint_and_the_steps(lab):
    address = start(lab)
    shown = re.search(r"SHA-256 (\S+)", (lab.work / "server.log").read_text()).group(1)
    for phone in (True, False):
        for dark in (False, True):
            page = lab.context(phone=phone, dark=dark, java_script_enabled=True).new_page()
            page.goto(address)
            expect(page.locator("#fingerprint").text_content(), shown)
            expect(page.get_by_text("Certificate Trust Settings").is_visible(), True)
            width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            expect(width[0], width[1], "the width of the page")
            lab.screenshot(page, f"trust-{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}")


@test
def page_works_without_scripts(lab):
    address = start(lab)
    page = lab.context(java_script_enabled=False, saves_data=False).new_page()
    page.goto(address)
    for system in ("Mac", "Android", "Windows", "Linux"):
        page.locator("summary", has_text=re.compile(f"^{system}$")).click()
    expect(page.get_by_role("link", name="Download the certificate").count(), 3)
    with page.expect_download() as started:
        page.get_by_role("link", name="Download the certificate").first.click()
    expect(started.value.suggested_filename, "davit.crt")
    authority = (lab.work / "state/tls/authority.pem").read_text()
    expect(started.value.path().read_bytes(), ssl.PEM_cert_to_DER_cert(authority))
    profile = plistlib.loads(fetch(f"{address}/davit.mobileconfig"))
    expect(profile["PayloadContent"][0]["PayloadContent"], ssl.PEM_cert_to_DER_cert(authority))
    # The server refuses a client that does not trust it yet only after the redirect to TLS.
    expect(page.get_by_role("link", name="Open the server").get_attribute("href"), "/")
    content = page.content()
    expect("PRIVATE" in content, False)


@test
def page_has_no_accessibility_violations(lab):
    address = start(lab)
    for dark in (False, True):
        # axe is added as a script, which the page's content security policy forbids.
        page = lab.context(dark=dark, bypass_csp=True).new_page()
        page.goto(address)
        lab.axe(page, f"the page, {'dark' if dark else 'light'}")


@test
def connect_dialog_shows_how_other_devices_trust_the_server(lab):
    start(lab)
    address = f"http://127.0.0.1:{lab.server.port}/.davit-trust"
    shown = re.search(r"SHA-256 (\S+)", (lab.work / "server.log").read_text()).group(1)
    for phone in (True, False):
        for dark in (False, True):
            page = lab.page(phone=phone, dark=dark, ignore_https_errors=True)
            page.get_by_role("button", name="Connect").click()
            dialog = page.get_by_role("dialog")
            expect(dialog.locator(".connect-fingerprint").text_content(), shown)
            expect(dialog.get_by_text(address, exact=True).is_visible(), True)
            lab.screenshot(page, f"trust-connect-{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}")
    code = page.evaluate("fetch('/.davit-trust/qr.svg').then(async (answer) => [answer.headers.get('Content-Type'), await answer.text()])")
    expect(code[0], "image/svg+xml")
    expect("<svg" in code[1], True)


@test
def connect_dialog_of_other_servers_does_not_mention_trust(lab):
    page = lab.page()
    page.get_by_role("button", name="Connect").click()
    page.get_by_role("dialog").wait_for()
    expect(page.locator(".connect-fingerprint").count(), 0)
