"""Databases that restart, have no connection left or take no changes, and disks that are full."""

import concurrent.futures
import contextlib
import http.client
import os
import random
import re
import socket
import struct
import subprocess

from nodes import LIMIT_SECONDS, LOCK, Bucket, Node, property_update
from servers import Server, wait_until

CHANGES = [("PUT", "/kept", b"changed"), ("PUT", "/new", b"new"), ("MKCOL", "/new/", None), ("DELETE", "/kept", None),
           ("LOCK", "/kept", LOCK), ("PROPPATCH", "/kept", property_update(b"changed"))]


def recovers(report, what, node, path="/kept"):
    report.check(f"{what}: the node works again by itself",
                 wait_until(lambda: node.status("PUT", "/again", b"again") in (201, 204)), node.text()[-500:])
    report.check(f"{what}: nothing has changed", node.ask("GET", path)[2] == b"kept")


def unavailable(report, what, node, changes=CHANGES, may_be_in_doubt=False):
    """Sends changes that cannot be made. If it cannot be found out whether one was committed, the answer is 500."""
    for method, path, body in changes:
        status, fields, content = node.ask(method, path, body)
        report.check(f"{what}: {method} {path} is answered with 503",
                     status == 503 and "Retry-After" in fields or may_be_in_doubt and status == 500, f"{status} {content[:200]}")


def logged(report, what, node, pattern):
    report.check(f"{what}: a line of the log says so", wait_until(lambda: re.search(pattern, node.text()), 15),
                 node.text()[-700:])


def refused(report, what, pattern, davit, url, blobs, share="team"):
    """A node that cannot start says why in one line."""
    try:
        Node(davit, url, share, blobs=blobs).kill()
        report.check(f"{what}: a node does not start", False)
    except RuntimeError as error:
        lines = str(error).removeprefix("davit ended: ").splitlines()
        report.check(f"{what}: a node that starts says so in one line", len(lines) == 1 and re.search(pattern, lines[0]),
                     str(error))


def restarted(report, server, nodes):
    """The database restarts while requests are running."""
    answered, problems = {}, []
    is_ending = []

    def write(number):
        count = 0
        while not is_ending:
            path = f"/restarted-{number}-{count}"
            status = nodes[number % 2].status("PUT", path, path.encode())
            if status == 201:
                answered[path] = True
            elif status not in (500, 503):
                problems.append(f"PUT {path}: {status}")
            count += 1

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(write, number) for number in range(6)]
        try:
            for _ in range(3):
                before = len(answered)
                report.check("restart: requests are answered", wait_until(lambda: len(answered) > before + 30 or problems))
                server.restart()
            before = len(answered)
            report.check("restart: requests are answered after it", wait_until(lambda: len(answered) > before + 30))
        finally:
            is_ending.append(True)
        for job in jobs:
            job.result()
    report.check("restart: requests are answered with 201 or 503", not problems, str(problems[:5]))
    for node in nodes:
        recovers(report, "restart", node)
    found = {path: nodes[0].ask("GET", path) for path in answered}
    wrong = [(path, status) for path, (status, _, content) in found.items() if content != path.encode()]
    report.check("restart: no answered change is missing", not wrong, str(wrong[:5]))


class Clients:
    """Other clients of a server, which take all its connections."""

    def __init__(self, server):
        self.server, self.sockets = server, []
        server.psql("CREATE ROLE other LOGIN")

    def fill(self):
        while True:
            connection = socket.create_connection(("127.0.0.1", self.server.port))
            words = b"\0\x03\0\0user\0other\0database\0postgres\0\0"
            connection.sendall(struct.pack("!I", len(words) + 4) + words)
            with connection.makefile("rb") as answers:
                while (kind := answers.read(1)) not in (b"E", b"Z", b""):
                    answers.read(struct.unpack("!I", answers.read(4))[0] - 4)
            if kind != b"Z":
                connection.close()
                return
            self.sockets.append(connection)

    def close(self, count=None):
        for _ in range(len(self.sockets) if count is None else count):
            self.sockets.pop().close()


