#!/usr/bin/env python3
"""Tests davit nodes whose PostgreSQL servers Patroni manages.

    Tests/Cluster/patroni.py --davit PATH --postgres FOLDER --rclone PATH

The arguments are those of nodes.py. Starts etcd and PostgreSQL servers of its own in FOLDER. Prints a line for each failed
check; the last line is `patroni: N passed, M failed`.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from failover import RECOVERY_SECONDS, Load, Watch, check
from nodes import LOCK, Node, Report
from servers import Server, free_port, wait_until

PROGRAMS = ("etcd", "patroni")
# Patroni makes a standby the primary when the key of the old one in etcd has expired.
TTL_SECONDS = 8


def request(port, path, content=None):
    """Returns the status and the JSON or text of the REST API of Patroni or etcd, or None if it is not running."""
    data = None if content is None else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data), timeout=60) as response:
            status, body = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    except OSError:
        return None, None
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body.decode(errors="replace")


def launch(folder, name, *command):
    """Starts a program as the owner of the folder. It ends with this process."""
    words = ["setpriv", "--pdeathsig", "TERM"]
    if os.geteuid() == 0:
        owner = folder.stat()
        words += [f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups"]
    with open(folder / f"{name}.log", "ab") as log:
        return subprocess.Popen([*words, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


class Etcd:
    def __init__(self, folder, name):
        self.port = free_port()
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        self.process = launch(folder, name, "etcd", "--data-dir", str(folder / name), "--listen-client-urls", client,
                              "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls",
                              peer, "--initial-cluster", f"default={peer}", "--logger", "zap", "--log-level", "error")
        if not wait_until(lambda: request(self.port, "/health")[0] == 200):
            raise RuntimeError((folder / f"{name}.log").read_text()[-2000:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Member(Server):
    """A PostgreSQL server that Patroni creates, starts and stops."""

    def __init__(self, folder, scope, name, etcd, is_strict):
        self.folder, self.name = folder, f"{scope}-{name}"
        self.run = str(folder / "run")
        self.data = folder / self.name
        self.port, self.api = free_port(), free_port()
        programs = self.call("pg_config", "--bindir").stdout.strip()
        settings = {
            "scope": scope, "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self.api}", "connect_address": f"127.0.0.1:{self.api}"},
            "etcd3": {"host": f"127.0.0.1:{etcd.port}"},
            "bootstrap": {
                "dcs": {"ttl": TTL_SECONDS, "loop_wait": 1, "retry_timeout": 3, "synchronous_mode": True,
                        "synchronous_mode_strict": is_strict, "postgresql": {"use_pg_rewind": True, "parameters": {
                            "max_connections": 80}}},
                "initdb": [{"auth": "trust"}, {"encoding": "UTF8"}, "data-checksums", "no-sync"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.port}", "data_dir": str(self.data),
                "bin_dir": programs, "pgpass": str(folder / f"{self.name}.pgpass"),
                "authentication": {"superuser": {"username": "postgres"}, "replication": {"username": "postgres"}},
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                "parameters": {"unix_socket_directories": str(folder), "shared_buffers": "16MB", "fsync": "off"}}}
        self.configuration = folder / f"{self.name}.yml"
        # JSON is YAML.
        self.configuration.write_text(json.dumps(settings))
        self.start()

    def start(self):
        self.process = launch(self.folder, self.name, "patroni", str(self.configuration))

    def kill(self):
        """Ends the server and its Patroni like a power failure."""
        self.process.kill()
        self.process.wait()
        super().kill()

    def is_primary(self):
        return request(self.api, "/primary")[0] == 200

    def is_synchronous(self):
        return request(self.api, "/synchronous")[0] == 200

    def is_standby(self):
        """Whether the server follows the current primary."""
        members = (request(self.api, "/cluster")[1] or {}).get("members", [])
        lines = {member["role"]: member.get("timeline") for member in members if member["role"] == "leader"}
        return any(member["name"] == self.name and member["role"] in ("replica", "sync_standby")
                   and member.get("timeline") == lines.get("leader") and member.get("lag") == 0 for member in members)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        super().__exit__()


def only(holds, members):
    """Waits for the member that meets a condition."""
    found = wait_until(lambda: next((member for member in members if holds(member)), None))
    if not found:
        raise RuntimeError("\n".join(member.log()[-1500:] for member in members))
    return found


def start(report, what, stack, davit, folder, work, count, is_strict):
    """Returns the members of a cluster, its primary, and two nodes."""
    scope = f"patroni-{count}{'-strict' if is_strict else ''}"
    etcd = stack.enter_context(Etcd(folder, f"{scope}-etcd"))
    members = [stack.enter_context(Member(folder, scope, name, etcd, is_strict)) for name in "abc"[:count]]
    primary = only(Member.is_primary, members)
    only(Member.is_synchronous, members)
    for member in members:
        report.check(f"{what}: each other server is a standby", member is primary or wait_until(member.is_standby), member.name)
    primary.make_database()
    places = [word for member in members[1:] for word in ("--database", member.url())]
    nodes = [stack.enter_context(Node(davit, members[0].url(), "team", *places, blobs=work / scope)) for _ in range(2)]
    return members, primary, nodes


def fails(report, davit, folder, work, count, is_strict):
    """The primary fails, returns as a standby, and the cluster is switched over."""
    what = f"{count} servers of Patroni, {'strict' if is_strict else 'not strict'}"
    with contextlib.ExitStack() as stack:
        members, primary, nodes = start(report, what, stack, davit, folder, work, count, is_strict)
        one, two = nodes
        one.status("MKCOL", "/load/")
        for path in ("lines-0", "lines-1", "locked", "moved-6-0", "moved-7-0", "kept"):
            report.check(f"{what}: PUT before", one.status("PUT", f"/load/{path}", b"") == 201)
        token = one.ask("LOCK", "/load/kept", LOCK, Timeout="Second-600")[1]["Lock-Token"]
        load = Load(nodes)
        watches = [Watch(node, f"/watch-{index}") for index, node in enumerate(nodes)]

        def recovers(event, instant):
            for watch in watches:
                took = (watch.first_after(instant) or float("inf")) - instant
                report.check(f"{what}: a node works again within {RECOVERY_SECONDS} s of {event}", took < RECOVERY_SECONDS,
                             f"{took:.1f} s")
                print(f"{what}: a node works again {took:.1f} s after {event}", flush=True)

        try:
            report.check(f"{what}: all writers work before", load.answered(None), str(load.problems[:5]))
            killed = time.monotonic()
            primary.kill()
            report.check(f"{what}: files are not answered", wait_until(lambda: load.unknown_files or load.problems))
            successor = only(Member.is_primary, [member for member in members if member is not primary])
            promoted = time.monotonic()
            print(f"{what}: Patroni promoted a standby {promoted - killed:.1f} s after the primary was killed", flush=True)
            if is_strict:
                # Patroni answers before the server has left recovery, which commits when the server that is left follows it.
                wait_until(lambda: successor.psql("SELECT pg_is_in_recovery()") == "f")
                successor.psql("CREATE TABLE change ()")
                changed = time.monotonic()
                print(f"{what}: the new primary commits {changed - promoted:.1f} s after the promotion", flush=True)
                recovers("the first change of the new primary", changed)
            else:
                recovers("the promotion", promoted)
            load.phase = "promoted"
            report.check(f"{what}: all writers work after the promotion", load.answered(None), str(load.problems[:5]))

            load.phase = "returning"
            primary.start()
            report.check(f"{what}: the old primary returns as a standby", wait_until(primary.is_standby), primary.log()[-1500:])
            load.phase = "returned"
            report.check(f"{what}: all writers work after its return", load.answered(None), str(load.problems[:5]))
            report.check(f"{what}: the promoted server is still the primary", successor.is_primary())

            candidate = only(Member.is_synchronous, members)
            load.phase = "switching"
            status, text = request(successor.api, "/switchover", {"leader": successor.name, "candidate": candidate.name})
            report.check(f"{what}: Patroni accepts a switchover", status == 200, f"{status} {text}")
            report.check(f"{what}: the standby becomes the primary", wait_until(candidate.is_primary), candidate.log()[-1500:])
            recovers("the switchover", time.monotonic())
            load.phase = "switched"
            report.check(f"{what}: all writers work after the switchover", load.answered(None), str(load.problems[:5]))
            report.check(f"{what}: the other server becomes a standby", wait_until(successor.is_standby),
                         successor.log()[-1500:])
        finally:
            load.end()
            for watch in watches:
                watch.end()
        check(report, what, load, nodes)
        report.check(f"{what}: a lock of before is enforced", two.status("PUT", "/load/kept", b"x") == 423)
        report.check(f"{what}: the token of a lock of before is valid",
                     two.status("PUT", "/load/kept", b"x", If=f"({token})") == 204)
        for node in nodes:
            report.check(f"{what}: a node stops", node.stop() == 0, node.text()[-500:])


def waits(report, davit, folder, work):
    """Without any standby, a strict cluster confirms no change until one returns."""
    what = "2 servers of Patroni, strict"
    with contextlib.ExitStack() as stack:
        members, primary, nodes = start(report, what, stack, davit, folder, work, 2, True)
        report.check(f"{what}: PUT before", nodes[0].status("PUT", "/before", b"before") == 201)
        primary.kill()
        successor = only(Member.is_primary, [member for member in members if member is not primary])
        for node in nodes:
            report.check(f"{what}: the new primary is read", wait_until(lambda: node.ask("GET", "/before")[2] == b"before"))
        # Its status says that the change may have been made.
        status = nodes[0].status("PUT", "/alone", b"alone")
        report.check(f"{what}: a change is not confirmed without a standby", status in (500, 503), str(status))
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'davit' AND wait_event = 'SyncRep'"
        report.check(f"{what}: COMMIT waits for a standby", successor.psql(waiting) != "0")
        report.check(f"{what}: files are still read", nodes[1].ask("GET", "/before")[2] == b"before")
        primary.start()
        report.check(f"{what}: the old primary returns as a standby", wait_until(primary.is_standby), primary.log()[-1500:])
        for index, node in enumerate(nodes):
            report.check(f"{what}: changes are confirmed again",
                         wait_until(lambda: node.status("PUT", f"/after-{index}", b"after") in (201, 204)))
        status, _, content = nodes[1].ask("GET", "/alone")
        report.check(f"{what}: the change that was not confirmed is whole or was not made",
                     status == 404 or (status, content) == (200, b"alone"), f"{status} {content[:100]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", type=pathlib.Path, help="not used")
    parser.add_argument("--short", action="store_true", help="only the cluster with three servers")
    options = parser.parse_args()
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        print(f"SKIPPED: the tests with Patroni need {' and '.join(missing)}")
        print("patroni: 0 passed, 0 failed")
        return 0
    report = Report()
    with tempfile.TemporaryDirectory(prefix="davit-patroni-") as work:
        davit, work = options.davit.resolve(), pathlib.Path(work)
        fails(report, davit, options.postgres, work, 3, True)
        if not options.short:
            fails(report, davit, options.postgres, work, 2, False)
            waits(report, davit, options.postgres, work)
    print(f"patroni: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
