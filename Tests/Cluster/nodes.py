#!/usr/bin/env python3
"""Tests several davit nodes that serve one share in a PostgreSQL database.

    Tests/Cluster/nodes.py --davit PATH --postgres FOLDER

FOLDER contains a running PostgreSQL server with its socket, and the program `run`, as scripts/cluster.sh makes them. Prints a
line for each failed check; the last line is `nodes: N passed, M failed`.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import http.server
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from accounts import accounts, shares
from journal import journal
from uploads import uploads

LIMIT_SECONDS = 120
BLOBS = None
# Of the S3 service.
KEYS = ("ACCESSKEY123", "SECRETKEY456")
DISCOVERY = b'<propfind xmlns="DAV:"><prop><lockdiscovery/></prop></propfind>'
LOCK = (b'<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>'
        b"<owner>anna</owner></lockinfo>")


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what} {detail}".rstrip(), flush=True)


class FinalResponse(http.client.HTTPResponse):
    """A response after those that only announce it (RFC 9110 section 15.2)."""

    def _read_status(self):
        while True:
            version, status, reason = super()._read_status()
            if not 100 < status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


class Node:
    """A davit process with a share of a database, or of a folder in `options`."""

    def __init__(self, davit, database, share, *options, wrapper=(), blobs=None, endpoint="",
                 environment=(), state=None):
        share = ["--database", database, "--blobs", str(blobs or BLOBS), "--share", share] if database else []
        command = [*wrapper, str(davit), "serve", *share, "--host", "127.0.0.1", "--port", "0", "--grace", "5", *options]
        self.log = tempfile.TemporaryFile()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("DAVIT_", "AWS_"))}
        if str(blobs).startswith("s3://"):
            self.cache = tempfile.TemporaryDirectory(prefix="davit-cache-")
            command += ["--state-dir", str(state or self.cache.name)]
            clean.update(AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1], AWS_ENDPOINT_URL=endpoint)
        clean.update(environment)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, env=clean,
                                        start_new_session=True)
        ready = b""
        while not ready.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], LIMIT_SECONDS)[0]:
                raise RuntimeError("davit did not become ready")
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                raise RuntimeError(f"davit ended: {self.text()}")
            ready += data
        self.port = int(re.search(rb"http://[^ ]*:(\d+)/", ready).group(1))

    def text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def ask(self, method, path, body=None, **fields):
        """Returns the status, the fields and the content of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        connection.response_class = FinalResponse
        try:
            names = {name.replace("_", "-"): value for name, value in fields.items()}
            connection.request(method, path, body, names)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def status(self, method, path, body=None, **fields):
        return self.ask(method, path, body, **fields)[0]

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)

    def kill(self):
        # With the program that gives it a wrong clock.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()


def is_restricted(report, node):
    """A node has entered its sandbox, as far as the kernel and the build have one."""
    threads = [path.read_text() for path in pathlib.Path(f"/proc/{node.process.pid}/task").glob("*/status")]
    report.check("all threads of a node are restricted", len(threads) > 2 and (
        all(re.search(r"^Seccomp:\s*2$", thread, re.MULTILINE) for thread in threads)
        or "system calls are not restricted" in node.text()), node.text())


