#!/usr/bin/env python3
"""Tests shares whose content is in the S3 service of Ceph, which checks signatures and digests.

    Tests/Cluster/ceph.py --davit PATH --postgres FOLDER --rclone PATH

FOLDER contains a running PostgreSQL server with its socket, and the program `run`, as scripts/cluster.sh makes them. Needs the
packages of the group `ceph`. Prints a line for each failed check; the last line is `ceph: N passed, M failed`.
"""

import argparse
import concurrent.futures
import hashlib
import hmac
import http.client
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
import time
import urllib.parse
import urllib.request
import uuid

sys.dont_write_bytecode = True

import nodes  # noqa: E402
from nodes import KEYS, Bucket, Node, Report, content, s3  # noqa: E402

# The programs of the packages of the group `ceph` in scripts/install-packages.sh.
PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
LIMIT_SECONDS = 180


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Ceph:
    """A monitor, an object storage daemon and a gateway, all in one folder, and without authentication between them."""

    def __init__(self, folder, access_key, secret_key, *buckets):
        self.folder = pathlib.Path(folder)
        self.keys = access_key, secret_key
        self.processes = []
        self.folder.mkdir(parents=True)
        try:
            self.start()
            for bucket in buckets:
                self.create(bucket)
        except BaseException:
            self.stop()
            raise

    def start(self):
        new, old, self.port = free_ports(3)
        place, identity = self.folder, str(uuid.uuid4())
        for name in ("mon", "osd", "rgw"):
            (place / name).mkdir()
        (place / "ceph.conf").write_text(f"""\
[global]
fsid = {identity}
mon host = [v2:127.0.0.1:{new},v1:127.0.0.1:{old}]
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
run dir = {place}
admin socket = {place}/$name.asok
log file = {place}/$name.log
keyring = {place}/keyring
mon data = {place}/mon
osd data = {place}/osd
rgw data = {place}/rgw
crash dir = {place}
osd objectstore = memstore
memstore device bytes = 4294967296
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 1000
mon osd full ratio = 0.99
osd failsafe full ratio = 0.99
mon data avail crit = 1
mon data avail warn = 1
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{self.port} tcp_nodelay=1
rgw enable usage log = false
""")
        osd = str(uuid.uuid4())
        self.run("monmaptool", "--create", "--fsid", identity, "--addv", "a", f"[v2:127.0.0.1:{new},v1:127.0.0.1:{old}]",
                 str(place / "monmap"))
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", str(place / "monmap"))
        self.launch("ceph-mon", "-i", "a")
        self.run("ceph", "osd", "new", osd)
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.launch("ceph-osd", "-i", "0")
        self.run("radosgw-admin", "-n", "client.rgw", "user", "create", "--uid", "davit", "--display-name", "davit",
                 "--access-key", self.keys[0], "--secret", self.keys[1])
        self.launch("radosgw", "-n", "client.rgw")
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=LIMIT_SECONDS).close()
                return
            except (OSError, http.client.HTTPException):
                if self.processes[-1].poll() is not None:
                    break
                select.select([], [], [], 0.1)
        raise RuntimeError(f"the S3 service of Ceph does not respond: {self.log('client.rgw')}")

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace")[-1500:] if path.exists() else ""

    def command(self, program, words):
        return [program, "-c", str(self.folder / "ceph.conf"), *words] if program != "monmaptool" else [program, *words]

    def run(self, program, *words):
        done = subprocess.run(self.command(program, words), cwd=self.folder, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stdout[-500:]}{done.stderr[-1500:]}")
        return done.stdout

    def launch(self, program, *words):
        # A session of its own: a failed test must not leave daemons behind.
        self.processes.append(subprocess.Popen(self.command(program, ["-f", *words]), cwd=self.folder, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))

    def send(self, method, path, body=b"", **query):
        """Sends a signed request, and returns the status and the content of the response."""
        host = f"127.0.0.1:{self.port}"
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        digest = hashlib.sha256(body).hexdigest()
        parameters = urllib.parse.urlencode(sorted(query.items()), quote_via=urllib.parse.quote, safe="")
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        canonical = (f"{method}\n/{path}\n{parameters}\nhost:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{now}\n\n"
                     f"host;x-amz-content-sha256;x-amz-date\n{digest}")
        key = ("AWS4" + self.keys[1]).encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        fields = {"Host": host, "x-amz-date": now, "x-amz-content-sha256": digest, "Authorization":
                  f"AWS4-HMAC-SHA256 Credential={self.keys[0]}/{scope}, "
                  f"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={signature}"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_SECONDS)
        try:
            connection.request(method, f"/{path}{'?' if parameters else ''}{parameters}", body, fields)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def create(self, bucket):
        status, content = self.send("PUT", bucket)
        if status != 200:
            raise RuntimeError(f"the bucket cannot be created: {status} {content}")

    def names(self, bucket, prefix=""):
        """Returns the names of all objects whose names begin with a prefix."""
        found, token = [], {}
        while True:
            status, content = self.send("GET", bucket, prefix=prefix, **{"list-type": "2"}, **token)
            if status != 200:
                raise RuntimeError(f"the bucket cannot be listed: {status} {content}")
            found += re.findall("<Key>([^<]*)</Key>", content.decode())
            after = re.search("<NextContinuationToken>([^<]*)<", content.decode())
            if not after:
                return found
            token = {"continuation-token": after[1]}

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Gateway(Bucket):
    """The S3 service of Ceph, behind a proxy that fails as requested."""

    def __init__(self, ceph):
        self.proxy(ceph.port)

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Objects:
    """The objects of a store, as if they were files of a folder."""

    def __init__(self, ceph, bucket, prefix):
        self.ceph, self.bucket, self.prefix = ceph, bucket, prefix

    def glob(self, pattern):
        found = [pathlib.PurePosixPath(name[len(self.prefix):]) for name in self.ceph.names(self.bucket, self.prefix)]
        return [path for path in found if path.match(pattern) and path.parent.name]