def crowded(report, davit, server, node, blobs):
    """Other clients take all connections."""
    what = "no connection is left"
    clients = Clients(server)
    try:
        def has_none():
            clients.fill()
            server.end_sessions()
            clients.fill()
            return server.psql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'davit'") == "0"

        report.check(f"{what}: other clients have all connections", wait_until(has_none))
        unavailable(report, what, node, [("GET", "/kept", None), *CHANGES])
        logged(report, what, node, "remaining connection slots|too many clients")
        refused(report, what, "remaining connection slots|too many clients", davit, server.url(), blobs)
        clients.close(3)
        # One of them may be that for notifications.
        report.check("a few connections are enough", wait_until(lambda: node.status("GET", "/kept") == 200))
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(lambda _: node.status("GET", "/kept"), range(64)))
        report.check("with few connections, requests wait or are answered with 503",
                     set(statuses) <= {200, 503} and 200 in statuses, str(statuses))
    finally:
        clients.close()
    recovers(report, what, node)


def read_only(report, davit, server, node, blobs):
    """The database takes no changes."""
    what = "read-only database"
    server.psql("ALTER ROLE postgres SET default_transaction_read_only = off")
    server.set("default_transaction_read_only", "on")
    report.check(f"{what}: changes are refused", wait_until(lambda: node.status("PUT", "/again", b"x") not in (201, 204)))
    unavailable(report, what, node)
    status, _, content = node.ask("GET", "/kept")
    report.check(f"{what}: GET", status == 200 and content == b"kept", status)
    report.check(f"{what}: PROPFIND", node.status("PROPFIND", "/", Depth="1") == 207)
    logged(report, what, node, "read-only transaction")
    refused(report, what, "read-only transaction", davit, server.url(), blobs)
    server.set("default_transaction_read_only", None)
    recovers(report, what, node)


def rights(report, davit, server, blobs):
    server.psql("CREATE ROLE guest LOGIN", "CREATE DATABASE bare")
    refused(report, "a role without rights for the tables", "permission denied for schema davit", davit,
            server.url(role="guest"), blobs)
    refused(report, "a role without the right to create tables", "permission denied for database bare", davit,
            server.url(role="guest", name="bare"), blobs)
    refused(report, "a role that does not exist", 'role "missing" does not exist', davit, server.url(role="missing"), blobs)
    refused(report, "a database that does not exist", 'database "missing" does not exist', davit, server.url(name="missing"),
            blobs)


def schema(report, davit, server, blobs):
    """Tables of a newer davit, and of an older one that is running."""
    add = "INSERT INTO davit.schema_version (version) SELECT max(version) + 1 FROM davit.schema_version"
    server.psql(add, database="davit")
    refused(report, "a newer schema", r"schema version \d+, but this davit supports at most \d+: use a newer davit", davit,
            server.url(), blobs)
    drop = "DELETE FROM davit.schema_version WHERE version = (SELECT max(version) FROM davit.schema_version)"
    server.psql(drop, database="davit")
    server.psql(drop, database="davit")
    refused(report, "an older schema that a node uses", "must be migrated, but older nodes are using it", davit, server.url(),
            blobs)
    server.psql(add, database="davit")


def password(report, davit, server, blobs):
    server.psql("CREATE ROLE locked LOGIN PASSWORD 'secret-right' IN ROLE davit")
    location = server.url(role="locked:secret-right")
    refused(report, "a wrong password", 'password authentication failed for user "locked"', davit,
            server.url(role="locked:secret-wrong"), blobs)
    with Node(davit, location, "team", blobs=blobs) as node:
        report.check("the right password", node.status("GET", "/kept") == 200)
        server.psql("ALTER ROLE locked PASSWORD 'other'")
        server.end_sessions("locked")
        unavailable(report, "a changed password", node, [("GET", "/kept", None), *CHANGES])
        logged(report, "a changed password", node, "password authentication failed")
        report.check("the log has no password", "secret" not in node.text(), node.text())
        server.psql("ALTER ROLE locked PASSWORD 'secret-right'")
        recovers(report, "a password that is right again", node)


class Disk:
    """A small file system in memory."""

    def __init__(self, path, megabytes, owner=None):
        self.path = path
        path.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)], check=True)
        if owner is not None:
            os.chown(path, owner.stat().st_uid, owner.stat().st_gid)

    def fill(self):
        with open(self.path / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            for size in (1 << 16, 1 << 12):
                with contextlib.suppress(OSError):
                    while filler.write(bytes(size)) == size:
                        pass

    def free(self):
        (self.path / "filler").unlink()

    def grow(self, megabytes):
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(self.path)], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A process that ends may still have a file open.
        if not wait_until(lambda: subprocess.run(["umount", str(self.path)], capture_output=True).returncode == 0, 10):
            subprocess.run(["umount", "-l", str(self.path)], check=True)


