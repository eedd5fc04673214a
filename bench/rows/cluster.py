"""Shares in a database, compared with shares in folders, and with pgbench and rclone, which do the work below davit.

These rows belong to `make bench-cluster`, because they need a PostgreSQL server.
"""

import base64
import concurrent.futures
import itertools
import os
import shutil

from client import WrongAnswer, ask
from contest import expect
from servers import SingleLighttpd
from servers.database import (ACCOUNT, PASSWORD, BucketShare, DatabaseShare, DatabaseWithAccounts, FolderShare,
                              FolderWithAccounts, Pgbench, RcloneCopy, TwoNodes, called)

from . import locks, propfind, read
from .base import GIB, KIB, MIB, Load, Request, variant, write_members, write_pattern

# Bytes that a node may read during a COPY: those of the requests and of PostgreSQL.
READ_LIMIT = MIB
BOTH = [FolderShare, DatabaseShare]
Pgbench32 = called(Pgbench, "32 connections", connections=32)
AUTHORIZATION = {"Authorization": "Basic " + base64.b64encode(f"{ACCOUNT}:{PASSWORD}".encode()).decode()}


class ClusterRow(Load):
    """A row in which servers of the database and pgbench take turns."""

    floor = None
    contenders = BOTH
    figures = ("database_cpu", "p99")
    #: The length of a turn, as a multiple of `--seconds`.
    turns_of = 1
    #: The number of connections of pgbench whose statements are recorded, and whether each has a file of its own.
    recorded = 5
    is_per_connection = False

    def sample(self, port, number):
        """Sends the requests of a unit, as connection `number`."""
        raise NotImplementedError

    def ready(self, server, setup):
        super().ready(server, setup)
        setup.postgres.vacuum()
        if isinstance(server, Pgbench):
            server.learn(self, setup)

    def run(self, turn):
        before = turn.setup.postgres.cpu_seconds()
        amount = self.work(turn)
        spent = turn.setup.postgres.cpu_seconds() - before
        turn.outcome = {**turn.outcome, "database_cpu": spent / amount if amount else 0}
        return amount

    def work(self, turn):
        seconds = self.turns_of * turn.setup.seconds
        if isinstance(turn.server, Pgbench):
            return turn.play(self.connections, seconds)
        return turn.play(self.requests(turn), self.connections, seconds=seconds, count=self.count)


class Get(ClusterRow, read.Get):
    name = "get64"
    title = "GET 1 KiB, 64 connections"
    contenders = [*BOTH, Pgbench]

    def sample(self, port, number):
        expect_status(ask(port, "GET", "/content.bin"), 200)


class NotModified(ClusterRow, read.NotModified):
    name = "304"
    contenders = [*BOTH, Pgbench]

    def __init__(self):
        self.tags = {}

    def sample(self, port, number):
        # Only the first sample includes this request, and is not used then.
        if port not in self.tags:
            self.tags[port] = ask(port, "HEAD", "/content.bin")[1]["ETag"]
        expect_status(ask(port, "GET", "/content.bin", headers={"If-None-Match": self.tags[port]}), 304)


class GetWithAccounts(Get):
    name = "get64-accounts"
    title = "GET 1 KiB, 64 connections; accounts: Basic with cached credentials, and rights"
    contenders = [FolderShare, FolderWithAccounts, DatabaseShare, DatabaseWithAccounts]

    def prepare(self, root, setup):
        super().prepare(root, setup)
        os.mkdir(os.path.join(root, "folder"))

    def requests(self, turn):
        fields = AUTHORIZATION if turn.server.name.endswith("accounts") else {}
        return [Request("GET", "/content.bin", fields, size=self.size, pattern_offset=0)]


class Listing(ClusterRow, propfind.Depth1):
    name = "propfind-1k"
    contenders = BOTH
    figures = ("database_cpu", "first_byte", "over_idle")


class AllProperties(Listing):
    """Includes lockdiscovery."""

    name = "propfind-1k-allprop"
    title = "PROPFIND Depth 1, 1,000 members, all properties"

    def requests(self, turn):
        return [Request("PROPFIND", "/folder/", {"Depth": "1"}, statuses=(207,), entries=self.entries())]


class Put(ClusterRow):
    """Creates files in a collection of the turn."""

    name = "put-1k"
    title = "PUT 1 KiB, new names, 32 connections"
    kind = "write"
    contenders = [DatabaseShare, Pgbench32, Pgbench]
    connections = 32
    turns_of = 2
    size = KIB

    def __init__(self):
        self.names = itertools.count(100_000)

    def ready(self, server, setup):
        expect(server, "MKCOL", "/sample/", 201)
        super().ready(server, setup)

    def sample(self, port, number):
        # Text, which pgbench can send like binary content.
        expect_status(ask(port, "PUT", f"/sample/{next(self.names)}", printable(self.size)), 201)

    def before(self, turn):
        turn.setup.postgres.query("CHECKPOINT")
        if turn.port:
            expect(turn, "MKCOL", f"/turn-{turn.number}/", 201)

    def requests(self, turn):
        return [Request("PUT", f"/turn-{turn.number}/{{unit}}", generated=self.size, statuses=(201,))]

    def after(self, turn):
        if turn.port:
            check_members(turn, f"/turn-{turn.number}/", turn.outcome["units"])


