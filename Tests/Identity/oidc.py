"""Signing in with OpenID Connect: davit, a browser's requests, and two providers.

One provider is that of the tests, over TLS, which can misbehave. The other one is the package oidc-provider-mock
of PyPI, which is based on Authlib.
"""

import logging
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import urllib.parse

import oidc_provider_mock
import requests
from provider import Key, Provider

try:
    import playwright.sync_api
except ImportError:
    playwright = None

DAVIT = os.environ["DAVIT"]
SECRET = "s:e/c+r et"
NAVIGATION = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
RETURN = "/.davit-browserpagefiles/sign-in"
tests = []


def test(function):
    tests.append(function)
    return function


def expect(found, expected):
    assert found == expected, f"found {found!r}, expected {expected!r}"


def field(url, name):
    """Returns the value of a field of the query of a URL."""
    [value] = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)[name]
    return value


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Davit:
    """A davit process with a database of accounts. Its log is in `lines`."""

    def __init__(self, folder):
        self.share, self.state = folder / "share", folder / "state"
        for path in ("team", "private"):
            (self.share / path).mkdir(parents=True)
            (self.share / path / "a.txt").write_text("text")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.command("account", "add", self.share, "local", input="right password\n")
        self.command("account", "add", self.share, "gone", input="right password\n")
        self.command("account", "disable", self.share, "gone")
        self.command("group", "add", self.share, "editors")
        self.command("access", "set", self.share, "group:editors", "/team", "edit")
        self.command("access", "set", self.share, "user:local", "/", "all")
        self.lines, self.changed = [], threading.Condition()

    def start(self, *options):
        self.process = subprocess.Popen(
            [DAVIT, "serve", self.share, "--state-dir", self.state, "--host", "127.0.0.1", "--port", str(self.port),
             "--public-url", self.url, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        if not any(self.url in line for line in iter(self.process.stdout.readline, "")):
            self.stop()
            raise AssertionError("davit did not start: " + "".join(self.lines))
        return self

    def command(self, *arguments, **options):
        subprocess.run([DAVIT, *arguments, "--state-dir", self.state], check=True, text=True, capture_output=True, **options)

    def read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def wait_for_log(self, text):
        """Waits until the log contains a text, and returns the number of lines with it."""
        with self.changed:
            assert self.changed.wait_for(lambda: any(text in line for line in self.lines), 60), "".join(self.lines)
            return sum(text in line for line in self.lines)

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


class Browser:
    """The requests of a browser."""

    def __init__(self, lab):
        self.lab = lab
        self.session = requests.Session()
        self.session.verify = str(lab.provider.certificate)
        # The browser and the provider are on this machine.
        self.session.trust_env = False

    def get(self, url, site="none", follows=False, **fields):
        url = urllib.parse.urljoin(self.lab.davit.url + "/", url)
        return self.session.get(url, headers={**NAVIGATION, "Sec-Fetch-Site": site, **fields}, allow_redirects=follows)

    def begin(self, path="/"):
        """Opens a page, follows the link of the sign-in page, and returns the redirect to the provider."""
        self.session.cookies.pop(f"davit-{self.lab.davit.port}", None)
        page = self.get(path)
        expect(page.status_code, 401)
        [link] = re.findall(r'class="simple-provider" href="([^"]+)"', page.text)
        answer = self.get(urllib.parse.urljoin(page.url, link.replace("&amp;", "&")), "same-origin")
        expect(answer.status_code, 303)
        return answer

    def return_url(self, start):
        """Signs in at the provider, and returns the URL to which the browser is sent."""
        answer = self.session.get(start.headers["Location"], allow_redirects=False)
        expect(answer.status_code, 302)
        return answer.headers["Location"]

    def sign_in(self, path="/"):
        """Returns the response of davit to the answer of the provider."""
        return self.get(self.return_url(self.begin(path)), "cross-site")

    def status(self, path, method="GET", **options):
        headers = {"Sec-Fetch-Site": "same-origin"}
        return self.session.request(method, self.lab.davit.url + path, headers=headers, **options).status_code


class Lab:
    """davit and the provider of the tests."""

    def __init__(self, folder, *options):
        (folder / "secret").write_text(SECRET + "\n")
        (folder / "secret").chmod(0o600)
        self.provider = Provider(folder, "davit", SECRET)
        try:
            self.davit = Davit(folder).start(
                "--oidc-issuer", self.provider.issuer, "--oidc-client-id", "davit", "--oidc-client-secret-file",
                folder / "secret", "--oidc-ca", self.provider.certificate, "--oidc-name", "Example & Co", *options)
        except BaseException:
            self.provider.stop()
            raise

    def stop(self):
        self.davit.stop()
        self.provider.stop()


def alert(answer):
    return re.search(r'role="alert"[^>]*>\s*<p>([^<]*)', answer.text).group(1)


def refused(lab, status, text, browser=None):
    """Signs in, and expects a failure: a status, the sign-in page with a text, and no session."""
    browser = browser or Browser(lab)
    answer = browser.sign_in("/team/")
    expect(answer.status_code, status)
    assert text in alert(answer), alert(answer)
    assert "simple-provider" in answer.text
    expect(browser.status("/team/"), 401)
    return answer


@test
def users_sign_in_and_groups_give_rights(lab):
    browser = Browser(lab)
    page = browser.get("/team/?lang=de")
    assert "Mit Example &amp; Co anmelden" in page.text and 'type="password"' in page.text
    answer = browser.sign_in("/team/?lang=de&x=%2F%26y")
    expect((answer.status_code, answer.headers["Location"]), (303, "../team/?lang=de&x=%2F%26y"))
    assert answer.headers["Cache-Control"] == "no-store"
    # The cookie of the sign-in is removed, and that of the session is set.
    cookies = {cookie.name: cookie for cookie in browser.session.cookies}
    expect(list(cookies), [f"davit-{lab.davit.port}"])
    [cookie] = cookies.values()
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "Lax"
    page = browser.get(urllib.parse.urljoin(answer.url, answer.headers["Location"]))
    expect((page.status_code, page.url), (200, f"{lab.davit.url}/team/?lang=de&x=%2F%26y"))
    expect(browser.status("/team/a.txt"), 200)
    expect(browser.status("/team/b.txt", "PUT", data=b"x"), 201)
    expect(browser.status("/private/a.txt"), 404)
    # Another user, without the group.
    lab.provider.user = {"sub": "2", "preferred_username": "ben"}
    other = Browser(lab)
    expect(other.sign_in("/").status_code, 303)
    expect(other.status("/team/a.txt"), 404)
    # Groups are those of the last sign-in.
    lab.davit.command("group", "add", lab.davit.share, "staff")
    lab.davit.command("access", "set", lab.davit.share, "group:staff", "/private", "view")
    expect(other.status("/private/a.txt"), 404)
    lab.provider.user["groups"] = ["staff", "unknown"]
    expect(other.sign_in("/").status_code, 303)
    expect((other.status("/private/a.txt"), other.status("/team/a.txt")), (200, 404))
    expect(other.status("/private/a.txt", "DELETE"), 403)


@test
def sessions_are_listed_and_end(lab):
    browser, other = Browser(lab), Browser(lab)
    browser.sign_in("/")
    other.sign_in("/")
    page = browser.get("/?account", "same-origin").text
    expect(page.count("account-device"), 2)
    fields = {"Sec-Fetch-Site": "same-origin", "Origin": lab.davit.url}
    form = browser.session.post(f"{lab.davit.url}/?account", {"do": "sign-out"}, headers=fields, allow_redirects=False)
    expect(form.status_code, 303)
    expect((browser.status("/team/a.txt"), other.status("/team/a.txt")), (401, 200))
    # An account of the name takes precedence, so the user loses the session, and cannot sign in.
    lab.davit.command("account", "add", lab.davit.share, "anna", input="another password\n")
    expect(other.status("/team/a.txt"), 401)
    refused(lab, 403, "Your account at Example &amp; Co cannot be used")


@test
def signing_in_again_replaces_the_session(lab):
    browser = Browser(lab)
    url = browser.return_url(browser.begin())
    stolen = requests.Session()
    expect(browser.get(url, "cross-site").status_code, 303)
    stolen.cookies.update(browser.session.cookies)
    # The session of the browser is replaced, so a copy of its cookie becomes useless.
    start = browser.get("/?account&provider&query=", "same-origin")
    expect(start.status_code, 303)
    expect(browser.get(browser.return_url(start), "cross-site").status_code, 303)
    expect(browser.status("/team/a.txt"), 200)
    expect(stolen.get(f"{lab.davit.url}/team/a.txt").status_code, 401)


@test
def local_names_are_refused(lab):
    for name in ("local", "gone", "a:b", "a\nb", "x" * 257, ""):
        lab.provider.user = {"sub": "1", "preferred_username": name}
        refused(lab, 403, "cannot be used on this server")
    lab.davit.wait_for_log("the name 'local' is that of an account of this server")
    lab.provider.user = {"sub": "1"}
    refused(lab, 403, "cannot be used on this server")
    lab.provider.user = {"sub": "1", "preferred_username": "anna", "groups": "editors"}
    refused(lab, 403, "cannot be used on this server")


@test
def denials_are_shown(lab):
    lab.provider.error = "access_denied"
    answer = refused(lab, 403, "was cancelled or refused")
    # The page leads to the one that was requested, from the URL to which the provider sends the browser.
    assert 'action="../team/?account"' in answer.text and 'href="../team/?account&amp;provider' in answer.text, answer.text
    files = re.findall(r'href="(\./[^"]+\.css)"', answer.text)
    assert files and Browser(lab).get(urllib.parse.urljoin(answer.url, files[0])).status_code == 200
    lab.provider.error = "invalid_scope"
    refused(lab, 403, "was cancelled or refused")
    lab.davit.wait_for_log("reports the error invalid_scope")
    lab.provider.error = None
    expect(Browser(lab).sign_in().status_code, 303)


@test
def wrong_tokens_are_refused(lab):
    for claims, name in (
            ({"nonce": "x"}, "nonce"), ({"exp": 1}, "exp"), ({"iat": 99999999999}, "iat"), ({"aud": "other"}, "aud"),
            ({"aud": ["davit", "other"]}, "azp"), ({"iss": "https://127.0.0.1"}, "iss")):
        lab.provider.claims = claims
        refused(lab, 502, "sent a response that this server cannot use")
        lab.davit.wait_for_log(f"the claim '{name}' of the ID token")
    lab.provider.claims = {}
    # A key that the provider does not publish, with the identifier of another one.
    forged = Key("RS256")
    forged.id = lab.provider.keys[0].id
    lab.provider.signer = forged
    refused(lab, 502, "sent a response that this server cannot use")
    lab.davit.wait_for_log("the signature of the ID token is wrong")
    lab.provider.signer = None
    expect(Browser(lab).sign_in().status_code, 303)


@test
def keys_can_be_replaced(lab):
    expect(Browser(lab).sign_in().status_code, 303)
    requested = lab.provider.requests.count("/tenant/keys")
    expect(requested, 1)
    expect(Browser(lab).sign_in().status_code, 303)
    expect(lab.provider.requests.count("/tenant/keys"), 1)
    # Within the interval, the new key is not known: davit does not ask again for each sign-in.
    lab.provider.keys = [Key("ES256"), *lab.provider.keys]
    for _ in range(3):
        refused(lab, 502, "sent a response that this server cannot use")
    expect(lab.provider.requests.count("/tenant/keys"), 1)
    # OIDCProviderTests.keysCanBeReplaced waits for the interval, with a clock of its own.


@test
def each_algorithm_works(lab):
    lab.provider.keys = [Key("EdDSA"), Key("ES256"), Key("RS256")]
    for key in lab.provider.keys:
        lab.provider.signer = key
        expect(Browser(lab).sign_in().status_code, 303)


@test
def answers_belong_to_the_browser_that_began(lab):
    victim, attacker = Browser(lab), Browser(lab)
    # Login CSRF: the answer to the attacker's sign-in, opened in another browser.
    url = attacker.return_url(attacker.begin())
    answer = victim.get(url, "cross-site")
    expect(answer.status_code, 400)
    assert "has expired, or was started in another browser" in alert(answer)
    expect(victim.session.cookies.get_dict(), {})
    # Also while a sign-in of the victim is in progress.
    start = victim.begin()
    expect(victim.get(url, "cross-site").status_code, 400)
    # A code of the attacker with the state of the victim: the provider refuses it, because it belongs to another challenge.
    code = field(url, "code")
    mixed = {"code": code, "state": field(start.headers["Location"], "state"), "iss": lab.provider.issuer}
    answer = victim.get(f"{RETURN}?{urllib.parse.urlencode(mixed)}", "cross-site")
    expect((answer.status_code, lab.provider.refused), (403, 1))
    expect(victim.status("/team/a.txt"), 401)


@test
def answers_work_once(lab):
    browser = Browser(lab)
    start = browser.begin()
    kept = browser.session.cookies.copy()
    url = browser.return_url(start)
    expect(browser.get(url, "cross-site").status_code, 303)
    expect(browser.get(url, "cross-site").status_code, 400)
    # Even with a copy of the cookie.
    browser.session.cookies = kept
    expect(browser.get(url, "cross-site").status_code, 403)
    browser.session.cookies.set(f"davit-sign-in-{lab.davit.port}", "A" * 200, domain="127.0.0.1", path="/")
    expect(browser.get(url, "cross-site").status_code, 400)


@test
def other_answers_are_refused(lab):
    browser = Browser(lab)
    start = browser.begin()
    kept = browser.session.cookies.copy()
    state = field(start.headers["Location"], "state")
    issuer = urllib.parse.quote(lab.provider.issuer, safe="")
    for query, status in (
            ("", 400), ("code=x", 400), (f"code=x&state={state}&state={state}", 400), (f"code=x&state={state[:-1]}", 400),
            # RFC 9207: this provider always names its issuer.
            (f"code=x&state={state}", 403), (f"code=x&state={state}&iss=https%3A%2F%2Fother.example", 403),
            (f"code=x&code=x&state={state}&iss={issuer}", 403), (f"state={state}&iss={issuer}", 403)):
        browser.session.cookies = kept.copy()
        expect((query, browser.get(f"{RETURN}?{query}", "cross-site").status_code), (query, status))
    assert "/tenant/token" not in lab.provider.requests
    # Not as an image or a frame of another page.
    browser.session.cookies = kept.copy()
    answer = browser.get(f"{RETURN}?code=x&state={state}", "cross-site", **{"Sec-Fetch-Dest": "iframe"})
    expect(answer.status_code, 403)


@test
def guesses_are_delayed(lab):
    browser = Browser(lab)
    statuses = []
    for _ in range(6):
        start = browser.begin()
        state = field(start.headers["Location"], "state")
        guess = urllib.parse.urlencode({"code": "guess", "state": state, "iss": lab.provider.issuer})
        statuses.append(browser.get(f"{RETURN}?{guess}", "cross-site").status_code)
    expect(statuses, [403] * 5 + [429])
    expect(lab.provider.refused, 5)


@test
def browsers_return_only_to_own_paths(lab):
    for path, location in (
            ("//other.example/", "..//other.example/"), ("/%2F%2Fother.example/", "../%2F%2Fother.example/"),
            ("/team/..%2F..%2F", "../team/..%2F..%2F"), ("/a:b", "../a:b")):
        browser = Browser(lab)
        # The library would change the path, so that the request is written here.
        prepared = requests.Request("GET", lab.davit.url, headers={**NAVIGATION, "Sec-Fetch-Site": "none"}).prepare()
        prepared.url = f"{lab.davit.url}{path}?account&provider&query="
        start = browser.session.send(prepared, allow_redirects=False)
        expect((path, start.status_code), (path, 303))
        answer = browser.get(browser.return_url(start), "cross-site")
        expect((answer.status_code, answer.headers["Location"]), (303, location))
        host = urllib.parse.urlsplit(urllib.parse.urljoin(answer.url, answer.headers["Location"])).netloc
        expect(host, f"127.0.0.1:{lab.davit.port}")
    browser = Browser(lab)
    query = urllib.parse.quote("x=1\r\nSet-Cookie: a=b\r\n\r\n#//other.example", safe="")
    start = browser.get(f"/?account&provider&query={query}", "same-origin")
    answer = browser.get(browser.return_url(start), "cross-site")
    assert answer.headers["Location"].startswith("../?x=1%0D%0ASet-Cookie"), answer.headers
    assert "a" not in answer.cookies
    # A sign-in does not lead to the next one.
    start = browser.get(f"/?account&provider&query={urllib.parse.quote('account&provider')}", "same-origin")
    expect(browser.get(browser.return_url(start), "cross-site").headers["Location"], "../")
    # Another site cannot begin a sign-in, but only show the page for it.
    other = Browser(lab)
    answer = other.get("/?account&provider", "cross-site")
    expect((answer.status_code, len(other.session.cookies)), (401, 0))


@test
def outages_are_reported_once(lab):
    expect(Browser(lab).sign_in().status_code, 303)
    browser = Browser(lab)
    url = browser.return_url(browser.begin())
    lab.provider.stop()
    answer = browser.get(url, "cross-site")
    expect((answer.status_code, answer.headers["Retry-After"]), (503, "5"))
    assert "is not available at present" in alert(answer)
    expect(lab.davit.wait_for_log("users cannot sign in"), 1)
    # Others are answered without asking, and local accounts still work.
    for _ in range(3):
        expect(Browser(lab).get("/?account&provider", "same-origin").status_code, 503)
    expect(requests.get(f"{lab.davit.url}/team/a.txt", auth=("local", "right password")).status_code, 200)
    expect(lab.davit.wait_for_log("users cannot sign in"), 1)
    lab.provider.start()


@test
def redirects_of_the_provider_are_not_followed(lab):
    elsewhere = f"{lab.provider.issuer}/elsewhere"
    lab.provider.redirects["/tenant/token"] = elsewhere
    refused(lab, 502, "sent a response that this server cannot use")
    lab.provider.redirects = {"/tenant/keys": elsewhere}
    refused(lab, 503, "is not available at present")
    lab.davit.wait_for_log("/tenant/keys: status 302")
    assert "/tenant/elsewhere" not in lab.provider.requests


@test
def long_documents_are_refused(lab):
    lab.provider.metadata = {"x": "x" * (128 << 10)}
    expect(Browser(lab).get("/?account&provider", "same-origin").status_code, 502)
    lab.davit.wait_for_log("openid-configuration is too long")


@test
def unusable_metadata_are_reported(lab):
    lab.provider.metadata = {"issuer": "https://other.example"}
    browser = Browser(lab)
    answer = browser.get("/?account&provider", "same-origin")
    expect(answer.status_code, 502)
    lab.davit.wait_for_log("the metadata of the provider names another issuer")
    for _ in range(5):
        expect(browser.get("/?account&provider", "same-origin").status_code, 502)
    expect(lab.provider.requests.count("/tenant/.well-known/openid-configuration"), 1)


@test
def other_clients_are_not_affected(lab):
    """WebDAV clients get a challenge, and not the form; and Basic works as before."""
    answer = requests.request("PROPFIND", lab.davit.url)
    expect((answer.status_code, "Basic" in answer.headers["WWW-Authenticate"]), (401, True))
    expect(requests.get(f"{lab.davit.url}{RETURN}").status_code, 400)
    expect(requests.post(f"{lab.davit.url}{RETURN}").status_code, 401)
    expect(requests.get(f"{lab.davit.url}/team/a.txt", auth=("anna", "x")).status_code, 401)


def another_provider(folder):
    """The provider of the package oidc-provider-mock, with a registered client."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    user = oidc_provider_mock.User(sub="anna", claims={"preferred_username": "anna", "groups": ["editors"]})
    davit, secret = Davit(folder), folder / "secret"
    with oidc_provider_mock.run_server_in_thread(
            require_client_registration=True, require_nonce=True, user_claims=(user,)) as server:
        issuer = f"http://localhost:{server.server_port}"
        client = requests.post(f"{issuer}/oauth2/clients", json={
            "redirect_uris": [davit.url + RETURN], "token_endpoint_auth_method": "client_secret_basic"}).json()
        secret.write_text(client["client_secret"])
        secret.chmod(0o600)
        davit.start("--oidc-issuer", issuer, "--oidc-client-id", client["client_id"], "--oidc-client-secret-file", secret)
        try:
            session = requests.Session()
            for form, status in (({"action": "deny"}, 403), ({"sub": "anna"}, 303)):
                start = session.get(f"{davit.url}/team/?account&provider", allow_redirects=False, headers={
                    **NAVIGATION, "Sec-Fetch-Site": "same-origin"})
                expect(start.status_code, 303)
                location = requests.post(start.headers["Location"], form, allow_redirects=False).headers["Location"]
                if "state=" not in location:
                    # Some versions of the package omit the state of a denial, which RFC 6749 §4.1.2.1 requires.
                    location += "&state=" + field(start.headers["Location"], "state")
                answer = session.get(location, allow_redirects=False, headers={
                    **NAVIGATION, "Sec-Fetch-Site": "cross-site"})
                expect(answer.status_code, status)
            expect(session.get(f"{davit.url}/team/a.txt").status_code, 200)
            expect(session.get(f"{davit.url}/private/a.txt").status_code, 404)
        finally:
            davit.stop()


def certificates_are_verified(folder):
    """The provider has a certificate, but not one of the authorities of the system."""
    lab = Lab(folder, "--oidc-ca", "/etc/ssl/certs/ca-certificates.crt")
    try:
        expect(Browser(lab).get("/?account&provider", "same-origin").status_code, 503)
        lab.davit.wait_for_log("users cannot sign in")
        expect(lab.provider.requests, [])
    finally:
        lab.stop()


def in_chromium(folder):
    """The page of davit in a browser: signing in, and signing in again in another tab when the session has ended."""
    lab = Lab(folder)
    try:
        with playwright.sync_api.sync_playwright() as engine:
            browser = engine.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])
            context = browser.new_context(ignore_https_errors=True, locale="en-GB")
            page = context.new_page()
            page.goto(f"{lab.davit.url}/team/")
            page.get_by_role("link", name="Sign in with Example & Co").click()
            page.get_by_role("link", name="a.txt", exact=True).wait_for()
            expect(page.url, f"{lab.davit.url}/team/")
            page.locator("html[data-ready='true']").wait_for(state="attached")
            lab.provider.error = "access_denied"
            context.clear_cookies()
            # The page may have noticed the end of the session, and then its dialog covers the button.
            page.locator("button", has_text="Refresh").or_(page.locator("button[aria-label=Refresh]")).first.dispatch_event("click")
            dialog = page.get_by_role("dialog", name="Sign in again")
            dialog.locator("input[type=password]").wait_for()
            for error, text in (("access_denied", "was cancelled or refused"), (None, "private")):
                lab.provider.error = error
                with context.expect_page() as opened:
                    dialog.get_by_role("link", name="Sign in with Example & Co").click()
                if error:
                    opened.value.get_by_text(text).wait_for()
                    # Still not signed in.
                    page.evaluate("window.dispatchEvent(new Event('focus'))")
                else:
                    opened.value.locator("html[data-ready='true']").wait_for(state="attached")
            page.evaluate("window.dispatchEvent(new Event('focus'))")
            dialog.wait_for(state="detached")
            page.get_by_role("link", name="a.txt", exact=True).wait_for()
            browser.close()
    finally:
        lab.stop()


def run(function, folder):
    if function in (another_provider, certificates_are_verified, in_chromium):
        return function(folder)
    lab = Lab(folder)
    try:
        function(lab)
    except Exception:
        print("".join(lab.davit.lines))
        raise
    finally:
        lab.stop()


def main():
    passed, failed = 0, 0
    for function in [*tests, another_provider, certificates_are_verified, in_chromium]:
        if sys.argv[1:] and function.__name__ not in sys.argv[1:]:
            continue
        if function is in_chromium and playwright is None:
            print("SKIPPED: OpenID Connect in Chromium: Playwright is not installed", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(function, pathlib.Path(folder))
                passed += 1
                print(f"ok {function.__name__}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED {function.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"oidc: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
