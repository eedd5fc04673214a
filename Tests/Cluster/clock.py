"""A database whose clock jumps, and nodes whose clocks are wrong."""

import contextlib
import os
import pathlib
import re
import subprocess

from nodes import DISCOVERY, LOCK, Node
from servers import Cut, Proxy, Server, wait_until

MINUTES = 60


class Clock:
    """The clock of a PostgreSQL server, which runs with faketime."""

    def __init__(self, folder):
        # Postgres needs no rights for the folder of this test.
        self.path = folder / "clock"
        self.set(0)
        programs = subprocess.run([str(folder / "run"), "pg_config", "--bindir"], check=True, capture_output=True, text=True)
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        self.wrapper = folder / "postgres-with-clock"
        self.wrapper.write_text(
            f"#!/bin/sh\nexec env LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={self.path} FAKETIME_NO_CACHE=1 "
            f'FAKETIME_DONT_FAKE_MONOTONIC=1 "{programs.stdout.strip()}/postgres" "$@"\n')
        self.wrapper.chmod(0o755)

    def set(self, minutes):
        self.write(f"{minutes * MINUTES:+d}s")

    def stop(self):
        self.write("2031-02-03 04:05:06")

    def write(self, text):
        # The server may read it at any time.
        new = self.path.with_name("clock.new")
        new.write_text(text + "\n")
        new.chmod(0o644)
        os.replace(new, self.path)


def remaining(node, path):
    found = re.search(rb"Second-(\d+)", node.ask("PROPFIND", path, DISCOVERY, Depth="0")[2])
    return int(found.group(1)) if found else None


def clock(report, davit, folder, work, _rclone):
    own = Clock(folder)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(folder, "clocks", wrapper=own.wrapper))
        server.make_database()
        proxy = stack.enter_context(Proxy(server.port))

        def start(*wrapper, port=None):
            return stack.enter_context(Node(davit, server.url(port), "team", wrapper=wrapper, blobs=work / "clocks"))

        nodes = [start("faketime", "-f", "+1h"), start("faketime", "-f", "-1h"), start(port=proxy.port)]
        early, late, right = nodes
        minutes = 0

        def stored(path):
            """How long a lock lasts, by the clock of the database."""
            return float(server.psql(
                "SELECT coalesce(max(extract(epoch FROM expiry - clock_timestamp())), 0) "
                f"FROM davit.lock l JOIN davit.resource r ON r.id = l.resource WHERE r.name = '{path[1:]}'", database="davit"))

        def lock(node, path, seconds, **fields):
            return node.ask("LOCK", path, LOCK, Timeout=f"Second-{seconds}", Depth="0", **fields)

        for number, node in enumerate(nodes):
            what = ("a fast node", "a slow node", "a right node")[number]
            others = [other for other in nodes if other is not node]
            for name in ("short", "long", "later"):
                node.status("PUT", f"/{name}-{number}", b"x")
            short, long, later = (f"/{name}-{number}" for name in ("short", "long", "later"))
            report.check(f"{what}: LOCK for 5 minutes", lock(node, short, 300)[0] == 200)
            status, fields, _ = lock(node, long, 3600)
            report.check(f"{what}: LOCK for an hour", status == 200)
            report.check(f"{what}: no lock lasts longer than its timeout",
                         290 < stored(short) <= 300 and 3590 < stored(long) <= 3600, f"{stored(short)} {stored(long)}")
            report.check(f"{what}: both are enforced by the others",
                         all(other.status("PUT", path, b"y") == 423 for other in others for path in (short, long)))
            minutes += 10
            own.set(minutes)
            report.check(f"{what}: the lock of 5 minutes ends when the clock of the database jumps by 10 minutes",
                         all(other.status("PUT", short, b"y") == 204 for other in nodes))
            report.check(f"{what}: that of an hour is enforced", all(other.status("PUT", long, b"y") == 423 for other in nodes))
            report.check(f"{what}: it lasts 10 minutes less", 2980 < stored(long) <= 3000, str(stored(long)))
            # The first one after the jump, before this node has read the clock again.
            report.check(f"{what}: LOCK right after the jump", lock(node, later, 300)[0] == 200)
            report.check(f"{what}: it lasts as long as any other", 290 < stored(later) <= 300, str(stored(later)))
            report.check(f"{what}: it is enforced", all(other.status("PUT", later, b"y") == 423 for other in nodes))
            # Without any change of theirs.
            if number == 0:
                report.check("all nodes find out how long a lock lasts",
                             all(wait_until(lambda: 2900 < (remaining(other, long) or 0) <= 3000, 30) for other in nodes),
                             str([remaining(other, long) for other in nodes]))
            token = fields["Lock-Token"]
            report.check(f"{what}: the lock of an hour is refreshed",
                         node.status("LOCK", long, Timeout="Second-600", If=f"({token})") == 200 and 590 < stored(long) <= 600,
                         str(stored(long)))
            report.check(f"{what}: UNLOCK", node.status("UNLOCK", long, Lock_Token=token) == 204)

        # The clock jumps after the statements that read, and before those that write.
        def jump():
            nonlocal minutes
            minutes += 10
            own.set(minutes)

        right.status("PUT", "/between", b"x")
        cut = Cut(0, True, "before", "none", jump)
        proxy.plan(cut)
        status, fields, _ = lock(right, "/between", 300)
        report.check("the clock jumps within LOCK", cut.met and status == 200, status)
        report.check("a lock that was taken while the clock jumped lasts as long as any other", 290 < stored("/between") <= 300,
                     str(stored("/between")))
        report.check("it is enforced", early.status("PUT", "/between", b"y") == 423)
        cut = Cut(0, True, "before", "none", jump)
        proxy.plan(cut)
        status = right.status("LOCK", "/between", Timeout="Second-300", If=f"({fields['Lock-Token']})")
        report.check("the clock jumps within the refresh of a lock", cut.met, status)
        report.check("a lock is refreshed before it ends, or it has ended",
                     (status, stored("/between") > 0) in ((200, True), (412, False)) or status in (500, 503),
                     f"{status} {stored('/between')}")
        proxy.plan(None)

        # Changes in the same instant, with the same length.
        own.stop()
        tags = {}
        for count in range(6):
            node = nodes[count % 3]
            status, fields, _ = node.ask("PUT", "/tags", b"%d" % count)
            report.check("PUT while the clock of the database is stopped", status in (201, 204), status)
            tag = fields.get("ETag") or node.ask("HEAD", "/tags")[1]["ETag"]
            report.check("entity tags of changes in the same instant differ", tag not in tags, f"{tag} {tags}")
            tags[tag] = count
            if count == 2:
                report.check("DELETE while the clock of the database is stopped", node.status("DELETE", "/tags") == 204)
        own.set(minutes)