def put_large(node, path, content):
    """Returns the status of a request that may be answered before all of it is sent."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=LIMIT_SECONDS)
    try:
        with contextlib.suppress(ConnectionError):
            connection.request("PUT", path, content)
        return connection.getresponse().status
    finally:
        connection.close()


def get_large(node, path):
    """Returns the content of a response that may end early."""
    try:
        return node.ask("GET", path)[2]
    except (http.client.HTTPException, ConnectionError):
        return None


def fill_up(node, name, limit=400):
    """Puts files until one is refused. Returns the status, the number of the file, and those that were stored."""
    stored = {}
    for number in range(limit):
        content = random.Random(number).randbytes(60_000)
        status = node.status("PUT", f"/{name}-{number}", content)
        if status != 201:
            return status, number, stored
        stored[f"/{name}-{number}"] = content
    return 201, limit, stored


def consistent(report, what, davit, location, blobs):
    done = subprocess.run([str(davit), "check", "--database", location, "--blobs", str(blobs), "--content"],
                          capture_output=True, text=True)
    report.check(f"{what}: the database and its content agree", done.returncode == 0, done.stdout + done.stderr)


def full_database(report, davit, folder, server, work):
    """The disk of the tables is full."""
    what, blobs = "a full database", work / "full"
    with Disk(folder / "small-tables", 48, folder) as disk:
        server.psql(f"CREATE TABLESPACE small LOCATION '{disk.path}'")
        server.make_database("filled", "TABLESPACE small")
        location = server.url(name="filled")
        with Node(davit, location, "team", blobs=blobs) as node:
            node.status("PUT", "/kept", b"kept")
            disk.fill()
            status, number, stored = fill_up(node, "full")
            report.check(f"{what}: PUT is answered with 507", status == 507, status)
            report.check(f"{what}: the file does not exist", node.status("GET", f"/full-{number}") == 404)
            report.check(f"{what}: files can be read", node.ask("GET", "/kept")[2] == b"kept" and
                         all(node.ask("GET", path)[2] == content for path, content in stored.items()))
            status = node.status("PUT", "/kept", os.urandom(60_000))
            report.check(f"{what}: PUT over content is answered with 507", status == 507, status)
            logged(report, what, node, "could not extend file|No space left on device")
            disk.free()
            recovers(report, what, node)
            report.check(f"{what}: the file can be stored then", node.status("PUT", f"/full-{number}", b"x" * 60_000) == 201)
            consistent(report, what, davit, location, blobs)
        server.psql("DROP DATABASE filled WITH (FORCE)", "DROP TABLESPACE small")


def full_log(report, davit, folder, work):
    """The disk of PostgreSQL's log is full: the server ends, and is started again when there is space."""
    what, blobs = "a full log", work / "log"
    with contextlib.ExitStack() as stack:
        disk = stack.enter_context(Disk(folder / "small-log", 96, folder))
        server = stack.enter_context(Server(folder, "filled-log", wal=disk.path / "wal"))
        server.make_database()
        node = stack.enter_context(Node(davit, server.url(), "team", blobs=blobs))
        node.status("PUT", "/kept", b"kept")
        disk.fill()
        status, number, stored = fill_up(node, "log", 1000)
        report.check(f"{what}: PUT is answered with 503 or 507", status in (500, 503, 507), status)
        # The server starts again and again, and may end in the middle of a COMMIT.
        unavailable(report, what, node, may_be_in_doubt=True)
        logged(report, what, node, "the database cannot be used")
        disk.free()
        server.stop()
        server.start()
        recovers(report, what, node)
        missing = [path for path, content in stored.items() if node.ask("GET", path)[2] != content]
        report.check(f"{what}: no answered change is missing ({len(stored)} files)", stored and not missing, str(missing))
        status, _, content = node.ask("GET", f"/log-{number}")
        report.check(f"{what}: the file that was not answered is whole or does not exist",
                     status == 404 or content == random.Random(number).randbytes(60_000), status)


