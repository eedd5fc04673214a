"""Nodes whose primary fails while they change a share, and whose standby is promoted."""

import concurrent.futures
import contextlib
import re
import signal
import threading
import time

from journal import Client, Events, listed
from nodes import DISCOVERY, LOCK, Node
from servers import Server, wait_until

# How long after a promotion a node may answer with 503: the limit of the requirements.
RECOVERY_SECONDS = 10


class Load:
    """Writers that use two nodes, and record what was answered."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.mutex = threading.Lock()
        self.is_ending = threading.Event()
        # Part of the names of new files.
        self.phase = "before"
        # Content of files, and lines of the shared files, of which a node has confirmed that they are stored; those of which
        # it has not are in the others.
        self.files, self.unknown_files = {}, {}
        self.lines, self.unknown_lines = [set(), set()], [set(), set()]
        self.moved, self.tokens = {}, {}
        self.problems = []
        self.counts = [0] * 8
        bodies = [self.put, self.put, self.append, self.append, self.append, self.lock, self.move, self.move]
        self.threads = [threading.Thread(target=self.guarded, args=(body, number)) for number, body in enumerate(bodies)]
        for thread in self.threads:
            thread.start()

    def guarded(self, body, number):
        try:
            count = 0
            while not self.is_ending.is_set():
                succeeded = body(number, self.nodes[(number + count) % 2], count)
                self.counts[number] += succeeded
                # Longer if a response said to try again.
                self.is_ending.wait(0.01 if succeeded else 0.05)
                count += 1
        except Exception as error:
            self.problems.append(f"{body.__name__}: {error!r}")

    def expect(self, what, status, *statuses):
        """Returns whether a request succeeded; records a problem if the status is neither that nor 500 or 503."""
        if status not in (*statuses, 500, 503):
            self.problems.append(f"{what}: {status}")
        return status in statuses

    def answered(self, number, count=20):
        before = list(self.counts)
        writers = range(len(self.counts)) if number is None else [number]
        return wait_until(lambda: self.problems or all(self.counts[writer] >= before[writer] + count for writer in writers))

    def end(self):
        self.is_ending.set()
        for thread in self.threads:
            thread.join()

    def put(self, number, node, count):
        name = f"/load/{self.phase}-{number}-{count}"
        succeeded = self.expect("PUT", node.status("PUT", name, name.encode()), 201)
        with self.mutex:
            (self.files if succeeded else self.unknown_files)[name] = name.encode()
        return succeeded

    def append(self, number, node, count):
        """Reads a shared file, and writes it with one more line, if it has not changed in the meantime."""
        index = count % 2
        status, fields, content = node.ask("GET", f"/load/lines-{index}")
        if not self.expect("GET", status, 200):
            return False
        line = b"%d:%d" % (number, count)
        other = self.nodes[count // 2 % 2]
        status = other.status("PUT", f"/load/lines-{index}", content + line + b"\n", If_Match=fields["ETag"])
        if status == 412:
            return False
        succeeded = self.expect("PUT with If-Match", status, 204)
        with self.mutex:
            (self.lines if succeeded else self.unknown_lines)[index].add(line)
        return succeeded

    def lock(self, number, node, count):
        status, fields, _ = node.ask("LOCK", "/load/locked", LOCK, Timeout="Second-600")
        if status == 423:
            # The lock of a request that was not answered.
            for token in re.findall(rb"opaquelocktoken:[^<]*", node.ask("PROPFIND", "/load/locked", DISCOVERY, Depth="0")[2]):
                node.status("UNLOCK", "/load/locked", Lock_Token=f"<{token.decode()}>")
            return False
        if not self.expect("LOCK", status, 200):
            return False
        other = self.nodes[(count + 1) % 2]
        self.expect("PUT on the other node while a lock is held", other.status("PUT", "/load/locked", b"x"), 423)
        self.expect("UNLOCK", other.status("UNLOCK", "/load/locked", Lock_Token=fields["Lock-Token"]), 204)
        return True

    def move(self, number, node, count):
        """Moves a file on. After a failure, it is in exactly one place."""
        place = self.moved.setdefault(number, 0)
        names = [f"/load/moved-{number}-{place}", f"/load/moved-{number}-{place + 1}"]
        if self.expect("MOVE", node.status("MOVE", names[0], Destination=node.url(names[1])), 201):
            self.moved[number] = place + 1
            return True
        while not self.is_ending.is_set():
            statuses = [node.status("GET", name) for name in names]
            if all(status in (200, 404) for status in statuses):
                if statuses.count(200) != 1:
                    self.problems.append(f"MOVE that was not answered: {statuses}")
                self.moved[number] = place + statuses.index(200) if 200 in statuses else place
                return False
            self.is_ending.wait(0.1)
        return False


class Watch:
    """Measures when a node changes something again."""

    def __init__(self, node, name):
        self.node, self.name = node, name
        self.times = []
        self.is_ending = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_ending.is_set():
            start = time.monotonic()
            if self.node.status("PUT", self.name, b"watch") in (201, 204):
                self.times.append((start, time.monotonic()))
            self.is_ending.wait(0.05)

    def first_after(self, instant):
        """Waits for the end of the first successful request that began after an instant."""
        return wait_until(lambda: next((end for start, end in self.times if start >= instant), None))

    def end(self):
        self.is_ending.set()
        self.thread.join()


def check(report, what, load, nodes):
    """Everything that was answered exists, once."""
    report.check(f"{what}: requests got a result, or 503", not load.problems, str(load.problems[:5]))
    one, two = nodes
    wrong = [name for number, (name, content) in enumerate(load.files.items())
             if nodes[number % 2].ask("GET", name)[2] != content]
    report.check(f"{what}: no answered file is missing ({len(load.files)} files)", not wrong and load.files, str(wrong[:5]))
    found = {name: two.ask("GET", name) for name in load.unknown_files}
    partial = [(name, status) for name, (status, _, content) in found.items()
               if status != 404 and (status, content) != (200, name.encode())]
    report.check(f"{what}: files that were not answered are whole or do not exist", not partial, str(partial[:5]))
    report.check(f"{what}: both nodes list the same", listed(one, "/load/", False) == listed(two, "/load/", False))
    for index in range(2):
        lines = nodes[index].ask("GET", f"/load/lines-{index}")[2].split()
        missing = load.lines[index] - set(lines)
        report.check(f"{what}: no update is lost ({len(load.lines[index])} updates)", not missing and load.lines[index],
                     str(sorted(missing)[:5]))
        report.check(f"{what}: no update is there twice, and there are no others",
                     len(lines) == len(set(lines)) and set(lines) <= load.lines[index] | load.unknown_lines[index])
    for number, place in load.moved.items():
        statuses = [two.status("GET", f"/load/moved-{number}-{place + step}") for step in (-1, 0, 1)]
        report.check(f"{what}: a file that was moved {place} times is in one place",
                     statuses[0] == 404 and statuses[1:].count(200) == 1, str(statuses))


def fails(report, davit, folder, work, is_stopped):
    what = "a stopped primary" if is_stopped else "a killed primary"
    name = "stopped" if is_stopped else "killed"
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(Server(folder, f"{name}-a"))
        primary.make_database()
        standby = stack.enter_context(Server(folder, f"{name}-b", source=primary))
        primary.set("synchronous_standby_names", "'*'")
        replicas = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        report.check(f"{what}: the standby is synchronous", wait_until(lambda: primary.psql(replicas) == "1"))
        nodes = [stack.enter_context(Node(davit, primary.url(), "team", "--database", standby.url(), *options, blobs=work / name))
                 for options in ([], ["--sandbox"])]
        one, two = nodes
        one.status("MKCOL", "/load/")
        for path in ("lines-0", "lines-1", "locked", "moved-6-0", "moved-7-0", "kept"):
            report.check(f"{what}: PUT before", one.status("PUT", f"/load/{path}", b"") == 201)
        token = one.ask("LOCK", "/load/kept", LOCK, Timeout="Second-600")[1]["Lock-Token"]
        # The token of one is of before all changes, and that of the other one of shortly before the failure.
        clients = [Client([node], "/load/", False) for node in nodes]
        for client in clients:
            client.sync()
        load = Load(nodes)
        watches = [Watch(node, f"/watch-{index}") for index, node in enumerate(nodes)]
        try:
            report.check(f"{what}: all writers work before", load.answered(None), str(load.problems[:5]))
            clients[1].sync()
            primary.signal(signal.SIGSTOP) if is_stopped else primary.kill()
            # Requests are in progress, and fail.
            report.check(f"{what}: files are not answered", wait_until(lambda: load.unknown_files or load.problems))
            standby.promote()
            promoted = time.monotonic()
            for watch in watches:
                took = (watch.first_after(promoted) or float("inf")) - promoted
                report.check(f"{what}: a node works again within {RECOVERY_SECONDS} s of the promotion",
                             took < RECOVERY_SECONDS, f"{took:.1f} s")
                print(f"{what}: a node works again {took:.1f} s after the promotion", flush=True)
            load.phase = "after"
            report.check(f"{what}: all writers work after the promotion", load.answered(None), str(load.problems[:5]))
            if is_stopped:
                woken(report, load, primary, standby, nodes)
        finally:
            load.end()
            for watch in watches:
                watch.end()
        check(report, what, load, nodes)
        report.check(f"{what}: a lock of before is enforced", two.status("PUT", "/load/kept", b"x") == 423)
        report.check(f"{what}: the token of a lock of before is valid",
                     two.status("PUT", "/load/kept", b"x", If=f"({token})") == 204)
        truth = listed(one, "/load/", False)
        for client in clients:
            client.sync()
            report.check(f"{what}: a client that synchronized before knows all changes", client.known == truth,
                         f"unknown {sorted(set(truth.items()) - set(client.known.items()))[:5]}, "
                         f"stale {sorted(set(client.known.items()) - set(truth.items()))[:5]}, {client.resyncs} resyncs")
        readers = [Events(node, "/load/") for node in nodes]
        for reader in readers:
            report.check(f"{what}: a stream of events begins", reader.wait(rb"HTTP/1.1 200 OK(?s:.*)\nid: "))
        one.status("PUT", "/load/event", b"1")
        for reader in readers:
            report.check(f"{what}: both nodes notify of a change", reader.wait(rb"data: \+ /load/event\n"), reader.text[-300:])
            reader.socket.close()


def woken(report, load, primary, standby, nodes):
    """The old primary is running again, and nothing uses it."""
    what = "a woken primary"
    primary.signal(signal.SIGCONT)
    report.check(f"{what} takes statements", wait_until(lambda: primary.psql("SELECT pg_is_in_recovery()") == "f"))
    load.phase = "woken"
    # A node that has to connect again compares both servers.
    for _ in range(3):
        standby.end_sessions()
        report.check(f"{what}: all writers work after new connections", load.answered(None, 5), str(load.problems[:5]))
    rows = "SELECT count(*) FROM davit.resource WHERE convert_from(name, 'UTF8') ~ '^(after|woken|new)'"
    later = primary.psql(rows, database="davit")
    report.check(f"{what} has no row of later changes", later == "0", later)
    # Without the promoted server, nodes answer nothing from the old one.
    standby.stop("fast")
    requests = (("GET", "/load/kept", None), ("PUT", "/load/new", b"x"), ("PROPFIND", "/load/", None))
    statuses = [node.status(*request) for node in nodes for _ in range(5) for request in requests]
    report.check(f"{what}: nodes do not use it while the promoted server is stopped", set(statuses) == {503}, str(statuses))
    standby.start()
    for node in nodes:
        report.check(f"{what}: nodes return to the promoted server",
                     wait_until(lambda: node.status("GET", "/load/kept") == 200))
    later = primary.psql(rows, database="davit")
    report.check(f"{what} still has no row of later changes", later == "0", later)


def unconfirmed(report, davit, folder, work):
    """No standby confirms what the primary commits."""
    what, blobs = "no synchronous standby", work / "unconfirmed"
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(Server(folder, "unconfirmed", "max_connections=120"))
        primary.make_database()
        nodes = [stack.enter_context(Node(davit, primary.url(), "team", blobs=blobs)) for _ in range(2)]
        for node in nodes:
            report.check(f"{what}: PUT before", node.status("PUT", "/kept", b"kept") in (201, 204))

        def put(name):
            """Changes many files together. Returns the statuses."""
            with concurrent.futures.ThreadPoolExecutor(40) as pool:
                return list(pool.map(lambda number: nodes[number % 2].ask("PUT", f"/{name}-{number}", b"%d" % number)[:2],
                                     range(40)))

        def sessions():
            return int(primary.psql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'davit'"))

        primary.set("synchronous_standby_names", "nothing")
        first = put("first")
        report.check(f"{what}: no change is confirmed", all(status in (500, 503) for status, _ in first),
                     str([status for status, _ in first]))
        for node in nodes:
            report.check(f"{what}: files can be read", wait_until(lambda: node.ask("GET", "/kept")[2] == b"kept"))
        later = put("later") + put("later")
        refused = [status for status, fields in later if status == 503 and "Retry-After" in fields]
        report.check(f"{what}: further changes are refused", len(refused) == len(later), str([status for status, _ in later]))
        # Each node has at most 18 connections, one for notifications, and as many sessions that wait for the standby.
        report.check(f"{what}: the number of sessions is limited", sessions() <= 2 * 40, sessions())
        report.check(f"{what}: files can still be read", all(node.ask("GET", "/kept")[2] == b"kept" for node in nodes))
        primary.set("synchronous_standby_names", None)
        for number, node in enumerate(nodes):
            report.check(f"{what}: a node changes files when commits are confirmed",
                         wait_until(lambda: node.status("PUT", f"/after-{number}", b"after") in (201, 204)))
        found = [nodes[1 - number % 2].ask("GET", f"/first-{number}") for number in range(40)]
        wrong = [(number, status) for number, (status, _, content) in enumerate(found)
                 if status != 404 and content != b"%d" % number]
        report.check(f"{what}: files that were not answered are whole or do not exist", not wrong, str(wrong))
        found = [nodes[0].status("GET", f"/later-{number}") for number in range(40)]
        report.check(f"{what}: refused files do not exist", set(found) == {404}, str(found))


def failover(report, davit, folder, work, _rclone):
    for is_stopped in (False, True):
        fails(report, davit, folder, work, is_stopped)
    unconfirmed(report, davit, folder, work)
