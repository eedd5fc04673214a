"""The latency of short requests during copies, digests and searches, which take a long time."""

import os
import shutil
import threading

from client import WrongAnswer, ask
from servers import Davit

from .base import GIB, KIB, MIB, Load, Request, write_members, write_pattern
from .propfind import BODY, HEADERS
from .search import QUERY

Alone = Davit.called("alone")


class Fair(Load):
    kind = "process"
    contenders = [Davit, Alone]
    floor = Alone.name
    connections = 1
    rounds = 2
    seconds = 8
    copies, copy_bytes = 8, 3 * GIB // 2
    digests, digest_bytes = 8, 63 * MIB
    searches, folders, members = 4, 100, 20_000

    def unavailable(self, setup):
        needed = (self.copies + 2) * self.copy_bytes + self.digests * self.digest_bytes
        free = shutil.disk_usage(setup.place(self.place)).free
        return f"requires {needed / GIB:.0f} GiB of memory" if free < needed else None

    def prepare(self, root, setup):
        write_members(os.path.join(root, "list"), 100)
        if os.path.basename(os.path.dirname(root)).endswith("alone"):
            return
        write_pattern(os.path.join(root, "large.bin"), self.copy_bytes, setup)
        for index in range(self.digests):
            write_pattern(os.path.join(root, f"digest-{index}.bin"), self.digest_bytes, setup)
        for index in range(self.folders):
            write_members(os.path.join(root, "folder", f"folder-{index:03d}"), self.members // self.folders)

    def run(self, turn):
        if turn.server.name == Alone.name:
            return turn.play(self.requests(turn), self.connections, self.seconds)
        load = Background(self, turn)
        try:
            return turn.play(self.requests(turn), self.connections, self.seconds)
        finally:
            load.end()

    def after(self, turn):
        for name in os.listdir(turn.root):
            if name.startswith("new-"):
                os.remove(os.path.join(turn.root, name))


class Background:
    """Sends long requests on separate connections, one after the other on each, until the end of the turn."""

    def __init__(self, row, turn):
        self.turn, self.has_ended, self.problems = turn, threading.Event(), []
        jobs = [(self.copy, index) for index in range(row.copies)]
        jobs += [(self.digest, index) for index in range(row.digests)]
        jobs += [(self.search, index) for index in range(row.searches)]
        self.threads = [threading.Thread(target=self.repeat, args=job) for job in jobs]
        for thread in self.threads:
            thread.start()

    def repeat(self, request, index):
        while not self.has_ended.is_set() and not self.problems:
            try:
                request(index)
            except (WrongAnswer, OSError) as problem:
                self.problems.append(str(problem))

    def ask(self, status, *request, **more):
        answered, fields, _ = ask(self.turn.port, *request, **more)
        if answered != status:
            raise WrongAnswer(f"{request[0]} {request[1]} returned {answered}")
        return fields

    def copy(self, index):
        target = f"copy-{index}.bin"
        self.ask(201, "COPY", "/large.bin", headers={"Destination": f"http://127.0.0.1:{self.turn.port}/{target}"})
        os.remove(os.path.join(self.turn.root, target))

    def digest(self, index):
        # A new modification time makes a new version, whose digest is not cached.
        os.utime(os.path.join(self.turn.root, f"digest-{index}.bin"))
        if "Repr-Digest" not in self.ask(200, "HEAD", f"/digest-{index}.bin", headers={"Want-Repr-Digest": "sha-256=9"}):
            raise WrongAnswer("the digest is missing")

    def search(self, index):
        self.ask(207, "SEARCH", "/folder/", body=QUERY, headers=HEADERS)

    def end(self):
        self.has_ended.set()
        for thread in self.threads:
            thread.join()
        if self.problems:
            raise WrongAnswer(self.problems[0])


class FairPut(Fair):
    name = "fair-put"
    title = "PUT 100 KiB while 8 COPYs of 1.5 GiB, 8 digests of 63 MiB and 4 SEARCHes run, 1 connection, tmpfs"

    def requests(self, turn):
        return [Request("PUT", "/new-{connection}.bin", generated=100 * KIB, statuses=(201, 204))]


class FairList(Fair):
    name = "fair-propfind"
    title = "PROPFIND Depth 1 of 100 members while 8 COPYs of 1.5 GiB, 8 digests of 63 MiB and 4 SEARCHes run, 1 connection"

    def requests(self, turn):
        return [Request("PROPFIND", "/list/", {**HEADERS, "Depth": "1"}, BODY, statuses=(207,), entries=101)]


ROWS = [FairPut, FairList]
