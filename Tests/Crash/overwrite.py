"""Kills davit from outside, with SIGKILL, at many times during a large overwrite. The result must be the old file or the new
one, never a mix of both."""

import http.client
import os
import random
import select
import socket

from dav import Client
from server import Server

BLOCK_BYTES = 1_000_000
# In the last rounds, everything is sent before the kill: the seconds to wait for the response before the kill.
LATE = (0, 0.0005, 0.001, 0.002, 0.004, 0.008)


class Pattern:
    """Content that can be distinguished from other content: a repeated block of random bytes."""

    def __init__(self, seed, count):
        self.block = random.Random(seed).randbytes(BLOCK_BYTES)
        self.count = count

    def matches(self, stream):
        blocks = 0
        while data := stream.read(BLOCK_BYTES):
            if data != self.block:
                return False
            blocks += 1
        return blocks == self.count


class Upload:
    """A PUT of a pattern that can be sent partially."""

    def __init__(self, port, pattern):
        self.pattern = pattern
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        length = pattern.count * BLOCK_BYTES
        self.socket.sendall(
            f"PUT /large HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n".encode())

    def send(self, blocks):
        for _ in range(blocks):
            self.socket.sendall(self.pattern.block)

    def is_answered(self, seconds):
        return bool(select.select([self.socket], [], [], seconds)[0])

    def status(self):
        """Returns the status, or None if there was no response."""
        try:
            response = http.client.HTTPResponse(self.socket)
            response.begin()
            return response.status
        except (http.client.HTTPException, OSError):
            return None
        finally:
            self.socket.close()


def seen(port, path, patterns):
    """Returns the index of the pattern that the file contains both on disk and over HTTP; None if there is no such pattern."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for index, pattern in enumerate(patterns):
        with open(path, "rb") as file:
            on_disk = pattern.matches(file)
        connection.request("GET", "/large")
        response = connection.getresponse()
        over_http = pattern.matches(response)
        connection.close()
        if on_disk and over_http:
            return index
    return None


def kill_overwrites(options, folder, result):
    root, state = os.path.join(folder, "large-root"), os.path.join(folder, "large-state")
    os.mkdir(root)
    patterns = [Pattern(seed, options.megabytes) for seed in (1, 2)]
    with open(os.path.join(folder, "large-log"), "ab") as log:
        with Server(options.davit, root, state, log) as server:
            upload = Upload(server.port, patterns[0])
            upload.send(options.megabytes)
            if upload.status() != 201:
                result.failures.append("the first PUT failed")
                return
        current = 0
        early = options.outside - len(LATE)
        for round_ in range(options.outside):
            name = f"round {round_ + 1}"
            with Server(options.davit, root, state, log) as server:
                upload = Upload(server.port, patterns[1 - current])
                if round_ < early:
                    upload.send(options.megabytes * round_ // early)
                else:
                    upload.send(options.megabytes)
                    upload.is_answered(LATE[round_ - early])
                server.kill()
                status = upload.status()
            with Server(options.davit, root, state, log) as server:
                # A listing removes leftovers.
                Client(server.port).must("PROPFIND", "/", {"Depth": "1"})
                index = seen(server.port, os.path.join(root, "large"), patterns)
                names = os.listdir(root)
            if index is None:
                result.failures.append(f"{name}: neither old nor new")
                return
            if names != ["large"]:
                result.failures.append(f"{name}: left behind: {names}")
            if index == current and status is not None:
                result.failures.append(f"{name}: returned {status}, but the file is old")
            else:
                result.outcomes["old" if index == current else "new"] += 1
            current = index


