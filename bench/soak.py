#!/usr/bin/env python3
"""A soak test under attack: many concurrent attacks, and a client that behaves normally.

    bench/soak.py [--davit PATH] [--minutes 10] [--only ATTACK,...]

The attacks use one account and the addresses of 127.0.0.0/8; the normal client uses another account. The test fails
if the server exits, if a request of the normal client does not succeed, if content is lost, or if the server's memory
exceeds 200 MB. Run it manually: it runs for the given time, and the results depend on the machine.
"""

import argparse
import base64
import http.client
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEMORY_LIMIT_MB = 200
TIMEOUT_SECONDS = 30
PASSWORDS = {"anna": "open sesame", "mallory": "let me in"}


def authorization(name, password=None):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password or PASSWORDS[name]}".encode()).decode()}


class Soak:
    def __init__(self, davit, minutes):
        self.davit, self.seconds = davit, minutes * 60
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="davit-soak."))
        self.share = self.work / "share"
        self.share.mkdir()
        self.deadline = 0.0
        self.counts, self.errors, self.lock = {}, [], threading.Lock()
        self.latencies = {}
        self.memory = []

    # The server

    def start(self):
        users = self.work / "users"
        users.touch(mode=0o600)
        lines = []
        for name, password in PASSWORDS.items():
            run = subprocess.run([self.davit, "password", name], input=password + "\n", text=True, capture_output=True, check=True)
            lines.append(run.stdout.strip())
        users.write_text("\n".join(lines) + "\n")
        self.log = open(self.work / "server.log", "wb")
        self.process = subprocess.Popen(
            [self.davit, "serve", str(self.share), "--host", "127.0.0.1", "--port", "0", "--state-dir", str(self.work / "state"),
             "--user-file", str(users), "--trash"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            if found:
                self.port = int(found.group(1))
                return
        sys.exit("soak: the server did not become ready: " + (self.work / "server.log").read_text()[-2000:])

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024

    # Requests

    def connection(self, source=None):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS, source_address=(source, 0) if source else None)

    def request(self, method, path, body=None, fields=None, name="mallory", connection=None):
        own = connection or self.connection()
        try:
            own.request(method, path, body, {**authorization(name), **(fields or {})})
            answer = own.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            if connection is None:
                own.close()

    def raw(self, text, source=None):
        """Sends a request on a new connection, and returns the socket without reading the response."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_SECONDS, source_address=(source, 0) if source else None)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.sendall(text if isinstance(text, bytes) else text.encode())
        return made

    def head(self, method, path, fields, name="mallory"):
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{key}: {value}" for key, value in {**authorization(name), **fields}.items()]
        return "\r\n".join(lines) + "\r\n\r\n"

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    @property
    def is_over(self):
        return time.monotonic() > self.deadline or self.process.poll() is not None

    # Preparation

    def prepare(self):
        for folder in ("normal", "large", "searched", "listed", "linked"):
            self.request("MKCOL", f"/{folder}")
        self.request("PUT", "/normal/keep.txt", b"to be kept", name="anna")
        block = os.urandom(1 << 20)
        with open(self.share / "large" / "copied.bin", "wb") as file:
            for _ in range(256):
                file.write(block)
        with open(self.share / "large" / "digested.bin", "wb") as file:
            for _ in range(63):
                file.write(block)
        for number in range(100):
            (self.share / "listed" / f"{number}.txt").write_bytes(b"x")
            self.property(f"/listed/{number}.txt", "v", "a" * 900_000)
        (self.share / "searched" / "a.txt").write_bytes(b"x")
        self.property("/searched/a.txt", "v", "ab" * 450_000)
        for number in range(12):
            folder = self.share / "linked" / str(number)
            folder.mkdir()
            for other in range(12):
                if other != number:
                    (folder / f"to-{other}").symlink_to(f"../{other}")
        # Announced uploads must not evict items from the trash.
        for number in range(20):
            self.request("PUT", f"/normal/trashed-{number}.bin", os.urandom(100_000), name="anna")
            self.request("DELETE", f"/normal/trashed-{number}.bin", name="anna")

    def property(self, path, name, value, account="mallory"):
        body = (f'<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><{name} xmlns="urn:soak">{value}</{name}></D:prop></D:set>'
                "</D:propertyupdate>")
        return self.request("PROPPATCH", path, body.encode(), {"Content-Type": "application/xml"}, name=account)

    # Attacks: each is called repeatedly until the end of the test.

    def deep_tree(self):
        """Builds a deep tree with a property near its end, repeatedly copies it to its end and moves the copy to the top,
        starts listings of the share, and removes the tree."""
        top = f"/deep-{random.randrange(1 << 30)}"
        self.request("MKCOL", top)
        path = top
        for _ in range(1000):
            path += "/d"
            if len(path) > 3000 or self.request("MKCOL", path)[0] != 201:
                break
        self.property(path.rsplit("/", 1)[0], "p", "x")
        destination = {"Destination": f"http://127.0.0.1:{self.port}{path}/e"}
        for _ in range(6):
            if self.is_over or self.request("COPY", top + "/d", None, destination)[0] >= 400:
                break
            self.request("MOVE", path + "/e", None, {"Destination": f"http://127.0.0.1:{self.port}{top}/d2", "Overwrite": "T"})
        for connection in [self.raw(self.head("PROPFIND", "/", {"Depth": "infinity"})) for _ in range(12)]:
            connection.close()
        self.request("DELETE", top)

    def searches(self):
        like = "<D:like><D:prop><v xmlns='urn:soak'/></D:prop><D:literal>%" + "a%b" * 100 + "c%</D:literal></D:like>"
        body = ('<D:searchrequest xmlns:D="DAV:"><D:basicsearch><D:select><D:prop><D:getetag/></D:prop></D:select><D:from><D:scope>'
                "<D:href>/searched</D:href><D:depth>infinity</D:depth></D:scope></D:from><D:where><D:or>" + like * 200
                + "</D:or></D:where></D:basicsearch></D:searchrequest>").encode()
        text = self.head("SEARCH", "/searched", {"Content-Type": "application/xml", "Content-Length": len(body)}).encode() + body
        held = [self.raw(text) for _ in range(4)]
        time.sleep(random.random() * 3)
        for connection in held:
            connection.close()

    def slow_listings(self):
        body = b'<D:propfind xmlns:D="DAV:"><D:prop><v xmlns="urn:soak"/></D:prop></D:propfind>'
        text = self.head("PROPFIND", "/listed", {"Depth": "1", "Content-Type": "application/xml", "Content-Length": len(body)}).encode() + body
        held = [self.raw(text) for _ in range(40)]
        end = time.monotonic() + 15
        while time.monotonic() < end and not self.is_over:
            for connection in held:
                try:
                    connection.settimeout(0.05)
                    connection.recv(256)
                except OSError:
                    pass
        for connection in held:
            connection.close()

    def many_uploads(self):
        connection = self.connection()
        metadata = "filename " + base64.b64encode(b"n" * 200).decode() + ",note " + base64.b64encode(os.urandom(16_000)).decode()
        for _ in range(500):
            if self.is_over:
                break
            self.request("POST", "/normal/", b"", {"Tus-Resumable": "1.0.0", "Upload-Length": "1000000000",
                                                               "Upload-Metadata": metadata}, connection=connection)
        connection.close()

    def announced_uploads(self):
        """Announces long uploads that are never sent."""
        held = [self.raw(self.head("PUT", f"/announced-{number}", {"Content-Length": 12_000_000_000})) for number in range(20)]
        time.sleep(1)
        for connection in held:
            connection.close()

    def large_copies(self):
        names = [f"/large/copy-{random.randrange(1 << 30)}.bin" for _ in range(8)]
        held = [self.raw(self.head("COPY", "/large/copied.bin", {"Destination": f"http://127.0.0.1:{self.port}{name}"})) for name in names]
        time.sleep(random.random() * 4)
        for connection in held:
            connection.close()
        for name in names:
            self.request("DELETE", name, None, {"X-Ignored": "1"})

    def digests(self):
        held = [self.raw(self.head("HEAD", "/large/digested.bin", {"Want-Repr-Digest": "sha-512=1"})) for _ in range(8)]
        time.sleep(random.random() * 2)
        for connection in held:
            connection.close()
        # A new version has a new digest.
        os.utime(self.share / "large" / "digested.bin")

    def wrong_passwords(self):
        def guess(number):
            connection = self.connection(source=f"127.1.{random.randrange(256)}.{1 + random.randrange(254)}")
            try:
                connection.request("GET", "/", None, authorization("anna", f"wrong {random.random()}"))
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
        threads = [threading.Thread(target=guess, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def archives(self):
        held = [self.raw(self.head("GET", "/linked/?archive=zip", {"Sec-Fetch-Site": "none"})) for _ in range(4)]
        time.sleep(2)
        for connection in held:
            connection.close()

    def locks(self):
        connection = self.connection()
        for number in range(300):
            if self.is_over:
                break
            owner = "o" * random.choice((10, 8000, 60_000))
            body = ('<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype>'
                    f"<D:owner>{owner}</D:owner></D:lockinfo>").encode()
            self.request("LOCK", f"/searched/lock-{number % 50}", body, {"Content-Type": "application/xml", "Timeout": "Second-30"},
                         connection=connection)
        connection.close()

    ATTACKS = ("deep_tree", "searches", "slow_listings", "many_uploads", "announced_uploads", "large_copies", "digests",
               "wrong_passwords", "archives", "locks")

    def attack(self, name):
        while not self.is_over:
            try:
                getattr(self, name)()
                self.count(name)
            except (OSError, http.client.HTTPException):
                # A refused or closed connection is a valid response to an attack.
                self.count(name + ": connection ended")
                time.sleep(0.1)

    # The client that does ordinary work during the attacks

    def normal(self):
        number = 0
        while not self.is_over:
            number += 1
            name, content = f"/normal/file-{number % 50}.bin", os.urandom(100_000)
            self.expect("PUT", name, content, {}, (201, 204))
            self.expect("GET", name, None, {}, (200,), content)
            self.expect("PROPFIND", "/normal/", None, {"Depth": "1"}, (207,))
            self.expect("GET", "/normal/keep.txt", None, {}, (200,), b"to be kept")
            if number % 10 == 0:
                self.expect("DELETE", name, None, {}, (204,))
            time.sleep(0.05)

    def expect(self, method, path, body, fields, statuses, content=None):
        started = time.monotonic()
        try:
            # Uses a new connection for each request, so that each must be accepted.
            status, _, found = self.request(method, path, body, fields, name="anna")
        except (OSError, http.client.HTTPException) as error:
            status, found = repr(error), None
        took = time.monotonic() - started
        with self.lock:
            self.latencies.setdefault(method, []).append(took)
            if status not in statuses:
                self.errors.append(f"{method} {path}: {status} after {took:.1f} s")
            elif content is not None and found != content:
                self.errors.append(f"{method} {path}: the content differs from what was sent")

    def watch(self):
        while not self.is_over:
            try:
                self.memory.append(self.resident_mb())
            except (OSError, AttributeError):
                pass
            time.sleep(0.5)

    def run(self, attacks):
        self.start()
        try:
            self.prepare()
            self.deadline = time.monotonic() + self.seconds
            threads = [threading.Thread(target=self.attack, args=(name,)) for name in attacks]
            threads += [threading.Thread(target=self.normal), threading.Thread(target=self.watch)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return self.report()
        finally:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(60)
                except subprocess.TimeoutExpired:
                    self.process.kill()
            if os.environ.get("KEEP"): return
            subprocess.run(["rm", "-rf", str(self.work)])  # Python itself would recurse into deep trees.

    def report(self):
        for name in sorted(self.counts):
            print(f"{name}: {self.counts[name]}")
        for method, took in self.latencies.items():
            took.sort()
            print(f"normal {method}: {len(took)} requests, median {1000 * statistics.median(took):.0f} ms, "
                  f"p99 {1000 * took[int(len(took) * 0.99)]:.0f} ms, longest {1000 * took[-1]:.0f} ms")
        if self.process.poll() is not None:
            self.errors.append(f"the server exited with {self.process.returncode}: " + (self.work / "server.log").read_text()[-1500:])
        peak = max(self.memory, default=0)
        print(f"memory: {peak:.0f} MB maximum, {self.memory[-1] if self.memory else 0:.0f} MB at the end")
        if peak > MEMORY_LIMIT_MB:
            self.errors.append(f"{peak:.0f} MB of memory, more than {MEMORY_LIMIT_MB}")
        for error in self.errors[:20]:
            print("FAILED:", error)
        print(f"soak: {'failed' if self.errors else 'passed'}, {len(self.errors)} errors")
        return 1 if self.errors else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default=",".join(Soak.ATTACKS), help="attacks, separated by commas")
    options = parser.parse_args()
    attacks = options.only.split(",")
    unknown = set(attacks) - set(Soak.ATTACKS)
    if unknown:
        parser.error(f"unknown attack {', '.join(sorted(unknown))}; available: {', '.join(Soak.ATTACKS)}")
    return Soak(options.davit, options.minutes).run(attacks)


if __name__ == "__main__":
    sys.exit(main())
