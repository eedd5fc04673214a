"""Requests, which the C client (programs/client.c) sends, and their expected responses."""

import http.client
import json
import os
import socket
import subprocess
import tempfile

SETUP, WORK, TEARDOWN = range(3)
# The replacements of placeholders in a target, field or body: nine digits, five digits, the token with its brackets.
PLACEHOLDERS = {b"{unit}": (b"\x01n", 9), b"{connection}": (b"\x01c", 5), b"{token}": (b"\x01t", None)}
PATTERN_BYTES = 1 << 20
# Limits segments to the size of those in a network, because loopback uses segments of 64 KiB.
SEGMENT_BYTES = 1460
HOST = "127.0.0.1"


class WrongAnswer(Exception):
    pass


class Request:
    """A request, and its expected response.

    `size`, `entries` and `pattern_offset` are the number of bytes in the response body, the number of its `response`
    elements, and its offset in the pattern; None: any. `generated` bytes of the pattern are sent after `body`, in chunks of
    `chunk` bytes if that is not 0. `takes_token` stores the Lock-Token field for `{token}`.
    """

    def __init__(self, method, target, headers=(), body=b"", statuses=(200,), size=None, entries=None,
                 pattern_offset=None, generated=0, chunk=0, takes_token=False, phase=WORK):
        self.method, self.target, self.headers, self.body = method, target, dict(headers), body
        self.statuses, self.size, self.entries, self.pattern_offset = statuses, size, entries, pattern_offset
        self.generated, self.chunk, self.takes_token, self.phase = generated, chunk, takes_token, phase

    def step(self, port):
        """Returns the step in the format that script.c parses."""
        headers = {"Host": f"{HOST}:{port}", **self.headers}
        if self.chunk:
            headers["Transfer-Encoding"] = "chunked"
        elif self.body or self.generated or self.method in ("PUT",):
            headers["Content-Length"] = str(length(self.body) + self.generated)
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        text = "\r\n".join(lines).replace("{port}", str(port)).encode() + b"\r\n\r\n" + self.body
        for placeholder, (mark, _) in PLACEHOLDERS.items():
            text = text.replace(placeholder, mark)
        numbers = [self.phase, ",".join(map(str, self.statuses)), *(-1 if value is None else value for value in (
            self.size, self.entries, self.pattern_offset)), int(self.takes_token), self.generated, self.chunk, len(text)]
        return " ".join(map(str, numbers)).encode() + b"\n" + text


def length(body):
    """Returns the length of a body after replacing its placeholders."""
    count = len(body)
    for placeholder, (_, width) in PLACEHOLDERS.items():
        if placeholder in body:
            count += body.count(placeholder) * (width - len(placeholder))
    return count


class Client:
    """Runs the C client; `pattern` is the mebibyte that generated bodies and checked content repeat."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.pattern = os.urandom(PATTERN_BYTES)
        self.pattern_path = os.path.join(folder, "pattern")
        with open(self.pattern_path, "wb") as file:
            file.write(self.pattern)

    def play(self, port, requests, connections=1, seconds=3600.0, count=0, hold=False, tls=False,
             started=lambda: None, ended=lambda: None):
        """Sends the requests and returns the output of the client; `started` and `ended` are called before and after
        the work."""
        with tempfile.NamedTemporaryFile(dir=self.folder) as script:
            script.write(b"".join(request.step(port) for request in requests))
            script.flush()
            process = subprocess.Popen(
                [self.program, str(port), script.name, self.pattern_path, str(connections), str(seconds), str(count),
                 str(int(hold)), str(int(tls))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                if process.stdout.readline() == b"ready\n":
                    started()
                    process.stdin.write(b"\n")
                    process.stdin.flush()
                    line = process.stdout.readline()
                    if line:
                        ended()
                    process.stdin.close()
                    if process.wait(timeout=120) == 0 and line:
                        return json.loads(line)
                raise WrongAnswer(process.stderr.read().decode(errors="replace").strip() or "the client died")
            finally:
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout, process.stderr):
                    try:
                        stream.close()
                    except BrokenPipeError:
                        pass


class Connection(http.client.HTTPConnection):
    """A connection for single requests whose responses are checked in more detail."""

    def connect(self):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
        self.sock.settimeout(120)
        self.sock.connect((self.host, self.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def ask(port, method, target, body=None, headers=None):
    """Returns the status, the fields and the body of one response."""
    connection = Connection(HOST, port)
    try:
        connection.request(method, target, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()