class Balancer:
    """HAProxy, which sends each request to the next node."""

    def __init__(self, work, nodes):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        # The example of the documentation, with other addresses.
        text = (pathlib.Path(__file__).parents[2] / "deploy/haproxy.cfg").read_text()
        text = text.replace("bind :8080", f"bind 127.0.0.1:{self.port}")
        for index, node in enumerate(nodes):
            text = text.replace(f"10.0.0.{11 + index}:8080", f"127.0.0.1:{node.port}")
        path = work / "haproxy.cfg"
        path.write_text(text)
        self.process = subprocess.Popen(["haproxy", "-db", "-q", "-f", str(path)])
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                select.select([], [], [], 0.01)
        raise RuntimeError("HAProxy does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def litmus(report, work, port, what):
    done = subprocess.run(["litmus", "-k", f"http://127.0.0.1:{port}/"], cwd=work, capture_output=True, text=True,
                          errors="replace", timeout=LIMIT_SECONDS * 5)
    passed = sum(int(count) for count in re.findall(r"tests run: (\d+) passed", done.stdout))
    bad = [line for line in done.stdout.splitlines() if "FAIL" in line or "WARNING" in line]
    report.check(f"litmus with {what}", passed == 104 and not bad, f"{passed} passed: {bad} {done.stderr[-300:]}")


def locks(report, one, other):
    """A lock of one node protects a resource from requests to another one."""
    one.ask("MKCOL", "/locks/")
    one.ask("PUT", "/locks/a", b"a")
    one.ask("MKCOL", "/locks/in/")
    one.ask("PUT", "/locks/in/b", b"b")
    status, fields, _ = one.ask("LOCK", "/locks/a", LOCK, Timeout="Second-600", Depth="0")
    token = fields["Lock-Token"]
    report.check("LOCK", status == 200)
    free = other.url("/locks/free")
    refused = [("PUT", "/locks/a", b"x", {}), ("DELETE", "/locks/a", None, {}),
               ("MOVE", "/locks/a", None, {"Destination": free}),
               ("MOVE", "/locks/", None, {"Destination": other.url("/moved/")}),
               ("COPY", "/locks/in/b", None, {"Destination": other.url("/locks/a")}),
               ("PROPPATCH", "/locks/a", property_update(b"1"), {}),
               ("LOCK", "/locks/a", LOCK, {}), ("LOCK", "/locks/", LOCK, {"Depth": "infinity"}),
               # This removes the other members.
               ("DELETE", "/locks/", None, {})]
    for method, path, body, fields in refused:
        status, _, content = other.ask(method, path, body, **fields)
        holds = status == 423 or status == 207 and b"HTTP/1.1 423" in content
        report.check(f"{method} {path} on the other node is refused", holds, f"{status} {content[:300]}")
    one.ask("MKCOL", "/locks/in/")
    one.ask("PUT", "/locks/in/b", b"b")
    report.check("PUT with the token on the other node", other.status("PUT", "/locks/a", b"x", If=f"({token})") == 204)
    report.check("the lock is discovered on the other node", token.strip("<>").encode() in other.ask(
        "PROPFIND", "/locks/a", DISCOVERY, Depth="0")[2])
    report.check("the lock is refreshed on the other node", other.status("LOCK", "/locks/a", If=f"({token})") == 200)
    report.check("UNLOCK on the other node", other.status("UNLOCK", "/locks/a", Lock_Token=token) == 204)
    report.check("PUT after UNLOCK", one.status("PUT", "/locks/a", b"y") == 204)

    status, fields, _ = one.ask("LOCK", "/locks/", LOCK, Depth="infinity")
    token = fields["Lock-Token"]
    for method, path, body in [("PUT", "/locks/in/b", b"x"), ("PUT", "/locks/in/new", b"x"), ("MKCOL", "/locks/in/new/", None),
                               ("DELETE", "/locks/in/b", None)]:
        report.check(f"{method} below a lock on the other node", other.status(method, path, body) == 423)
    other.ask("UNLOCK", "/locks/", Lock_Token=token)

    token = one.ask("LOCK", "/", LOCK, Depth="infinity")[1]["Lock-Token"]
    report.check("PUT below a locked root", other.status("PUT", "/locks/a", b"z") == 423)
    report.check("PUT with the token of the root", other.status("PUT", "/locks/a", b"z", If=f"({token})") == 204)
    report.check("refresh of the lock on the root", other.status("LOCK", "/", If=f"({token})") == 200)
    report.check("UNLOCK of the root", other.status("UNLOCK", "/", Lock_Token=token) == 204)

    one.ask("LOCK", "/locks/a", LOCK, Timeout="Second-1")
    deadline = time.monotonic() + LIMIT_SECONDS
    while other.status("PUT", "/locks/a", b"z") == 423 and time.monotonic() < deadline:
        select.select([], [], [], 0.1)
    report.check("an expired lock does not count", other.status("PUT", "/locks/a", b"z") == 204)


def lock_discovery(report, one, other):
    """A listing contains the locks of each member, and those above it."""
    one.ask("MKCOL", "/found/")
    for number in range(60):
        one.ask("PUT", f"/found/{number}", b"x")
    expected = {}
    for number in (0, 1, 17, 59):
        expected[f"/found/{number}"] = {one.ask("LOCK", f"/found/{number}", LOCK, Depth="0")[1]["Lock-Token"].strip("<>")}
    shared = LOCK.replace(b"exclusive", b"shared")
    expected["/found/2"] = {one.ask("LOCK", "/found/2", shared, Depth="0")[1]["Lock-Token"].strip("<>") for _ in range(2)}
    for node in (one, other):
        for depth in ("1", "infinity"):
            content = node.ask("PROPFIND", "/found/", DISCOVERY, Depth=depth)[2].decode()
            found = {href: set(re.findall(r"opaquelocktoken:[^<]+", rest)) for href, rest in
                     re.findall(r"<D:href>(/found/\d+)</D:href>(.*?)</D:response>", content)}
            report.check(f"locks in a listing of depth {depth}",
                         len(found) == 60 and {href: tokens for href, tokens in found.items() if tokens} == expected,
                         f"{len(found)} members: {[item for item in found.items() if item[1] != expected.get(item[0], set())]}")
    for href, tokens in expected.items():
        for token in tokens:
            report.check(f"UNLOCK {href}", other.status("UNLOCK", href, Lock_Token=f"<{token}>") == 204)
    # The lock of the collection includes its members.
    token = one.ask("LOCK", "/found/", LOCK, Depth="infinity")[1]["Lock-Token"]
    content = other.ask("PROPFIND", "/found/", DISCOVERY, Depth="1")[2].decode()
    report.check("each member names the lock above it", content.count(token.strip("<>")) == 61, content.count(token.strip("<>")))
    other.ask("UNLOCK", "/found/", Lock_Token=token)
    one.ask("DELETE", "/found/")


def statements(report, davit, database, folder):
    """Requests send no more statements to the database than they need."""
    log = folder / "log"

    def count(request):
        """Returns how many statements a request needs. Others are those of the maintenance."""
        counts = []
        for attempt in range(3):
            start = log.stat().st_size
            status = request(attempt)
            with open(log, "rb") as file:
                file.seek(start)
                lines = re.findall(rb"execute s\d+: *(.*)", file.read())
            report.check("a counted request succeeds", 200 <= status < 300, status)
            counts.append(sum(1 for line in lines if b"pg_notify" not in line))
        return min(counts)

    with Node(davit, f"{database} options='-c log_statement=all'", "counted") as node:
        node.ask("MKCOL", "/all/")
        for number in range(300):
            node.ask("PUT", f"/all/{number}", b"x")
        tokens = []
        etag = b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>'

        def lock(number):
            status, fields, _ = node.ask("LOCK", f"/all/{number}", LOCK, Depth="0")
            tokens.append(fields["Lock-Token"])
            return status

        def put(number):
            return node.status("PUT", f"/all/new-{number}", b"x")

        # What a change takes: BEGIN, locks of paths, the look-up, what is changed, two rows about it, and COMMIT.
        table = [
            ("GET", 1, lambda _: node.status("GET", "/all/1")), ("HEAD", 1, lambda _: node.status("HEAD", "/all/1")),
            ("OPTIONS", 1, lambda _: node.status("OPTIONS", "/all/1")),
            ("PROPFIND of one resource", 1, lambda _: node.status("PROPFIND", "/all/1", etag, Depth="0")),
            ("PROPFIND of one resource with its locks", 2, lambda _: node.status("PROPFIND", "/all/1", DISCOVERY, Depth="0")),
            ("PROPFIND of 300 members", 3, lambda _: node.status("PROPFIND", "/all/", etag, Depth="1")),
            ("PROPFIND of 300 members with all properties", 16, lambda _: node.status("PROPFIND", "/all/", Depth="1")),
            ("PUT of new content", 9, put), ("PUT over content", 10, put), ("LOCK", 9, lock),
            ("UNLOCK", 8, lambda number: node.status("UNLOCK", f"/all/{number}", Lock_Token=tokens[number])),
            ("MKCOL", 7, lambda number: node.status("MKCOL", f"/all/c{number}/")),
            ("COPY of a collection", 14, lambda number: node.status("COPY", "/all/", Destination=node.url(f"/c{number}"))),
            ("MOVE of a collection", 12, lambda number: node.status("MOVE", f"/c{number}", Destination=node.url(f"/m{number}"))),
            ("DELETE of a collection", 13, lambda number: node.status("DELETE", f"/m{number}"))]
        for what, limit, request in table:
            found = count(request)
            report.check(f"{what} takes at most {limit} statements", found <= limit, f"{found}")


def lost_updates(report, nodes):
    """Writers that read a number and write the next one with If-Match: each success counts once."""
    nodes[0].ask("PUT", "/counter", b"0")

    def write(seed):
        generator = random.Random(seed)
        count = 0
        for _ in range(20):
            _, fields, content = generator.choice(nodes).ask("GET", "/counter")
            status = generator.choice(nodes).status("PUT", "/counter", b"%d" % (int(content) + 1), If_Match=fields["ETag"])
            if status == 204:
                count += 1
            elif status != 412:
                return f"unexpected status {status}"
        return count

    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        counts = list(pool.map(write, range(32)))
    problems = [count for count in counts if isinstance(count, str)]
    report.check("writers get 204 or 412", not problems, str(problems[:3]))
    if not problems:
        value = int(nodes[-1].ask("GET", "/counter")[2])
        report.check("no update is lost", value == sum(counts) and value > 0, f"{value} after {sum(counts)} updates")


def history(report, nodes, seed):
    """A random history of changes, each on another node, against a model."""
    generator = random.Random(seed)
    base = f"/history{seed}"
    nodes[0].ask("MKCOL", base + "/")
    model = {"": None}
    names = ["a", "b", "c", "é"]

    def path(key):
        return base + "".join("/" + part.replace("é", "%C3%A9") for part in key.split("/") if part)

    def below(key):
        return [other for other in model if other == key or other.startswith(key + "/")]

    for step in range(300):
        node = generator.choice(nodes)
        parents = [key for key, value in model.items() if value is None]
        parent = generator.choice(parents)
        key = f"{parent}/{generator.choice(names)}"
        kind = generator.choice(["PUT", "PUT", "MKCOL", "DELETE", "MOVE", "COPY"])
        if kind == "PUT":
            sizes = [0, 1, 100, 20_000] + ([100_000, 9_000_000] if step % 20 == 0 else [])
            content = os.urandom(generator.choice(sizes))
            status = node.status("PUT", path(key), content)
            if key in model and model[key] is None:
                expected = 405
            else:
                expected = 204 if key in model else 201
                model[key] = content
        elif kind == "MKCOL":
            status = node.status("MKCOL", path(key) + "/")
            expected = 405 if key in model else 201
            model.setdefault(key, None)
        elif kind == "DELETE":
            status = node.status("DELETE", path(key))
            expected = 204 if key in model else 404
            for other in below(key) if key in model else []:
                del model[other]
        else:
            target = f"{generator.choice(parents)}/{generator.choice(names)}"
            fields = {"Destination": node.url(path(target)), "Overwrite": generator.choice("TF")}
            status = node.status(kind, path(key), **fields)
            if key not in model:
                expected = 404
            elif target == key or target.startswith(key + "/") or key.startswith(target + "/"):
                expected = status if status in (403, 409, 412) else 403
            elif target in model and fields["Overwrite"] == "F":
                expected = 412
            else:
                expected = 204 if target in model else 201
                moved = {other.replace(key, target, 1): model[other] for other in below(key)}
                for other in below(target) if target in model else []:
                    del model[other]
                if kind == "MOVE":
                    for other in below(key):
                        del model[other]
                model.update(moved)
        if status != expected:
            report.check(f"step {step} of history {seed}", False, f"{kind} {key}: {status}, expected {expected}")
            return
    found = {}
    pending = [""]
    while pending:
        key = pending.pop()
        content = generator.choice(nodes).ask("PROPFIND", path(key) + "/", Depth="1")[2].decode()
        for href in re.findall(r"<D:href>([^<]*)</D:href>", content):
            name = href[len(base):].rstrip("/").replace("%C3%A9", "é")
            if href.endswith("/"):
                if name != key:
                    pending.append(name)
                found[name] = None
            else:
                found[name] = generator.choice(nodes).ask("GET", href)[2]
    report.check(f"the tree after history {seed}", found == model, f"{sorted(found)} {sorted(model)}")


def content(report, nodes):
    """Content of several segments: ranges, changes of parts, copies."""
    one, two, three = nodes
    size = 20 << 20
    whole = bytearray(random.Random(1).randbytes(size))
    report.check("PUT of 20 MiB", one.status("PUT", "/big", bytes(whole)) == 201)
    report.check("GET of 20 MiB on another node", two.ask("GET", "/big")[2] == bytes(whole))
    for start, end in [(0, 0), (8 << 20, (8 << 20) + 9), ((8 << 20) - 5, (16 << 20) + 5), (size - 1, size - 1)]:
        status, _, part = three.ask("GET", "/big", Range=f"bytes={start}-{end}")
        report.check(f"range {start}-{end}", status == 206 and part == whole[start:end + 1], f"{status} {len(part)}")
    parts = three.ask("GET", "/big", Range=f"bytes=0-9,{(8 << 20) - 2}-{(8 << 20) + 2}")[2]
    report.check("several ranges", bytes(whole[:10]) in parts and bytes(whole[(8 << 20) - 2:(8 << 20) + 3]) in parts)
    etag = one.ask("HEAD", "/big")[1]["ETag"]
    report.check("COPY", two.status("COPY", "/big", Destination=two.url("/copy")) == 201)
    for start, part in [(5, b"x" * 10), ((8 << 20) - 3, b"y" * 9), (size - 2, b"z" * 70_000)]:
        status, fields, _ = two.ask("PATCH", "/big", part, Content_Type="application/x-sabredav-partialupdate",
                                    X_Update_Range=f"bytes={start}-{start + len(part) - 1}")
        whole[start:start + len(part)] = part
        report.check(f"PATCH at {start}", status == 204, status)
    found = three.ask("GET", "/big")
    report.check("the content after PATCH", found[2] == bytes(whole) and found[1]["ETag"] != etag, len(found[2]))
    report.check("the copy is unchanged", len(one.ask("GET", "/copy")[2]) == size)
    report.check("DELETE", one.status("DELETE", "/big") == 204)
    report.check("the copy of removed content", one.ask("GET", "/copy", Range="bytes=0-3")[0] == 206)
    interrupted = socket.create_connection(("127.0.0.1", one.port))
    head = b"PUT /interrupted HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 30000000\r\n\r\n" % one.port
    interrupted.sendall(head + b"i" * 10_000_000)
    interrupted.close()
    report.check("an interrupted upload leaves nothing", one.status("GET", "/interrupted") == 404)


def collector(report, nodes, psql):
    """Objects of uploads that ended, and of removed content, are removed; others stay."""
    def objects():
        return sorted(path.name for path in BLOBS.glob("??/*"))

    def rows(statement):
        return psql("SET search_path = davit; " + statement).split()[1:]

    one, two = nodes[:2]
    one.status("PUT", "/kept", b"k" * 9_000_000)
    one.status("PUT", "/removed", b"r" * 9_000_000)
    one.status("COPY", "/removed", Destination=one.url("/shared"))
    one.status("PUT", "/gone", b"g" * 100_000)
    for name in ("/removed", "/gone"):
        report.check(f"DELETE {name}", one.status("DELETE", name) == 204)
    rows("UPDATE blob SET unreferenced = unreferenced - interval '2 hours' WHERE reference_count = 0")
    deadline = time.monotonic() + LIMIT_SECONDS
    # No node serves the other share any more.
    old = ("reference_count = 0 AND unreferenced < now() - interval '1 hour' "
           "AND share = (SELECT id FROM share WHERE name = 'team')")

    def settled():
        # Those of uploads that have not ended are in use.
        return rows("SELECT count(*) FROM staged_object o WHERE NOT EXISTS "
                    "(SELECT FROM staged_blob b WHERE b.blob = o.blob)") == ["0"] and \
            rows(f"SELECT count(*) FROM blob WHERE {old}") == ["0"] and \
            rows("SELECT count(*) FROM removed_object WHERE NOT is_removed") == ["0"]

    while not settled() and time.monotonic() < deadline:
        one.status("OPTIONS", "/")
        two.status("OPTIONS", "/")
        select.select([], [], [], 0.2)
    used = sorted(set(text.replace("-", "") for text in rows("SELECT DISTINCT object FROM segment")))
    staged = set(text.replace("-", "") for text in rows("SELECT object FROM staged_object"))
    found = [name for name in objects() if name in used or name not in staged]
    report.check("the objects are those of the content", found == used,
                 f"unknown {set(found) - set(used)}, missing {set(used) - set(found)}")
    report.check("content that is used stays", two.ask("GET", "/kept")[2] == b"k" * 9_000_000
                 and two.ask("GET", "/shared")[2] == b"r" * 9_000_000)
    counts = rows("SELECT count(*) FROM blob b WHERE reference_count <> (SELECT count(*) FROM resource r WHERE r.blob = b.id)")
    report.check("the counts of references are right", counts == ["0"], counts)


def outage(report, nodes, run, folder):
    """Without the database, nodes answer 503 immediately, still send the files of the page, and recover by themselves."""
    one = nodes[0]
    one.ask("PUT", "/outage", b"before")
    file = re.search(rb'href="(/[^"]*/page.css)"', one.ask("GET", "/", Accept="text/html")[2])[1].decode()
    subprocess.run([run, "pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop"], check=True, stdout=subprocess.DEVNULL)
    for method, path, body in [("GET", "/outage", None), ("PUT", "/outage", b"x"), ("PROPFIND", "/", None),
                               ("LOCK", "/outage", LOCK), ("DELETE", "/outage", None), ("MKCOL", "/new/", None)]:
        start = time.monotonic()
        status, fields, _ = one.ask(method, path, body)
        report.check(f"{method} without the database", status == 503 and "Retry-After" in fields, f"{status} {fields}")
        report.check(f"{method} without the database does not wait", time.monotonic() - start < 10)
    report.check("a file of the page without the database", one.status("GET", file) == 200, file)
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    subprocess.run([run, "pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start"], check=True,
                   stdout=subprocess.DEVNULL)
    for node in nodes:
        deadline = time.monotonic() + LIMIT_SECONDS
        while (status := node.status("GET", "/outage")) == 503 and time.monotonic() < deadline:
            select.select([], [], [], 0.1)
        report.check("the node recovers", status == 200, status)
    report.check("nothing was changed", one.ask("GET", "/outage")[2] == b"before")


def killed(report, davit, database, share, nodes):
    """A node that is killed in the middle of changes leaves each of them done or not done, and no lock of a path."""
    survivor = nodes[0]
    survivor.ask("MKCOL", "/killed/")
    for attempt in range(5):
        with Node(davit, database, share) as victim:
            answered = {}

            def write(number):
                for count in range(10_000):
                    path = f"/killed/{attempt}-{number}-{count}"
                    try:
                        if victim.status("PUT", path, path.encode()) == 201:
                            answered[path] = True
                    except (OSError, http.client.HTTPException):
                        return

            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                jobs = [pool.submit(write, number) for number in range(8)]
                while len(answered) < 50 and victim.process.poll() is None:
                    select.select([], [], [], 0.005)
                victim.kill()
                for job in jobs:
                    job.result()
        wrong = [path for path in answered if survivor.ask("GET", path)[2] != path.encode()]
        report.check("answered changes of a killed node are there", not wrong, str(wrong[:3]))
    report.check("other nodes can change the same collection", survivor.status("DELETE", "/killed/") == 204)


def stopped(report, davit, database, share, nodes):
    """A node that is stopped in the middle of a change holds up others for a limited time, and cannot commit it later."""
    survivor = nodes[0]
    survivor.ask("MKCOL", "/stopped/")
    with Node(davit, database, share) as victim:
        def write(number):
            results = []
            for count in range(200):
                try:
                    results.append(victim.status("PUT", f"/stopped/{number}", b"%d" % count))
                except (OSError, http.client.HTTPException) as error:
                    results.append(error)
            return results

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(write, number) for number in range(8)]
            select.select([], [], [], 0.3)
            victim.process.send_signal(signal.SIGSTOP)
            start = time.monotonic()
            # The moved collection excludes all changes of the stopped node.
            deadline = start + LIMIT_SECONDS
            while (status := survivor.status("MOVE", "/stopped/", Destination=survivor.url("/moved/"))) == 503 \
                    and time.monotonic() < deadline:
                select.select([], [], [], 0.1)
            took = time.monotonic() - start
            before = sorted(re.findall(rb"<D:href>([^<]*)</D:href>", survivor.ask("PROPFIND", "/moved/", Depth="1")[2]))
            contents = {href: survivor.ask("GET", href.decode())[2] for href in before if not href.endswith(b"/")}
            victim.process.send_signal(signal.SIGCONT)
            results = [result for job in jobs for result in job.result()]
        report.check("a stopped node holds up others for a limited time", status == 201 and took < 15, f"{status} {took}")
        after = {href: survivor.ask("GET", href.decode())[2] for href in contents}
        report.check("a node that wakes up changes nothing of before", after == contents)
        report.check("a node that wakes up works", all(result in (201, 204, 409, 503) for result in results),
                     str(sorted({str(result) for result in results})))


