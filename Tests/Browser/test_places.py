"""The page below a prefix, behind a proxy that removes one, and behind a proxy that terminates TLS."""

import contextlib
import http.client
import io
import select
import socket
import ssl
import subprocess
import threading
import zipfile

from harness import expect, test
from upload_support import NO_PICKERS, choose, expect_same, local, ready, unrouted, wait_for_uploads

MIB = 1 << 20
LOCK = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>Anna</owner></lockinfo>'


class ReverseProxy:
    """A proxy for one server: uses a new connection for each request and relays the response as it arrives."""

    def __init__(self, outer, inner, tls=None):
        """outer: the path prefix that browsers use; inner: the prefix that the server receives."""
        self.outer, self.inner, self.tls, self.port_of_server = outer, inner, tls, None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}{outer}"
        self.connections = set()

    def start(self, port_of_server):
        self.port_of_server = port_of_server
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        for one in list(self.connections):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, client):
        server = None
        with contextlib.suppress(OSError, ValueError):
            if self.tls:
                client = self.tls.wrap_socket(client, server_side=True)
            self.connections.add(client)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(1 << 16)
                if not piece:
                    break
                head += piece
            else:
                server = socket.create_connection(("127.0.0.1", self.port_of_server))
                self.connections.add(server)
                server.sendall(self._rewritten(*head.split(b"\r\n\r\n", 1)))
                self._relay(client, server)
        self._end(client, server)

    def _rewritten(self, head, rest):
        line, *fields = head.decode("latin-1").split("\r\n")
        method, target, version = line.split(" ")
        if not target.startswith(self.outer):
            raise ValueError(target)
        host = next(field.split(":", 1)[1].strip() for field in fields if field.lower().startswith("host:"))
        fields = [field for field in fields if field.split(":")[0].lower() not in ("host", "connection")]
        # The proxy sends a Host field of its own.
        fields += [f"Host: 127.0.0.1:{self.port_of_server}", "Connection: close", f"X-Forwarded-Host: {host}",
                   f"X-Forwarded-Proto: {'https' if self.tls else 'http'}", "X-Forwarded-For: 127.0.0.1"]
        target = self.inner + target.removeprefix(self.outer)
        return "\r\n".join([f"{method} {target} {version}", *fields, "", ""]).encode("latin-1") + rest

    def _relay(self, client, server):
        """Relays in both directions on one thread, because two threads cannot use a TLS socket at the same time."""
        while True:
            # Data that is already decrypted does not make the socket readable.
            if self.tls and client.pending():
                readable = [client]
            else:
                readable = select.select([client, server], [], [])[0]
            for source in readable:
                piece = source.recv(1 << 16)
                if not piece:
                    return
                (server if source is client else client).sendall(piece)

    def _end(self, *sockets):
        for one in filter(None, sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            self.connections.discard(one)


def certificate(lab):
    path = lab.work / "proxy.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", path, "-out", str(path) + ".crt"],
                   check=True, capture_output=True)
    path.write_text(path.read_text() + (lab.work / "proxy.pem.crt").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def request(lab, method, path, body=None, **fields):
    """Sends a request as another client, without the proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", lab.server.port, timeout=60)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def everything_works(lab, url, inner, **options):
    """Tests the features of the page. url: the share's URL for browsers; inner: its path on the server."""
    lab.allow("423")
    lab.write("folder/inside.txt", "inside")
    lab.write("a.txt", "a")
    context = unrouted(lab, lambda: lab.context(**options)) if lab.arguments.files else lab.context(**options)
    context.add_init_script(NO_PICKERS)
    page = context.new_page()
    page.goto(url)
    ready(lab, page)
    lab.wait_for_names(page, ["folder", "a.txt"])

    # Events.
    lab.until(page, "document.documentElement.dataset.live === 'true'")
    expect(request(lab, "PUT", f"{inner}b%20b.txt", b"b")[0], 201)
    lab.wait_for_names(page, ["folder", "a.txt", "b b.txt"])

    # Uploads: simple and resumable.
    files = [local(lab, "small.bin", 1000), local(lab, "large.bin", 9 * MIB)]
    choose(page, *files)
    wait_for_uploads(lab, page, 2)
    for file in files:
        expect_same(file, lab.share / file.name)
    lab.wait_for_names(page, ["folder", "a.txt", "b b.txt", "large.bin", "small.bin"])

    # Downloading several items as an archive.
    lab.select(page, "folder", "a.txt")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download").click()
    with open(started.value.path(), "rb") as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        expect(sorted(name for name in archive.namelist() if not name.endswith("/")), ["a.txt", "folder/inside.txt"])

    # The trash.
    lab.select(page, "large.bin", "small.bin")
    page.keyboard.press("Delete")
    page.locator(".toast", has_text="2 items deleted.").wait_for()
    lab.wait_for_names(page, ["folder", "a.txt", "b b.txt"])
    page.get_by_role("button", name="Undo").click()
    lab.wait_for_names(page, ["folder", "a.txt", "b b.txt", "large.bin", "small.bin"])

    # Locks of other users.
    expect(request(lab, "LOCK", f"{inner}a.txt", LOCK, Content_Type="application/xml", Timeout="Second-600")[0], 200)
    page.locator(".lock-badge").wait_for()
    lab.select(page, "a.txt")
    page.keyboard.press("F2")
    page.locator("input.rename").fill("renamed.txt")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Unlock…").click()
    page.get_by_role("button", name="Unlock", exact=True).click()
    page.locator("input.rename").wait_for()
    page.locator("input.rename").fill("renamed.txt")
    page.keyboard.press("Enter")
    lab.wait_for_names(page, ["folder", "b b.txt", "large.bin", "renamed.txt", "small.bin"])

    # Moves, whose Destination is a URL; and a subfolder.
    lab.row(page, "folder").locator(".name-link").click()
    lab.wait_for_names(page, ["inside.txt"])
    expect(page.url, url + "folder/")
    page.go_back()
    lab.wait_for_names(page, ["folder", "b b.txt", "large.bin", "renamed.txt", "small.bin"])

    # Create a folder with a form.
    plain = lab.context(java_script_enabled=False, **options).new_page()
    plain.goto(url + "folder/")
    plain.locator("summary", has_text="New folder").click()
    plain.locator("input[name=name]").fill("by form")
    plain.get_by_role("button", name="Create").click()
    expect(plain.locator("[role=status]").text_content(), "Folder created.")
    expect(plain.url.split("?")[0], url + "folder/")
    context.close()
    assert (lab.share / "folder/by form").is_dir()


@test(is_long=True)
def page_works_below_a_prefix(lab):
    lab.start("--trash", "--prefix", "/dav")
    everything_works(lab, f"http://localhost:{lab.server.port}/dav/", "/dav/")


@test
def page_works_behind_a_proxy_that_terminates_tls_and_removes_a_path(lab):
    proxy = ReverseProxy("/team/files/", "/", certificate(lab))
    try:
        lab.start("--trash", "--trusted-proxy", "127.0.0.1", "--public-url", proxy.url)
        proxy.start(lab.server.port)
        everything_works(lab, proxy.url, "/", ignore_https_errors=True)
    finally:
        proxy.close()


@test(is_long=True)
def page_works_behind_an_untrusted_proxy(lab):
    """The server ignores the forwarded fields and uses the public URL, which is configured."""
    proxy = ReverseProxy("/team/dav/", "/dav/", certificate(lab))
    try:
        lab.start("--trash", "--prefix", "/dav", "--public-url", proxy.url)
        proxy.start(lab.server.port)
        everything_works(lab, proxy.url, "/dav/", ignore_https_errors=True)
    finally:
        proxy.close()
