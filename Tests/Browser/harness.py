"""Shared support for the tests of the browser page.

A test is a function in a file test_*.py, marked with @test, or with @test(is_long=True) if `--short` omits it. It receives a
Lab: a folder served by davit, and Chromium pages on it. Console errors, script exceptions and violations of the content
security policy fail the test unless it has called `lab.allow("…")` before.
"""

import contextlib
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
import zlib

from playwright.sync_api import sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
# A generous limit for busy machines; only a test that hangs exceeds it.
LIMIT_MS = int(os.environ.get("LIMIT_SECONDS", "60")) * 1000

TESTS = []
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}


def test(function=None, *, is_long=False):
    """Marks a test; with is_long=True, `--short` omits it."""
    def mark(body):
        TESTS.append((body, is_long))
        return body
    return mark(function) if function else mark


class Skipped(Exception):
    """Raised if the tested server does not support the feature."""


def expect(found, wanted, what=""):
    assert found == wanted, f"{what}: {found!r:.600} instead of {wanted!r:.600}"


class Server:
    """A davit process that serves a folder. It can be killed and restarted with the same port and state."""

    def __init__(self, davit, share, state, log, options=()):
        self.davit, self.share, self.state, self.log, self.options = davit, share, state, log, list(options)
        self.port, self.process, self.url = 0, None, None

    def command(self, host):
        return [self.davit, "serve", str(self.share), "--host", host, "--port", str(self.port),
                "--state-dir", str(self.state), *self.options]

    def start(self, host="127.0.0.1"):
        command = self.command(host)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            found = re.search(r"https?://\S+/", line)
            if found:
                self.url = found.group(0)
                self.port = urllib.parse.urlsplit(self.url).port
                return self
        raise AssertionError("davit did not become ready: " + pathlib.Path(self.log).read_text()[-2000:])

    def kill(self):
        """Kills the server without a clean shutdown."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("davit did not exit when asked")
            finally:
                self.process.stdout.close()

    def request(self, method, path, body=None, **fields):
        """Sends a request as another client and returns (status, fields, content). Field names are written with underscores."""
        parts = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT_MS / 1000)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


class StubServer(Server):
    """A `davit stub` process."""

    def command(self, host):
        return [self.davit, "stub", str(self.share), "--host", host, "--port", str(self.port), *self.options]


class Lab:
    """The resources of one test: a folder, a server, and pages."""

    def __init__(self, browser, options, name):
        self.browser, self.arguments, self.name = browser, options, name
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="davit-browser."))
        self.share = self.work / "share"
        self.share.mkdir()
        self.server = None
        self.problems, self.contexts, self.notes = [], [], []
        self.allowed = []

    # The folder

    def write(self, name, content=b"", mtime=None):
        path = self.share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if mtime is not None:
            os.utime(path, (mtime, mtime))
        return path

    # The server

    def start(self, *options, share=None, name="state", host="127.0.0.1", kind=Server):
        server = kind(self.arguments.davit, share or self.share, self.work / name, self.work / "server.log", options)
        server.start(host)
        if self.server is None:
            self.server = server
        self._servers.append(server)
        return server

    @property
    def _servers(self):
        return self.__dict__.setdefault("servers", [])

    @property
    def url(self):
        if self.server is None:
            self.start()
        return self.server.url

    # Pages

    def context(self, phone=False, dark=False, language="en-GB", saves_data=True, **options):
        """Returns a new browser context without stored data. Data saving is enabled, so that modules are not loaded ahead and tests
        control when they are loaded."""
        context = self.browser.new_context(
            viewport=PHONE if phone else DESKTOP, has_touch=phone, is_mobile=phone, color_scheme="dark" if dark else "light",
            locale=language, timezone_id="Europe/Berlin", **options)
        if saves_data:
            context.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
        self.adopt(context)
        return context

    def adopt(self, context):
        """Applies the settings of the tests to a context that a test has created."""
        context.set_default_timeout(LIMIT_MS)
        self.contexts.append(context)
        context.on("page", self._watch)
        if self.arguments.files:
            context.route("**/.davit-browserpagefiles/**", self._answer)

    def page(self, path="", context=None, wait=True, **options):
        """Opens `path`, percent-encoded and without the leading slash, and returns the page when it is ready."""
        page = (context or self.context(**options)).new_page()
        page.goto(self.url + path)
        if wait:
            self.ready(page)
        return page

    @staticmethod
    def sign_in(page, name, password):
        """Fills in the sign-in form that the page shows, and submits it."""
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()

    def ready(self, page):
        # A locator waits across the navigation; a script that the navigation interrupts would fail.
        page.locator("html[data-ready='true']").wait_for(state="attached")

    @staticmethod
    def until(page, expression, argument=None, limit_ms=LIMIT_MS):
        """Waits for a condition in the page and returns its value. Playwright's wait_for_function needs eval, which the content
        security policy forbids."""
        end = time.monotonic() + limit_ms / 1000
        while True:
            found = page.evaluate(expression, argument)
            if found:
                return found
            assert time.monotonic() < end, f"condition did not become true: {expression} with {argument!r:.300}"
            page.wait_for_timeout(20)

    @staticmethod
    def wait_until(page, condition):
        """Waits until `condition()` is true, and handles events of the page in the meantime."""
        end = time.monotonic() + LIMIT_MS / 1000
        while not condition():
            assert time.monotonic() < end, "condition did not become true"
            page.wait_for_timeout(20)

    def allow(self, pattern):
        """Ignores console errors that contain the pattern."""
        self.allowed.append(pattern)

    def held(self, page, pattern):
        """Delays lazily loaded modules, as on a slow network, until the returned function is called."""
        routes = []
        page.route(pattern, lambda route: routes.append(route))

        def release():
            end = time.monotonic() + LIMIT_MS / 1000
            while not routes:
                assert time.monotonic() < end, f"{pattern} was not requested"
                page.wait_for_timeout(20)
            for route in routes:
                route.fallback()
        return release

    def has_events(self):
        """Returns whether collections have an event stream. A server without event streams responds with the page."""
        parts = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LIMIT_MS / 1000)
        try:
            connection.request("GET", "/?events", headers={"Accept": "text/event-stream"})
            return connection.getresponse().headers.get("Content-Type", "").startswith("text/event-stream")
        finally:
            connection.close()

    def _watch(self, page):
        def note(message):
            if message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico"):
                self.problems.append(f"{message.text} ({message.location['url']})")
        page.on("console", note)
        page.on("pageerror", lambda problem: self.problems.append(f"{problem.name}: {problem.message}\n{problem.stack}"))

    def _answer(self, route):
        """Serves the files of the page from the working tree instead of the binary."""
        name = urllib.parse.urlsplit(route.request.url).path.split("/.davit-browserpagefiles/")[1].split("/", 1)[1]
        path = pathlib.Path(self.arguments.files) / name
        if not path.is_file():
            route.fulfill(status=404)
            return
        route.fulfill(status=200, body=path.read_bytes(), headers={
            "Content-Type": TYPES.get(path.suffix, "application/octet-stream"), "X-Content-Type-Options": "nosniff"})

    # The visible state

    @staticmethod
    def names(page):
        """Returns the visible names, in order."""
        return page.eval_on_selector_all(
            ".item .name-text", "all => all.map(one => [one.closest('.item').dataset.index * 1, one.textContent])"
                                ".sort((a, b) => a[0] - b[0]).map(one => one[1])")

    @staticmethod
    def row(page, name):
        return page.locator(".item").filter(has=page.locator(".name-text", has_text=re.compile(f"^{re.escape(name)}$")))

    @staticmethod
    def select(page, *names):
        for index, name in enumerate(names):
            Lab.row(page, name).locator(".cell.modified").click(modifiers=["Control"] if index else [])

    @staticmethod
    def wait_for_names(page, names):
        wanted, found, end = list(names), None, time.monotonic() + LIMIT_MS / 1000
        while time.monotonic() < end:
            found = Lab.names(page)
            if found == wanted:
                return
            page.wait_for_timeout(20)
        expect(found, wanted, "the displayed names")

    def screenshot(self, page, name):
        """Takes a screenshot if screenshots are enabled."""
        if self.arguments.screenshots:
            folder = pathlib.Path(self.arguments.screenshots)
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(folder / f"{name}.png"))

    def axe(self, page, what=""):
        """Checks the page with axe: WCAG 2.2 A and AA, and best practices. Checks only the topmost modal dialog if one is open, because
        axe would take the content below it for its background."""
        page.evaluate(axe_source())
        page.evaluate("Promise.all(document.getAnimations().filter(one => one.effect.getTiming().iterations !== Infinity)"
                      ".map(one => one.finished.catch(() => {})))")
        found = page.evaluate("""async () => (await axe.run([...document.querySelectorAll("dialog:modal")].at(-1) ?? document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa",
            "wcag22aa", "best-practice"]})).violations.map(one => `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3)
            .map(node => `${node.target} ${node.any.concat(node.all, node.none).map(part => part.message)[0] ?? ""}`).join("; "))""")
        assert not found, f"{what} has violations:\n" + "\n".join(found)

    def note(self, text):
        """Logs a measurement."""
        self.notes.append(text)

    def _close(self, problem):
        """Closes everything and reports unexpected problems."""
        for context in self.contexts:
            with contextlib.suppress(Exception):
                if problem and self.arguments.screenshots:
                    for number, page in enumerate(context.pages):
                        page.screenshot(path=str(pathlib.Path(self.arguments.screenshots) / f"failed-{self.name}-{number}.png"))
            with contextlib.suppress(Exception):
                context.close()
        no_stream = "EventSource's response has a MIME type"
        if any(no_stream in one for one in self.problems) and not self.has_events():
            self.allow(no_stream)
        problems = [one for one in self.problems if not any(pattern in one for pattern in self.allowed)]
        try:
            for server in self._servers:
                server.stop()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        assert problem or not problems, "the browser reported problems:\n" + "\n".join(problems[:8])


_axe = None


def axe_source():
    global _axe
    if _axe is None:
        import axe_core_python
        _axe = next(pathlib.Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text()
    return _axe


def launch(playwright):
    """Launches Chromium, without its sandbox if the user is root; it opens only pages of this server."""
    return playwright.chromium.launch(
        executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])


def kill_browsers():
    """Kills the browsers that this process has started."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
            parents[int(path.parent.name)] = (name, int(rest.split()[1]))

    def is_ours(process):
        while process in parents:
            process = parents[process][1]
            if process == os.getpid():
                return True
        return False

    for process, (name, _) in parents.items():
        if name.startswith("chrom") and is_ours(process):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def described(error):
    """Returns the error and the lines of the tests, in order, that led to it. The first line suffices to find the cause."""
    first, *rest = (str(error) or "no message").splitlines()
    steps = [f"{pathlib.Path(step.filename).name}:{step.lineno}: {step.line}" for step in traceback.extract_tb(error.__traceback__)
             if pathlib.Path(step.filename).parent == HERE and step.name != "run"]
    return "\n".join([f"{steps[0] if steps else ''}: {type(error).__name__}: {first}", *rest, *steps])


def run(arguments):
    """Runs the requested tests, and returns the numbers of passed and failed tests."""
    sys.path.insert(0, str(HERE))
    files = sorted(HERE.glob("test_*.py"))
    by_file = []
    for file in files:
        del TESTS[:]
        __import__(file.stem)
        by_file += [(file.stem, body, is_long) for body, is_long in TESTS]
    chosen = [one for one in by_file
              if not arguments.names or any(name in (one[0], one[1].__name__) for name in arguments.names)]
    known = {one[0] for one in by_file} | {one[1].__name__ for one in by_file}
    if arguments.every > 1:
        print(f"browser: one test in {arguments.every}; repeat with --every {arguments.every} --seed {arguments.seed}")
        part = zlib.crc32(arguments.seed.encode()) % arguments.every
        chosen = [one for number, one in enumerate(chosen) if number % arguments.every == part]
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        print(f"FAILED: unknown test: {', '.join(unknown)}")
        return 0, len(unknown)
    passed = failed = 0
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for stem, body, is_long in chosen:
            if is_long and arguments.short:
                continue
            if not browser.is_connected():
                browser = launch(playwright)
            name = f"{stem}.{body.__name__}"
            begin = time.monotonic()
            lab = Lab(browser, arguments, body.__name__)
            lab.playwright = playwright
            problem = skipped = None
            # Calls without their own time limit end when the browser is closed.
            net = threading.Timer(5 * LIMIT_MS / 1000, kill_browsers)
            net.daemon = True
            net.start()
            try:
                body(lab)
            except Skipped as reason:
                skipped = reason
            except Exception as error:
                problem = described(error)
            try:
                lab._close(problem)
            except Exception as error:
                problem = problem or described(error)
            net.cancel()
            if skipped and not problem:
                print(f"SKIPPED: {name}: {skipped}")
            elif problem:
                failed += 1
                said = [one for one in lab.problems if not any(pattern in one for pattern in lab.allowed)]
                reason, *rest = (problem + "\n" + "\n".join(said[:5])).strip().splitlines()
                print(f"FAILED: {name}: {reason:.300}")
                print("\n".join(f"    {line}" for line in rest[:30]))
            else:
                passed += 1
                print(f"ok {name} ({time.monotonic() - begin:.1f} s){''.join('; ' + note for note in lab.notes)}")
            sys.stdout.flush()
        browser.close()
    return passed, failed