def clocks(report, davit, database, share):
    """Nodes whose clocks are wrong agree on when a lock expires."""
    with Node(davit, database, share, wrapper=["faketime", "-f", "+2h"]) as late, Node(davit, database, share) as right:
        right.ask("PUT", "/clock", b"x")
        token = right.ask("LOCK", "/clock", LOCK, Timeout="Second-600")[1]["Lock-Token"]
        report.check("a node whose clock is fast keeps locks", late.status("PUT", "/clock", b"y") == 423)
        right.ask("UNLOCK", "/clock", Lock_Token=token)
        late.ask("LOCK", "/clock", LOCK, Timeout="Second-600")
        found = right.ask("PROPFIND", "/clock", DISCOVERY, Depth="0")[2]
        seconds = int(re.search(rb"Second-(\d+)", found).group(1))
        report.check("a lock of that node lasts as long as others", 500 < seconds <= 600, str(seconds))


def transfer(report, davit, database, work):
    """A folder is imported, changed from two nodes at the same time, and exported: all its files and properties exist."""
    tree = pathlib.Path(shutil.which("swift")).resolve().parents[1]
    folder, copy, state = work / "folder", work / "copy", work / "state"
    for name in ("include", "share"):
        if (tree / name).is_dir():
            shutil.copytree(tree / name, folder / name)
    (folder / "é").mkdir()
    (folder / "é/empty").touch()
    (folder / "large").write_bytes(random.Random(2).randbytes(20 << 20))
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)
    with Node(davit, None, None, str(folder), "--state-dir", str(state)) as one:
        report.check("PROPPATCH", one.status("PROPPATCH", "/large", property_update(b"kept")) == 207)
        one.stop()

    def run(command, target, *options):
        words = [str(davit), command, str(target), "--database", database, "--blobs", str(BLOBS), "--share", "imported"]
        return subprocess.run([*words, *options], capture_output=True, text=True)

    count = sum(1 for path in folder.rglob("*") if path.is_file())
    done = run("import", folder, "--state-dir", str(state), "--digests", str(work / "digests"))
    report.check("import", done.returncode == 0 and done.stdout.startswith(f"{count} files copied"),
                 done.stdout + done.stderr[-2000:])
    again = run("import", folder, "--state-dir", str(state))
    report.check("importing again copies nothing", again.stdout.startswith(f"0 files copied (0 bytes), {count} unchanged"),
                 again.stdout + again.stderr)
    with Node(davit, database, "imported") as one, Node(davit, database, "imported") as two:
        report.check("the property is imported", b"kept" in one.ask("PROPFIND", "/large", Depth="0")[2])

        def change(number):
            node = (one, two)[number % 2]
            statuses = [node.status("PUT", f"/new-{number}", b"%d" % number * 1000), node.status("MKCOL", f"/folder-{number}/"),
                        node.status("COPY", "/large", Destination=node.url(f"/folder-{number}/large")),
                        node.status("MOVE", f"/new-{number}", Destination=node.url(f"/folder-{number}/moved"))]
            return statuses == [201, 201, 201, 201]

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            report.check("two nodes change the share at the same time", all(pool.map(change, range(16))))
    for number in range(16):
        (folder / f"folder-{number}").mkdir()
        (folder / f"folder-{number}/moved").write_bytes(b"%d" % number * 1000)
        shutil.copyfile(folder / "large", folder / f"folder-{number}/large")
    done = run("export", copy, "--state-dir", str(work / "state2"), "--digests", str(work / "digests2"))
    report.check("export", done.returncode == 0, done.stdout + done.stderr[-2000:])
    different = subprocess.run(["diff", "-r", folder, copy], capture_output=True, text=True)
    report.check("the exported folder is the same", different.returncode == 0, different.stdout[:1000])
    report.check("execute bits", os.access(copy / "program", os.X_OK) and not os.access(copy / "large", os.X_OK))
    report.check("times", int((copy / "large").stat().st_mtime) == int((folder / "large").stat().st_mtime))
    summed = subprocess.run(["sha256sum", "--check", "--quiet", str(work / "digests2")], cwd=copy, capture_output=True,
                            text=True)
    report.check("the digests are right", summed.returncode == 0, summed.stdout[:1000])
    with Node(davit, None, None, str(copy), "--state-dir", str(work / "state2")) as one:
        report.check("the property is exported", b"kept" in one.ask("PROPFIND", "/large", Depth="0")[2])