def strict(report, davit, database, ceph, check):
    """What other services do not check: signatures, digests, and the pages of long lists."""
    whole = random.Random(4).randbytes(9_000_000)
    url = f"http://127.0.0.1:{ceph.port}"
    # Without the proxy, so that the client waits for 100 (Continue).
    with Node(davit, database, "team", blobs="s3://strict/davit", endpoint=url) as one, \
            Node(davit, database, "team", blobs="s3://strict/davit", endpoint=url) as two, \
            Node(davit, database, "team", blobs="s3://strict/davit", endpoint=url) as three:
        content(report, [one, two, three])
    for what, variables, blobs in (
            ("another secret key", {"AWS_SECRET_ACCESS_KEY": "x" * 20}, "s3://strict/davit"),
            ("another access key", {"AWS_ACCESS_KEY_ID": "UNKNOWN123"}, "s3://strict/davit"),
            ("a bucket that does not exist", {}, "s3://missing/davit")):
        try:
            Node(davit, database, "team", blobs=blobs, endpoint=url, environment=variables.items()).kill()
            report.check(f"a node does not start with {what}", False)
        except RuntimeError as error:
            report.check(f"a node does not start with {what}", True)
            print(f"{what}: {str(error).strip()[-200:]}", flush=True)
    with Gateway(ceph) as gateway, Node(davit, database, "team", blobs="s3://strict/davit", endpoint=gateway.url) as one:
        gateway.faults = ["wrong upload"]
        status = one.status("PUT", "/damaged", whole)
        report.check("the fault was met", not gateway.faults)
        found = one.ask("GET", "/damaged")
        report.check("content that was damaged on the way is never stored", found[0] == 404 or found[2] == whole, found[0])
        report.check("content that was damaged on the way is sent again", status == 201, f"{status} {one.text()[-300:]}")
        report.check("PUT after that", one.status("PUT", "/damaged", whole) in (201, 204)
                     and one.ask("GET", "/damaged")[2] == whole)
    done = check()
    report.check("davit check accepts the bucket", done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:])
    # More than two pages of a list.
    count = 2_100
    extra = sorted("ab" + random.Random(number).randbytes(15).hex() for number in range(count))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = set(pool.map(lambda name: ceph.send("PUT", f"strict/davit/ab/{name}", b"x")[0], extra))
    report.check("further objects are stored", statuses == {200}, statuses)
    done = check()
    found = sorted(re.findall(r"(?m)^unknown-object .*?\b(ab[0-9a-f]{30})\b", done.stdout))
    # It prints at most 1,000 of one kind.
    report.check("davit check finds all unknown objects of a list with several pages",
                 done.returncode == 1 and len(found) == 1_000 and set(found) < set(extra)
                 and f"and {count - 1_000} more" in done.stdout and f"{count} problems found" in done.stderr,
                 f"{len(found)} of {count}: {done.stdout[:300]} {done.stderr[-300:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", type=pathlib.Path, help="not used")
    parser.add_argument("--short", action="store_true", help="not used")
    options = parser.parse_args()
    davit, folder = options.davit.resolve(), options.postgres
    run = str(folder / "run")
    report = Report()
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        sys.exit(f"ceph: not installed: {', '.join(missing)}; see scripts/install-packages.sh ceph")

    def database(name):
        subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", name], check=True)
        return f"host={folder} user=postgres dbname={name}"

    def psql(statement):
        return subprocess.run([run, "psql", "-h", str(folder), "-U", "postgres", "-At", "-c", statement, "s3"], check=True,
                              capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory(prefix="davit-ceph-") as work:
        work = pathlib.Path(work)
        nodes.BLOBS = work / "blobs"
        start = time.monotonic()
        with Ceph(work / "ceph", *KEYS, "bucket", "strict") as ceph:
            print(f"Ceph has started after {time.monotonic() - start:.0f} s", flush=True)
            # Its node must not use the bucket of the other one.
            database("nodes")
            s3(report, davit, database("s3"), Gateway(ceph), Objects(ceph, "bucket", "davit/"), psql)
            location = database("strict")

            def check():
                clean = {name: value for name, value in os.environ.items() if not name.startswith(("DAVIT_", "AWS_"))}
                clean.update(AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1],
                             AWS_ENDPOINT_URL=f"http://127.0.0.1:{ceph.port}")
                words = ["check", "--database", location, "--blobs", "s3://strict/davit", "--content"]
                return subprocess.run([str(davit), *words], capture_output=True, text=True, env=clean,
                                      timeout=LIMIT_SECONDS * 5)

            strict(report, davit, location, ceph, check)
    print(f"ceph: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