class Nodes(ClusterRow):
    """Two clients, of one node or of two."""

    name = "nodes-get"
    title = "GET 1 KiB, two clients with 32 connections each: of the same node, and of two"
    contenders = [DatabaseShare, TwoNodes]
    figures = ("database_cpu",)
    connections = 32
    method = "GET"

    def prepare(self, root, setup):
        write_pattern(os.path.join(root, "content.bin"), KIB, setup)

    def work(self, turn):
        ports = turn.server.ports if isinstance(turn.server, TwoNodes) else (turn.port, turn.port)
        seconds = self.turns_of * turn.setup.seconds

        def play(index):
            return turn.setup.client.play(ports[index], [self.request(turn, index)], self.connections, seconds)["units"]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return sum(turn.metered(lambda: list(pool.map(play, range(2)))))

    def request(self, turn, index):
        return Request("GET", "/content.bin", size=KIB, pattern_offset=0)


class NodesPut(Nodes):
    name = "nodes-put"
    title = "PUT 1 KiB, new names in one collection, two clients with 16 connections each: of the same node, and of two"
    kind = "write"
    connections = 16
    turns_of = 2

    def before(self, turn):
        turn.setup.postgres.query("CHECKPOINT")
        expect(turn, "MKCOL", f"/turn-{turn.number}/", 201)

    def request(self, turn, index):
        return Request("PUT", f"/turn-{turn.number}/{index}-{{unit}}", generated=KIB, statuses=(201,))


class Lock(ClusterRow):
    name = "lock1"
    title = "LOCK + UNLOCK, 1 connection"
    unit = "µs/pair"
    kind = "lock"
    place = "disk"
    contenders = [DatabaseShare, SingleLighttpd, Pgbench]
    connections = 1
    turns_of = 2
    is_per_connection = True

    @property
    def recorded(self):
        return max(2, self.connections)

    def prepare(self, root, setup):
        os.mkdir(os.path.join(root, "folder"))
        for number in range(self.recorded):
            with open(os.path.join(root, "folder", f"1{number:05d}"), "w") as file:
                file.write("x")

    def before(self, turn):
        turn.setup.postgres.query("CHECKPOINT")

    def requests(self, turn):
        target = "/folder/1{connection}"
        return [locks.lock(target), locks.unlock(target)]

    def sample(self, port, number):
        target = f"/folder/1{number:05d}"
        found = expect_status(ask(port, "LOCK", target, locks.BODY, locks.HEADERS), 200)
        expect_status(ask(port, "UNLOCK", target, headers={"Lock-Token": found["Lock-Token"]}), 204)


class Move(ClusterRow):
    """MOVE of collections of several sizes, and PUT of a new file, by one client."""

    name = "move"
    title = "MOVE of a collection, and PUT 1 KiB of a new file, 1 connection"
    kind = "write"
    connections = 1
    turns_of = 2
    contenders = [called(DatabaseShare, "PUT", members=0),
                  *(called(DatabaseShare, f"MOVE of {members:,}", members=members) for members in (1, 1000, 100_000))]

    def ready(self, server, setup):
        if server.members:
            # Outside the folder of the row, which is copied before the start.
            folder = os.path.join(setup.memory, "move-members")
            write_members(os.path.join(folder, "a"), server.members)
            try:
                server.fill(folder)
            finally:
                shutil.rmtree(folder)
        super().ready(server, setup)

    def before(self, turn):
        turn.setup.postgres.query("CHECKPOINT")
        if not turn.server.members:
            expect(turn, "MKCOL", f"/turn-{turn.number}/", 201)

    def requests(self, turn):
        if not turn.server.members:
            return [Request("PUT", f"/turn-{turn.number}/{{unit}}", generated=KIB, statuses=(201,))]
        return [Request("MOVE", f"/{source}/", {"Destination": f"http://127.0.0.1:{{port}}/{target}/"}, statuses=(201,))
                for source, target in ("ab", "ba")]

    def work(self, turn):
        return super().work(turn) * (2 if turn.server.members else 1)

    def after(self, turn):
        if turn.server.members:
            check_members(turn, "/a/", turn.server.members)


class CopyTree(ClusterRow):
    name = "copy"
    unit = "ms/request"
    scale = 1e3
    kind = "write"
    place = "disk"
    shares_root = True
    figures = ("database_cpu", "over_idle")
    connections = 1
    files = 1000
    rounds = 3

    @property
    def title(self):
        return f"COPY of {self.files:,} files of {self.bytes // MIB} MiB, on disk"

    #: Set by `--copy-mib`.
    bytes = 10 * MIB

    def prepare(self, root, setup):
        os.mkdir(os.path.join(root, "source"))
        for number in range(self.files):
            write_pattern(os.path.join(root, "source", f"{number:05d}"), self.bytes, setup)

    def targets(self, turn):
        # The copies in the database are measured together, because one is short.
        return [f"/target-{number}/" for number in range(10 if isinstance(turn.server, DatabaseShare) else 1)]

    def requests(self, turn):
        return [Request("COPY", "/source/", {"Destination": "http://127.0.0.1:{port}" + target, "Depth": "infinity"},
                        statuses=(201,)) for target in self.targets(turn)]

    def work(self, turn):
        before = bytes_read(turn.server.process.pid)
        targets = self.targets(turn)
        turn.play(self.requests(turn), count=1)
        count = bytes_read(turn.server.process.pid) - before
        if isinstance(turn.server, DatabaseShare) and count > READ_LIMIT * len(targets):
            raise WrongAnswer(f"{count} bytes were read")
        return len(targets)

    def after(self, turn):
        for target in self.targets(turn):
            check_members(turn, target, self.files)
            expect(turn, "DELETE", target, 204)