def property_update(value):
    return b'<propertyupdate xmlns="DAV:"><set><prop><x xmlns="x">' + value + b"</x></prop></set></propertyupdate>"


def replaced(report, davit, run, folder):
    """A node never uses a database that was created again, nor the folder of another database."""
    def create():
        subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", "replaced"], check=True)

    create()
    database = f"host={folder} user=postgres dbname=replaced"
    with Node(davit, database, "team", blobs=BLOBS.with_name("other")) as node:
        report.check("PUT", node.status("PUT", "/a", b"a") == 201)
        subprocess.run([run, "dropdb", "--force", "-h", str(folder), "-U", "postgres", "replaced"], check=True)
        create()
        try:
            Node(davit, database, "team", blobs=BLOBS.with_name("other")).kill()
            report.check("a database cannot use the folder of another one", False)
        except RuntimeError as error:
            report.check("a database cannot use the folder of another one", "content of another database" in str(error),
                         str(error))
        with Node(davit, database, "team", blobs=BLOBS.with_name("new")) as new:
            report.check("a new database with a new folder", new.status("PUT", "/b", b"b") == 201)
            report.check("the old node does not use the new database", node.status("GET", "/b") == 503)
            report.check("the old node changes nothing",
                         node.status("PUT", "/b", b"c") == 503 and new.ask("GET", "/b")[2] == b"b")