def full_blobs(report, davit, folder, server):
    """The disk of large content is full."""
    what, large = "full disk of content", os.urandom(20 << 20)
    server.make_database("content")
    location = server.url(name="content")
    with Disk(folder / "small-content", 12) as disk, Node(davit, location, "team", blobs=disk.path / "blobs") as node:
        node.status("PUT", "/kept", b"kept")
        node.status("PUT", "/large", b"l" * 100_000)
        for path in ("/new", "/large"):
            status = put_large(node, path, large)
            report.check(f"{what}: PUT {path} is answered with 507", status == 507, status)
        report.check(f"{what}: the new file does not exist", node.status("GET", "/new") == 404)
        report.check(f"{what}: the content that exists can be read", node.ask("GET", "/large")[2] == b"l" * 100_000)
        report.check(f"{what}: small files can be stored", node.status("PUT", "/small", b"s") == 201)

        def objects():
            # The node removes what was stored of the files before.
            node.status("OPTIONS", "/")
            return [path.name for path in (disk.path / "blobs").glob("*/*")]

        report.check(f"{what}: nothing of the files remains", wait_until(lambda: len(objects()) == 1), str(objects()))
        disk.grow(64)
        report.check(f"{what}: the file can be stored when there is space", node.status("PUT", "/new", large) == 201)
        report.check(f"{what}: its content", node.ask("GET", "/new")[2] == large)
        recovers(report, what, node)
        consistent(report, what, davit, location, disk.path / "blobs")


def full_cache(report, davit, folder, server, work, rclone):
    """The disk for copies of objects of a bucket is full."""
    what, large = "full disk of copies", os.urandom(20 << 20)
    server.make_database("copies")
    location = server.url(name="copies")
    with Disk(folder / "small-copies", 48) as disk, Bucket(rclone, work / "copies-s3") as bucket:
        def start(state):
            return Node(davit, location, "team", blobs="s3://bucket/davit", endpoint=bucket.url, state=state)

        with start(disk.path / "state") as node, start(work / "state") as other:
            node.status("PUT", "/kept", b"kept")
            other.status("PUT", "/large", large)
            disk.fill()
            status = put_large(node, "/new", large)
            report.check(f"{what}: PUT is answered with 507", status == 507, status)
            report.check(f"{what}: the file does not exist", other.status("GET", "/new") == 404)
            status, fields, _ = node.ask("GET", "/large")
            report.check(f"{what}: GET is answered with 503", status == 503 and "Retry-After" in fields, f"{status} {fields}")
            status, fields, _ = node.ask("HEAD", "/large", Want_Repr_Digest="sha-256=1")
            report.check(f"{what}: HEAD omits the digest", status == 200 and "Repr-Digest" not in fields, f"{status} {fields}")
            logged(report, what, node, "no space for copies")
            report.check(f"{what}: small files can be stored", node.status("PUT", "/small", b"s") == 201)
            disk.free()
            report.check(f"{what}: PUT of another file", node.status("PUT", "/other", large) == 201)
            disk.fill()
            report.check(f"{what}: copies of one file give way to those of another one",
                         wait_until(lambda: get_large(node, "/large") == large))
            disk.free()
            report.check(f"{what}: PUT when there is space", node.status("PUT", "/new", large) == 201)
            report.check(f"{what}: the other node has the content", other.ask("GET", "/new")[2] == large)
            recovers(report, what, node)


def outages(report, davit, folder, work, rclone):
    blobs = work / "outages"
    with Server(folder, "outages", "max_connections=40", hba="host all locked 127.0.0.1/32 scram-sha-256") as server:
        server.make_database()
        with Node(davit, server.url(), "team", blobs=blobs) as one, Node(davit, server.url(), "team", blobs=blobs) as two:
            one.status("PUT", "/kept", b"kept")
            restarted(report, server, [one, two])
            read_only(report, davit, server, one, blobs)
            rights(report, davit, server, blobs)
            schema(report, davit, server, blobs)
            password(report, davit, server, blobs)
            crowded(report, davit, server, one, blobs)
            consistent(report, "outages", davit, server.url(), blobs)
        if os.geteuid() != 0:
            print("outages: disks cannot be filled by another user than root", flush=True)
            return
        full_blobs(report, davit, folder, server)
        full_cache(report, davit, folder, server, work, rclone)
        full_database(report, davit, folder, server, work)
        full_log(report, davit, folder, work)
