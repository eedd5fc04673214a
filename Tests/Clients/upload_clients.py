"""Interrupted uploads: upload_clients.py draft|tus|both DAVIT WORK

Starts davit for a folder in WORK, and kills and restarts it. Prints `ok WHAT` or `not ok WHAT` for each check, and
`done` at the end.
"""

import base64
import contextlib
import ctypes
import hashlib
import mmap
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
import urllib.parse

USER, PASSWORD = os.environ["USER_NAME"], os.environ["PASSWORD"]
SIZE = int(os.environ["MEGABYTES"]) << 20
PIECE = 1 << 20


def fact(what, holds):
    print("ok" if holds else "not ok", what, flush=True)


class Changes:
    """Waits until a file in a folder is created or written to (inotify)."""

    MODIFY, CREATE = 2, 0x100
    # The maximum number of seconds without a write; only a test that hangs reaches it.
    LIMIT_SECONDS = 120

    def __init__(self, folder):
        library = ctypes.CDLL(None, use_errno=True)
        self.descriptor = library.inotify_init1(os.O_CLOEXEC)
        if library.inotify_add_watch(self.descriptor, os.fsencode(folder), self.MODIFY | self.CREATE) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def wait(self):
        if not select.select([self.descriptor], [], [], self.LIMIT_SECONDS)[0]:
            raise RuntimeError(f"nothing was written for {self.LIMIT_SECONDS} seconds")
        os.read(self.descriptor, 1 << 16)


class Relay:
    """A relay in front of the server, which closes connections after a number of bytes, as often as configured."""

    def __init__(self, server, after, cuts):
        self.server, self.after, self.cuts = server, after, cuts
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.server.port))
                threading.Thread(target=self.carry, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self.carry, args=(server, client, False), daemon=True).start()

    def carry(self, source, target, is_sent):
        count = 0
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 18):
                target.sendall(piece)
                count += len(piece)
                if is_sent and count >= self.after and self.cuts > 0:
                    self.cuts -= 1
                    break
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self):
        self.listener.close()