def restored(report, davit, run, folder):
    """A backup of the database, with newer content."""
    def postgres(program, *words):
        subprocess.run([run, program, "-h", str(folder), "-U", "postgres", *words], check=True, capture_output=True)

    blobs = BLOBS.with_name("backup")
    names = {f"/{index}": bytes([index]) * (60_000 + index * 2_000_000) for index in range(4)}
    for database in ("backup", "restored"):
        postgres("dropdb", "--if-exists", database)
        postgres("createdb", database)
    with Node(davit, f"host={folder} user=postgres dbname=backup", "team", blobs=blobs) as node:
        for name, content_ in names.items():
            report.check("PUT before the backup", node.status("PUT", name, content_) == 201)
        postgres("pg_dump", "-Fc", "-f", str(folder / "backup.dump"), "backup")
        node.status("PUT", "/later", b"l" * 100_000)
        node.status("PUT", "/3", b"changed" * 100_000)
        node.status("DELETE", "/1")
    postgres("pg_restore", "-d", "restored", str(folder / "backup.dump"))
    location = f"host={folder} user=postgres dbname=restored"
    with Node(davit, location, "team", blobs=blobs) as node:
        for name, content_ in names.items():
            report.check(f"{name} is as it was at the time of the backup", node.ask("GET", name)[2] == content_)
        report.check("what was stored later is not there", node.status("GET", "/later") == 404)
        done = subprocess.run([str(davit), "check", "--database", location, "--blobs", str(blobs), "--content"],
                              capture_output=True, text=True, timeout=LIMIT_SECONDS)
        kinds = {line.split()[0] for line in done.stdout.splitlines() if line.split() and "-" in line.split()[0]}
        report.check("only objects of later content are unknown", done.returncode == 1 and kinds == {"unknown-object"},
                     f"{done.returncode} {done.stdout} {done.stderr}")