class Upload(ClusterRow):
    name = "s3-up"
    title = "PUT, one stream, content in S3; rclone: copyto to the same service"
    unit = "s/GiB"
    scale = 1
    kind = "write"
    figures = ("over_idle",)
    contenders = [BucketShare, RcloneCopy]
    connections = 1
    rounds = 3
    #: Set by `--s3-mib`.
    size = GIB

    def ready(self, server, setup):
        self.local = os.path.join(setup.memory, "s3-local")
        if not os.path.exists(self.local):
            write_pattern(self.local, self.size, setup)
        super().ready(server, setup)

    def work(self, turn):
        if isinstance(turn.server, RcloneCopy):
            turn.copy(self.local, "bench:rclone/uploaded")
        else:
            turn.play([Request("PUT", "/uploaded", generated=self.size, statuses=(201,))], count=1)
        return self.size / GIB

    def after(self, turn):
        if turn.port:
            expect(turn, "DELETE", "/uploaded", 204)
        else:
            if os.path.getsize(os.path.join(turn.setup.bucket.folder, "rclone", "uploaded")) != self.size:
                raise WrongAnswer("the object has the wrong length")
            turn.setup.bucket.run("deletefile", "bench:rclone/uploaded")


class Download(Upload):
    name = "s3-down"
    title = "GET, one stream, content in S3 and not in the cache; rclone: copyto from the same service"
    kind = "read"

    def ready(self, server, setup):
        super().ready(server, setup)
        if isinstance(server, RcloneCopy):
            setup.bucket.run("copyto", self.local, "bench:rclone/content.bin")
        else:
            setup.client.play(server.port, [Request("PUT", "/content.bin", generated=self.size, statuses=(201,))], count=1)

    def before(self, turn):
        if turn.port:
            turn.server.restart()

    def work(self, turn):
        if isinstance(turn.server, RcloneCopy):
            turn.copy("bench:rclone/content.bin", self.path(turn))
        else:
            turn.play([self.request()], count=1)
        return self.size / GIB

    def request(self):
        return Request("GET", "/content.bin", size=self.size, pattern_offset=0)

    def path(self, turn):
        return os.path.join(turn.server.state, "downloaded")

    def after(self, turn):
        if not turn.port:
            if os.path.getsize(self.path(turn)) != self.size:
                raise WrongAnswer("the file has the wrong length")
            os.remove(self.path(turn))


class CachedDownload(Download):
    name = "s3-cached"
    title = "GET, one stream, content in the cache of an S3 share, and in a folder"
    place = "disk"
    contenders = [FolderShare, BucketShare]

    def before(self, turn):
        # The first one fills the cache.
        turn.setup.client.play(turn.port, [self.request()], count=1)


def expect_status(response, status):
    """Returns the fields of a response."""
    if response[0] != status:
        raise WrongAnswer(f"{response[0]} instead of {status}")
    return response[1]


def check_members(turn, target, count):
    body = expect(turn, "PROPFIND", target, 207, propfind.BODY, {**propfind.HEADERS, "Depth": "1"})
    found = body.count(b"<D:response>") - 1
    if found != count:
        raise WrongAnswer(f"{target} has {found} members instead of {count}")


def bytes_read(process):
    """Returns the number of bytes that a process has read, from files and sockets."""
    with open(f"/proc/{process}/io") as file:
        return int(file.readline().removeprefix("rchar:"))


def printable(size):
    """Returns random text of letters and digits, which is not much smaller when it is compressed."""
    return base64.b32encode(os.urandom(size))[:size]


ROWS = [
    Get,
    NotModified,
    GetWithAccounts,
    Listing,
    AllProperties,
    variant(Listing, "Listing100k", name="propfind-100k", title="PROPFIND Depth 1, 100,000 members", members=100_000),
    Put,
    variant(Put, "Put16k", name="put-16k", title="PUT 16 KiB, new names, 32 connections", size=16 * KIB),
    Lock,
    variant(Lock, "Lock8", name="lock8", title="LOCK + UNLOCK, 8 connections", connections=8,
            contenders=[DatabaseShare, Pgbench]),
    variant(Lock, "Lock32", name="lock32", title="LOCK + UNLOCK, 32 connections", connections=32,
            contenders=[DatabaseShare, Pgbench32, Pgbench]),
    Nodes,
    NodesPut,
    Move,
    CopyTree,
    Upload,
    Download,
    CachedDownload,
]