class Server:
    """A davit process that can be restarted on the same port."""

    def __init__(self, binary, work):
        self.binary, self.port, self.process = binary, 0, None
        self.share, self.state = os.path.join(work, "share"), os.path.join(work, "state")
        os.makedirs(self.share)
        self.changes = Changes(self.share)
        self.start()

    def start(self):
        login = ["--user", f"{USER}:{PASSWORD}", "--auth", "basic"] if USER else []
        self.process = subprocess.Popen(
            [self.binary, "serve", self.share, "--host", "127.0.0.1", "--port", str(self.port), "--state-dir",
             self.state, "--grace", "1", *login], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=sys.stderr)
        line = b""
        while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)/", line)):
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                raise RuntimeError("davit exited before it was ready")
            line += data
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}/"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def kill_and_start(self):
        self.kill()
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def hidden_bytes(self):
        """Returns the number of received bytes of incomplete uploads."""
        return sum(os.path.getsize(os.path.join(self.share, name)) for name in os.listdir(self.share)
                   if name.startswith(".davit-"))

    def wait_for_bytes(self, count):
        while self.hidden_bytes() < count:
            self.changes.wait()

    def has(self, name, digest):
        with open(os.path.join(self.share, name), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest


class Draft:
    """A client of draft-ietf-httpbis-resumable-upload. It uses raw sockets to receive interim responses."""

    def __init__(self, server, version=8):
        self.server, self.version = server, version

    def complete(self, is_complete):
        if self.version == 3:
            return f"Upload-Incomplete: ?{0 if is_complete else 1}"
        return f"Upload-Complete: ?{1 if is_complete else 0}"

    def send(self, method, target, lines=(), length=0, body=()):
        """Sends a request with the pieces of `body`, which may be less than `length`; returns the open connection."""
        connection = socket.create_connection(("127.0.0.1", self.server.port), 60)
        head = [f"{method} {urllib.parse.urlsplit(target).path} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}",
                f"Upload-Draft-Interop-Version: {self.version}", f"Content-Length: {length}", *lines]
        if USER:
            head.append("Authorization: Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())
        connection.sendall("\r\n".join(head + ["", ""]).encode())
        for piece in body:
            connection.sendall(piece)
        return connection

    @staticmethod
    def head(connection):
        data = b""
        while not data.endswith(b"\r\n\r\n"):
            byte = connection.recv(1)
            if not byte:
                raise ConnectionError("the server closed the connection")
            data += byte
        status, *lines = data.decode().split("\r\n")
        return int(status.split()[1]), {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}

    def ask(self, method, target, lines=(), content=b""):
        with self.send(method, target, lines, len(content), [content]) as connection:
            while (answer := self.head(connection))[0] < 200:
                pass
            return answer

    def offset(self, upload):
        status, fields = self.ask("HEAD", upload)
        if status != 204:
            raise RuntimeError(f"HEAD returned {status}")
        return int(fields["upload-offset"])

    def begin(self, name, length, pieces):
        """Starts a PUT of the whole content, but sends only `pieces`; returns the open connection and the upload's URL."""
        connection = self.send("PUT", "/" + name, [self.complete(True), f"Upload-Length: {length}"], length)
        status, fields = self.head(connection)
        if status != 104 or fields["upload-draft-interop-version"] != str(self.version):
            raise RuntimeError(f"the interim response is {status}, {fields}")
        for piece in pieces:
            connection.sendall(piece)
        return connection, fields["location"]

    def append(self, upload, offset, length, pieces, is_last, more=()):
        lines = [self.complete(is_last), f"Upload-Offset: {offset}", *more]
        if self.version >= 6:
            lines.append("Content-Type: application/partial-upload")
        return self.send("PATCH", upload, lines, length, pieces)

    def finish(self, upload, data, more=()):
        """Sends the rest in two requests; the last one has the fields in `more`."""
        offset = self.offset(upload)
        middle = offset + (len(data) - offset) // 2
        for end in (middle, len(data)):
            is_last = end == len(data)
            with self.append(upload, offset, end - offset, [data[offset:end]], is_last, more if is_last else ()) as connection:
                while (answer := self.head(connection))[0] < 200:
                    pass
            if answer[0] // 100 != 2:
                raise RuntimeError(f"PATCH returned {answer}")
            offset = end
        return answer


def content(work):
    """Creates a file in which no block occurs twice; returns its path, its content and its digest."""
    block, made, path = os.urandom(PIECE), hashlib.sha256(), os.path.join(work, "sent")
    with open(path, "w+b") as file:
        for number in range(SIZE // PIECE):
            piece = number.to_bytes(8, "big") + block[8:]
            file.write(piece)
            made.update(piece)
        file.flush()
        # The content is mapped into memory, because it may be large.
        return path, memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)), made.hexdigest()


def field(digest):
    """Returns the digest as a Repr-Digest field."""
    return f"Repr-Digest: sha-256=:{base64.b64encode(bytes.fromhex(digest)).decode()}:"


def draft(server, work):
    _, data, digest = content(work)
    for version in (3, 8):
        client, name = Draft(server, version), f"version-{version}"
        connection, upload = client.begin(name, SIZE, [data[:SIZE // 4]])
        connection.close()
        fact(f"{name}: a broken connection", PIECE <= client.offset(upload) <= SIZE // 4)
        # The server is killed while it receives content.
        offset = client.offset(upload)
        connection = client.append(upload, offset, SIZE - offset, [data[offset:SIZE // 2]], True)
        server.wait_for_bytes(SIZE // 2 - 2 * PIECE)
        server.kill_and_start()
        connection.close()
        after = client.offset(upload)
        fact(f"{name}: data received before the kill is kept", offset < after <= SIZE // 2)
        # The server is stopped while it receives content.
        connection = client.append(upload, after, SIZE - after, [data[after:after + 3 * PIECE]], True)
        server.wait_for_bytes(after + PIECE)
        fact(f"{name}: the server stops on request", server.stop() == 0)
        connection.close()
        server.start()
        before, after = after, client.offset(upload)
        fact(f"{name}: data received before the stop is kept", before + PIECE <= after <= before + 3 * PIECE)
        # A request stalls, and a newer request takes over the upload.
        hanging = client.append(upload, after, SIZE - after, [data[after:after + 3 * PIECE]], True)
        server.wait_for_bytes(after + PIECE)
        status, fields = client.finish(upload, data, [field(digest)])
        fact(f"{name}: the rest", status == 201 and fields["upload-offset"] == str(SIZE) and "etag" in fields)
        hanging.close()
        fact(f"{name}: the digest", server.has(name, digest))
        status, fields = client.ask("HEAD", upload)
        complete = fields.get("upload-incomplete") == "?0" or fields.get("upload-complete") == "?1"
        fact(f"{name}: the upload is complete", status == 204 and complete)
    client = Draft(server)
    _, fields = client.ask("PUT", "/careful", [client.complete(False)])
    upload = fields["location"]
    client.finish(upload, data[:5 * PIECE])
    fact("careful creation", server.has("careful", hashlib.sha256(data[:5 * PIECE]).hexdigest()))
    _, fields = client.ask("PUT", "/other", [client.complete(False)], bytes(data[:PIECE]))
    last = client.append(fields["location"], PIECE, PIECE, [data[:PIECE]], True, [field(digest)])
    fact("a wrong digest is refused", client.head(last)[0] == 400
         and client.ask("HEAD", fields["location"])[0] == 404 and not os.path.exists(os.path.join(server.share, "other")))
    last.close()
    _, fields = client.ask("PUT", "/ended", [client.complete(False)], b"begun")
    fact("an upload is deleted", client.ask("DELETE", fields["location"])[0] == 204
         and client.ask("HEAD", fields["location"])[0] == 404)


def tus_client(url):
    from tusclient.client import TusClient

    headers = {}
    if USER:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    return TusClient(url, headers=headers)


def tus(server, work):
    path, _, digest = content(work)
    chunk = SIZE // 8

    def uploader(name, url=None, size=chunk, base=server.url, **more):
        return tus_client(base).uploader(
            path, url=url, chunk_size=size, metadata={"filename": name, "mtime": "1500000000"}, **more)

    first = uploader("tus")
    first.upload(stop_at=3 * chunk)
    fact("the offset is correct", uploader("tus", first.url).get_offset() == 3 * chunk)
    server.kill_and_start()
    # The server is killed while it receives a chunk.
    second = uploader("tus", first.url, SIZE)
    ended = []

    def run():
        try:
            second.upload()
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    server.wait_for_bytes(5 * chunk)
    server.kill_and_start()
    thread.join()
    fact("the client detects the kill", len(ended) == 1)
    third = uploader("tus", first.url)
    fact("data received before the kill is kept", third.get_offset() >= 5 * chunk)
    third.upload()
    fact("the digest", server.has("tus", digest))
    fact("the modification time", int(os.path.getmtime(os.path.join(server.share, "tus"))) == 1500000000)
    fourth = uploader("tus", None, SIZE // 3, upload_checksum=True)
    fourth.upload()
    fact("a name in use gets a number, with checksums", server.has("tus (1)", digest))
    # The client resumes by itself after connections that break in the middle of a chunk.
    relay = Relay(server, chunk + chunk // 2, 4)
    uploader("cut", None, 2 * chunk, relay.url, retries=9, retry_delay=0).upload()
    relay.close()
    fact("broken connections", relay.cuts == 0 and server.has("cut", digest))


def both(server, work):
    """A single upload is started with tus, interrupted by a kill, and completed with the draft."""
    path, data, digest = content(work)
    uploader = tus_client(server.url).uploader(path, chunk_size=SIZE // 4, metadata={"filename": "both"})
    uploader.upload(stop_at=SIZE // 4)
    server.kill_and_start()
    client = Draft(server)
    fact("the offset", client.offset(uploader.url) == SIZE // 4)
    status, _ = client.finish(uploader.url, data)
    fact("the end", status == 201)
    fact("the digest", server.has("both", digest))


def main():
    program, binary, work = sys.argv[1:]
    server = Server(binary, work)
    try:
        {"draft": draft, "tus": tus, "both": both}[program](server, work)
        fact("no temporary data remains", server.hidden_bytes() == 0)
        fact("the server stops", server.stop() == 0)
        print("done")
    except Exception:
        traceback.print_exc()
    finally:
        server.kill()


main()
