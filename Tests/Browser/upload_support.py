"""Support for the tests of uploads: files, and ways to pass them to the page."""

import base64
import contextlib
import hashlib
import os
import pathlib
import random
import re
import socket
import threading
import zlib

from harness import LIMIT_MS, TYPES, expect

# Without file pickers, the page uses an input element, which tests can fill.
NO_PICKERS = "delete window.showOpenFilePicker; delete window.showDirectoryPicker"


def content(size, seed=1):
    """Returns pseudo-random bytes, so that no two parts of a file are equal."""
    return random.Random(seed).randbytes(size)


def local(lab, name, size=1000, seed=None, mtime=1_500_000_000):
    """Creates a file that can be uploaded."""
    path = lab.work / "mine" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content(size, seed if seed is not None else name))
    os.utime(path, (mtime, mtime))
    return path


def digest(path):
    made = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            made.update(piece)
    return made.hexdigest()


def whole_digest(path):
    """Returns the value of Repr-Digest for a file: its Adler-32 checksum."""
    made = 1
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            made = zlib.adler32(piece, made)
    return f"adler=:{base64.b64encode(made.to_bytes(4, 'big')).decode()}:"


def expect_same(mine, theirs):
    """Checks that content and modification time have arrived."""
    expect(pathlib.Path(theirs).stat().st_size, pathlib.Path(mine).stat().st_size, f"the size of {theirs.name}")
    expect(digest(theirs), digest(mine), f"the content of {theirs.name}")
    expect(int(theirs.stat().st_mtime), int(mine.stat().st_mtime), f"the time of {theirs.name}")


def ready(lab, page):
    """Waits until the page is ready for uploads."""
    lab.ready(page)
    page.locator("[data-action=upload]").wait_for()


def choose(page, *paths, folder=False):
    """Runs the upload action, and chooses files."""
    with page.expect_file_chooser() as chooser:
        page.evaluate("folder => import(document.querySelector('script[type=module]').src).then(({ app }) => "
                      "{ app.run(folder ? 'upload-folder' : 'upload', app.context([])) })", folder)
    chooser.value.set_files([str(path) for path in paths])


def drop(page, *paths, on="main"):
    """Drops files and folders on the page, as from a file manager."""
    box = page.locator(on).first.bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + min(box["height"] / 2, 300)}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **at})
    session.detach()


# Collects announcements for screen readers in `heard`.
HEARD = """
    window.heard = []
    document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
        const text = document.querySelector("[role=status].unseen")?.textContent
        if (text && text !== heard.at(-1)) heard.push(text)
    }).observe(document.body, { childList: true, characterData: true, subtree: true }))"""


def reload(lab, proxy, page):
    """Reloads the page during uploads."""
    page.on("dialog", lambda dialog: dialog.accept())
    # Without a user gesture, a page cannot ask for confirmation.
    page.mouse.click(5, 5)
    page.reload()
    proxy.cut()
    proxy.hold_at(None)
    ready(lab, page)


QUEUE = "import(document.querySelector('script[type=module]').src.replace('main.js', 'upload/main.js')).then(({ queue }) => {expression})"


def queue(page, expression):
    """Returns the value of an expression about the page's queue."""
    return page.evaluate(QUEUE.replace("{expression}", expression))


def wait_for_uploads(lab, page, done, failed=0, limit_ms=LIMIT_MS):
    """Waits until all uploads have ended, and checks how many have succeeded and failed."""
    ended = QUEUE.replace("{expression}", f"!queue.isBusy && queue.totals.done >= {done} && queue.totals.failed >= {failed} && queue.totals")
    try:
        totals = lab.until(page, ended, limit_ms=limit_ms)
    except AssertionError as problem:
        raise AssertionError(f"{queue(page, 'queue.totals')} {states(page)}") from problem
    expect((totals["done"], totals["failed"]), (done, failed), f"uploads done and failed {states(page)}")


def states(page):
    """Returns the rows of the panel: (name, state, status text)."""
    return page.eval_on_selector_all(
        ".upload", "all => all.map(one => [one.querySelector('.upload-name').textContent, one.dataset.state, "
                   "one.querySelector('.upload-status').textContent])")