class Bucket:
    """An S3 service of rclone, behind a proxy that fails as requested."""

    def __init__(self, rclone, folder):
        (folder / "bucket").mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [str(rclone), "serve", "s3", "--auth-key", ",".join(KEYS), "--addr", f"127.0.0.1:{port}", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                select.select([], [], [], 0.01)
        self.proxy(port)

    def proxy(self, port):
        """Starts the proxy for a service. It sends the field Host of the client, because that is signed."""
        # Faults for the next requests, or for all if `stays` is set.
        self.faults, self.stays, self.counts = [], None, []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(handler):
                content = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
                fault = self.stays or (self.faults.pop(0) if self.faults else None)
                if fault == "wrong upload" and len(content) > 1000:
                    content = content[:500] + bytes([content[500] ^ 1]) + content[501:]
                self.counts.append((handler.command, handler.path, fault))
                if fault == "slow down":
                    handler.send_response(503)
                    handler.send_header("Content-Length", "0")
                    handler.end_headers()
                    return
                if fault == "closed":
                    handler.close_connection = True
                    return
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_SECONDS)
                fields = {name: value for name, value in handler.headers.items() if name.lower() != "expect"}
                connection.request(handler.command, handler.path, content, fields)
                response = connection.getresponse()
                found = response.read()
                if fault == "lost answer":
                    handler.close_connection = True
                    return
                if fault == "wrong bytes" and handler.command == "GET" and len(found) > 1000:
                    found = found[:500] + bytes([found[500] ^ 1]) + found[501:]
                handler.send_response(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                        handler.send_header(name, value)
                handler.send_header("Content-Length", str(len(found)))
                handler.end_headers()
                if fault == "cut":
                    handler.wfile.write(found[:len(found) // 2])
                    handler.close_connection = True
                else:
                    handler.wfile.write(found)

            def handle(handler):
                # Nodes close connections whose answers they do not need any more.
                with contextlib.suppress(ConnectionError):
                    http.server.BaseHTTPRequestHandler.handle(handler)

            do_GET = do_PUT = do_DELETE = do_HEAD = forward

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.process.kill()
        self.process.wait()


def s3(report, davit, database, bucket, objects, psql):
    """Content in a bucket, whose service is slow, loses answers and sends wrong bytes.

    `objects` is the folder with the objects, or something else with a method `glob`.
    """
    global BLOBS
    with bucket:
        def start(*options):
            return Node(davit, database, "team", *options, blobs="s3://bucket/davit", endpoint=bucket.url)

        with start() as one, start() as two, start("--sandbox") as three:
            is_restricted(report, three)
            content(report, [one, two, three])
            uploads(report, [one, two, three], start, psql)
            whole = random.Random(3).randbytes(9_000_000)
            for fault in ("slow down", "closed", "lost answer"):
                bucket.faults = [fault, fault]
                path = "/" + fault.replace(" ", "-")
                report.check(f"PUT while the service fails: {fault}", one.status("PUT", path, whole) == 201)
                report.check(f"both faults were met: {fault}", not bucket.faults)
                report.check(f"the content after: {fault}", two.ask("GET", path)[2] == whole)
            for fault in ("slow down", "closed", "cut", "wrong bytes"):
                path = f"/read-{fault.replace(' ', '-')}"
                one.status("PUT", path, whole)
                bucket.faults = [fault]
                status, _, found = three.ask("GET", path)
                report.check(f"GET while the service fails: {fault}", status == 200 and found == whole,
                             f"{status} {len(found)}")
            one.status("PUT", "/wrong", whole)
            bucket.stays = "wrong bytes"
            report.check("wrong bytes are never sent", two.status("GET", "/wrong") == 502)
            report.check("a log line says so", "is not that which was stored" in two.text(), two.text()[-500:])
            bucket.stays = None
            report.check("the content when the service works again", two.ask("GET", "/wrong")[2] == whole)
            count = len(bucket.counts)
            report.check("GET again", two.ask("GET", "/wrong")[2] == whole)
            report.check("a copy answers the second request", len(bucket.counts) == count, str(bucket.counts[count:]))
            BLOBS = objects
            collector(report, [one, two], psql)
        try:
            other = database.replace("dbname=s3", "dbname=nodes")
            Node(davit, other, "team", blobs="s3://bucket/davit", endpoint=bucket.url).kill()
            report.check("a database cannot use the bucket of another one", False)
        except RuntimeError as error:
            report.check("a database cannot use the bucket of another one", "content of another database" in str(error),
                         str(error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", required=True, type=pathlib.Path, help="an rclone with `serve s3`")
    parser.add_argument("--short", action="store_true", help="only the tests that each change must pass")
    parser.add_argument("--only", choices=["accounts", "backup", "journal", "s3", "uploads"])
    options = parser.parse_args()
    davit, folder = options.davit.resolve(), options.postgres
    run = str(folder / "run")
    subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", "nodes"], check=True)
    database = f"host={folder} user=postgres dbname=nodes"
    report = Report()

    def psql(statement, name="nodes"):
        return subprocess.run([run, "psql", "-h", str(folder), "-U", "postgres", "-At", "-c", statement, name], check=True,
                              capture_output=True, text=True).stdout

    global BLOBS
    with tempfile.TemporaryDirectory(prefix="davit-nodes-") as work:
        work = pathlib.Path(work)
        BLOBS = work / "blobs"

        def start(share="team"):
            return Node(davit, database, share)

        if options.only == "uploads":
            with start() as one, start() as two, start() as three:
                uploads(report, [one, two, three], start, psql)
                collector(report, [one, two], psql)
        if options.only == "journal":
            with start() as one, start() as two, start() as three:
                journal(report, [one, two, three], run, folder)
        if options.only == "accounts":
            accounts(report, davit, lambda: start("ruled"), f"postgresql://postgres@/nodes?host={folder}#ruled")
            shares(report, davit, start, lambda share: f"postgresql://postgres@/nodes?host={folder}#{share}")
        if options.only == "backup":
            restored(report, davit, run, folder)
        if options.short:
            with start() as one, start() as two, start() as three:
                nodes = [one, two, three]
                with Balancer(work, nodes) as balancer:
                    litmus(report, work, balancer.port, "each request on another of three nodes")
                locks(report, one, two)
                lock_discovery(report, one, two)
                lost_updates(report, nodes)
                history(report, nodes, int(os.environ.get("SEED", "3"), 16))
                content(report, nodes)
                collector(report, nodes, psql)
                outage(report, nodes, run, folder)
                for node in nodes:
                    report.check("a node stops", node.stop() == 0, node.text())
            statements(report, davit, database, folder)
            accounts(report, davit, lambda: start("ruled"), f"postgresql://postgres@/nodes?host={folder}#ruled")
            shares(report, davit, start, lambda share: f"postgresql://postgres@/nodes?host={folder}#{share}")
        if options.short or options.only in ("accounts", "backup", "journal", "uploads"):
            print(f"nodes: {report.passed} passed, {report.failed} failed")
            return 1 if report.failed else 0
        subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", "s3"], check=True)
        s3(report, davit, f"host={folder} user=postgres dbname=s3", Bucket(options.rclone, work / "s3"), work / "s3/bucket/davit",
           lambda statement: psql(statement, "s3"))
        BLOBS = work / "blobs"
        if options.only:
            print(f"nodes: {report.passed} passed, {report.failed} failed")
            return 1 if report.failed else 0
        with Node(davit, database, "one") as one:
            litmus(report, work, one.port, "one node")
        with start() as one, start() as two, Node(davit, database, "team", "--sandbox") as three:
            is_restricted(report, three)
            nodes = [one, two, three]
            with Balancer(work, nodes) as balancer:
                litmus(report, work, balancer.port, "each request on another of three nodes")
            locks(report, one, two)
            lock_discovery(report, one, two)
            lost_updates(report, nodes)
            for seed in (1, 2, int(os.environ.get("SEED", "3"), 16)):
                history(report, nodes, seed)
            content(report, nodes)
            uploads(report, nodes, start, psql)
            journal(report, nodes, run, folder)
            killed(report, davit, database, "team", nodes)
            stopped(report, davit, database, "team", nodes)
            collector(report, nodes, psql)
            outage(report, nodes, run, folder)
            for node in nodes:
                report.check("a node stops", node.stop() == 0, node.text())
        clocks(report, davit, database, "team")
        statements(report, davit, database, folder)
        transfer(report, davit, database, work)
        replaced(report, davit, run, folder)
        restored(report, davit, run, folder)
        # At the end, because accounts are those of all shares of a database.
        accounts(report, davit, lambda: start("ruled"), f"postgresql://postgres@/nodes?host={folder}#ruled")
        shares(report, davit, start, lambda share: f"postgresql://postgres@/nodes?host={folder}#{share}")
    print(f"nodes: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
