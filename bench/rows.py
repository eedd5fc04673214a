"""The rows of the benchmark. Each does its work once against one server, checks what came back, and says how much
it was: requests, or for large content GiB.
"""

import http.client
import os
import re
import socket
import subprocess

GIB = 1 << 30
# Loopback has segments of 64 KiB, a network does not.
SEGMENT_BYTES = 1460

# What both servers can answer.
PROPFIND_BODY = (
    b'<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/>'
    b"<D:getlastmodified/><D:displayname/></D:prop></D:propfind>")


class WrongAnswer(Exception):
    pass


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
        self.sock.settimeout(120)
        self.sock.connect((self.host, self.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Row:
    unit = "µs/request"
    # CPU seconds per piece of work are shown times this.
    scale = 1e6

    def __init__(self, options):
        self.options = options

    def prepare(self, root):
        """Puts what the row needs into an empty folder."""

    def before(self, root, turn):
        """Before each turn, not measured."""

    def run(self, port, root, turn):
        """Does the work and returns how much it was."""
        raise NotImplementedError

    def after(self, root, turn):
        """After each turn, not measured."""


class LoadRow(Row):
    """Many requests at once, by wrk."""

    connections = 64
    script = None

    def run_wrk(self, port, path, *arguments):
        command = ["wrk", "-t", "1", "-c", str(self.connections), "-d", f"{self.options.seconds}s"]
        if self.script:
            command += ["-s", os.path.join(os.path.dirname(os.path.abspath(__file__)), self.script)]
        command.append(f"http://127.0.0.1:{port}{path}")
        if arguments:
            command += ["--", *arguments]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            raise WrongAnswer(output)
        found = re.search(r"(\d+) requests in ([\d.]+)(m?s)", output)
        if not found:
            raise WrongAnswer(output)
        return int(found.group(1))


class Get(LoadRow):
    name = "get"
    title = "GET 1 KiB, 64 connections"

    def prepare(self, root):
        with open(os.path.join(root, "small.bin"), "wb") as file:
            file.write(os.urandom(1024))

    def run(self, port, root, turn):
        expect_content(port, "/small.bin", os.path.join(root, "small.bin"))
        return self.run_wrk(port, "/small.bin")


class Put(LoadRow):
    name = "put"
    title = "PUT 1 KiB, new names, 32 connections"
    connections = 32
    script = "put.lua"

    def folder(self, root, turn):
        return os.path.join(root, f"turn-{turn}")

    def before(self, root, turn):
        os.mkdir(self.folder(root, turn))

    def run(self, port, root, turn):
        count = self.run_wrk(port, "/", f"/turn-{turn}/")
        names = os.listdir(self.folder(root, turn))
        # Those in flight when the time was over may be there or not.
        if not count <= len(names) <= count + self.connections:
            raise WrongAnswer(f"{count} PUTs were answered and {len(names)} files are there")
        sizes = {os.path.getsize(os.path.join(self.folder(root, turn), name)) for name in names[:1000]}
        if sizes != {1024}:
            raise WrongAnswer(f"files of {sizes} bytes instead of 1024")
        return count

    def after(self, root, turn):
        # The share is on tmpfs, where this leaves nothing behind that would slow the next turn.
        subprocess.run(["rm", "-rf", self.folder(root, turn)], check=True)


class Upload(Row):
    name = "upload"
    title = "PUT 1 GiB"
    unit = "s/GiB"
    scale = 1

    def run(self, port, root, turn):
        block = os.urandom(1 << 20)
        connection = Connection("127.0.0.1", port)
        connection.putrequest("PUT", "/large.bin")
        connection.putheader("Content-Length", str(GIB))
        connection.endheaders()
        for _ in range(GIB // len(block)):
            connection.send(block)
        response = connection.getresponse()
        response.read()
        connection.close()
        if response.status not in (201, 204):
            raise WrongAnswer(f"PUT was answered {response.status}")
        path = os.path.join(root, "large.bin")
        if os.path.getsize(path) != GIB:
            raise WrongAnswer(f"{os.path.getsize(path)} bytes arrived")
        with open(path, "rb") as file:
            file.seek(-len(block), os.SEEK_END)
            if file.read() != block:
                raise WrongAnswer("the last MiB is not what was sent")
        return 1

    def after(self, root, turn):
        os.remove(os.path.join(root, "large.bin"))


class PropFind(Row):
    name = "propfind"
    title = "PROPFIND Depth 1, 10,000 members"
    unit = "ms/request"
    scale = 1e3
    members = 10_000
    requests = 20

    def prepare(self, root):
        folder = os.path.join(root, "many")
        os.mkdir(folder)
        for index in range(self.members):
            with open(os.path.join(folder, f"member number {index:05d}.txt"), "wb") as file:
                file.write(b"x" * (index % 100))

    def run(self, port, root, turn):
        connection = Connection("127.0.0.1", port)
        for _ in range(self.requests):
            connection.request("PROPFIND", "/many/", body=PROPFIND_BODY, headers={"Depth": "1"})
            response = connection.getresponse()
            body = response.read()
            count = len(re.findall(rb"<(?:\w+:)?response[ >]", body))
            if response.status != 207 or count != self.members + 1:
                raise WrongAnswer(f"PROPFIND was answered {response.status} with {count} responses")
            lengths = len(re.findall(rb"<(?:\w+:)?getcontentlength>\d+<", body))
            if lengths < self.members or not body.rstrip().endswith(b"multistatus>"):
                raise WrongAnswer(f"the multistatus is cut off, or has only {lengths} lengths")
        connection.close()
        return self.requests


def expect_content(port, target, path):
    connection = Connection("127.0.0.1", port)
    connection.request("GET", target)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    with open(path, "rb") as file:
        if response.status != 200 or body != file.read():
            raise WrongAnswer(f"GET {target} was answered {response.status} with {len(body)} bytes")


ROWS = [Get, Put, Upload, PropFind]