class Proxy:
    """A proxy between the browser and the server. It can hold back, corrupt and cut off requests.

    With `--files`, the proxy serves the page's files itself, because Playwright would record all request bodies, which
    takes longer than sending them.
    """

    def __init__(self, lab, host="127.0.0.1"):
        self.lab = lab
        self.passed, self.limit, self.flip_at, self.is_down, self.cuts = 0, None, None, False, 0
        self.part_limit, self.refusals = None, 0
        self.changed = threading.Condition()
        self.connections = set()
        self.listener = socket.create_server((host, 0))
        self.url = f"http://{host}:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            if self.is_down:
                raise OSError
            server = socket.create_connection(("127.0.0.1", self.lab.server.port))
        except OSError:
            client.close()
            return
        with self.changed:
            self.connections |= {client, server}
        threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()
        self._pass(client, server, True)

    def _pass(self, source, target, is_sent):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                if is_sent:
                    answer = self._file(piece) or self._refusal(source, piece)
                    if answer:
                        source.sendall(answer)
                        continue
                    piece = self._hold(piece)
                target.sendall(piece)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            with self.changed:
                self.connections.discard(one)

    def _file(self, piece):
        path = piece.split(b" ", 2)[1].decode() if piece.startswith(b"GET ") else ""
        if not self.lab.arguments.files or "/.davit-browserpagefiles/" not in path:
            return None
        file = pathlib.Path(self.lab.arguments.files) / path.split("/.davit-browserpagefiles/")[1].split("/", 1)[1]
        if not file.is_file():
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        body = file.read_bytes()
        return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
            TYPES.get(file.suffix, "application/octet-stream").encode(), len(body), body)

    def _refusal(self, source, piece):
        """Returns the response of a proxy that limits request bodies, or None if the request may pass."""
        head, _, body = piece.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: *(\d+)", head.lower())
        if self.part_limit is None or not re.match(rb"P(UT|ATCH) ", head) or not length or int(length[1]) <= self.part_limit:
            return None
        left = int(length[1]) - len(body)
        while left > 0:
            got = source.recv(min(left, 1 << 16))
            if not got:
                raise OSError
            left -= len(got)
        self.refusals += 1
        return b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n"

    def _hold(self, piece):
        with self.changed:
            # Small requests pass; only content is held.
            cuts = self.cuts
            while self.limit is not None and self.passed + len(piece) > self.limit and len(piece) > 8000:
                self.changed.wait()
                if self.cuts > cuts:
                    raise OSError
            if self.flip_at is not None and self.passed + len(piece) > self.flip_at and len(piece) > 8000:
                piece = piece[:5000] + bytes([piece[5000] ^ 4]) + piece[5001:]
                self.flip_at = None
            self.passed += len(piece)
            self.changed.notify_all()
            return piece

    def hold_at(self, limit):
        """Limits the total number of bytes that pass; None removes the limit."""
        with self.changed:
            self.limit = limit
            self.changed.notify_all()

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: self.passed >= count, LIMIT_MS / 1000), f"only {self.passed} bytes of {count}"

    def cut(self, is_down=False):
        """Closes all connections; with is_down, also refuses new ones."""
        with self.changed:
            self.is_down = is_down
            self.cuts += 1
            connections = list(self.connections)
            self.changed.notify_all()
        for one in connections:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def up(self):
        """Accepts connections again."""
        self.is_down = False

    def close(self):
        self.hold_at(None)
        self.cut(True)
        self.listener.close()


@contextlib.contextmanager
def behind_proxy(lab, host="127.0.0.1", options=(), script="", signs_in=None, **context_options):
    """Starts a proxy in front of the server, and a page that uses it. `signs_in` is a name and a password."""
    if lab.server is None:
        lab.start(*options, host="0.0.0.0" if host != "127.0.0.1" else host)
    proxy = Proxy(lab, host)
    try:
        context = unrouted(lab, lambda: lab.context(**context_options))
        context.add_init_script(NO_PICKERS + ";" + script)
        page = context.new_page()
        page.goto(proxy.url)
        if signs_in:
            lab.sign_in(page, *signs_in)
        ready(lab, page)
        yield proxy, page
        # Before the proxy, whose end would otherwise break requests of the page and look like a problem.
        context.close()
    finally:
        proxy.close()


def unrouted(lab, make):
    """Returns the result of `make`, without routing requests through Playwright."""
    files, lab.arguments.files = lab.arguments.files, None
    try:
        return make()
    finally:
        lab.arguments.files = files
