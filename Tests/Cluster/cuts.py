"""Connections between a node and its database are cut in each step of a request."""

import contextlib
import queue
import re
import subprocess
import threading

from nodes import LOCK, Node, property_update
from servers import Cut, Proxy, Server, free_port, wait_until

PROPERTIES = b'<propfind xmlns="DAV:"><prop><x xmlns="x"/><lockdiscovery/></prop></propfind>'
SMALL, LARGE = b"new" * 50, b"n" * 100_000
# Nodes that are cut at the same time.
WORKERS = 5


class Resources:
    """What a request is about, seen through a node whose connections are not cut."""

    def __init__(self, direct, server, folder):
        self.direct, self.server, self.folder = direct, server, folder

    def path(self, name=""):
        return f"/{self.folder}/{name}"

    def make(self):
        self.direct.status("MKCOL", self.path())
        self.direct.status("PUT", self.path("old"), b"old")
        self.direct.status("MKCOL", self.path("tree/"))
        for name in ("tree/1", "tree/2"):
            self.direct.status("PUT", self.path(name), name.encode())
        self.direct.status("PROPPATCH", self.path("tree/1"), property_update(b"kept"))

    def content(self, name):
        status, _, content = self.direct.ask("GET", self.path(name))
        return content if status == 200 else status

    def names(self, name):
        status, _, content = self.direct.ask("PROPFIND", self.path(name), PROPERTIES, Depth="infinity")
        return status if status != 207 else sorted(re.findall(rb"<D:href>[^<]*/(tree2?/[^<]*)</D:href>", content))

    def properties(self, name):
        return self.direct.ask("PROPFIND", self.path(name), PROPERTIES, Depth="0")[2]

    def trashed(self):
        return int(self.server.psql(f"SELECT count(*) FROM davit.trash WHERE path LIKE '%{self.folder}%'", database="davit"))


TREE, COPY = [b"tree/", b"tree/1", b"tree/2"], [b"tree2/", b"tree2/1", b"tree2/2"]
# For each request: method, name, body, fields, the state of what it changes, and that state before and after the change.
REQUESTS = {
    "PUT": ("PUT", "new", SMALL, {}, lambda it: it.content("new"), 404, SMALL),
    "PUT of 100 KB": ("PUT", "new", LARGE, {}, lambda it: it.content("new"), 404, LARGE),
    # A file that is overwritten goes to the trash, exactly once.
    "PUT of other content": ("PUT", "old", SMALL, {}, lambda it: (it.content("old"), it.trashed()), (b"old", 0), (SMALL, 1)),
    "DELETE": ("DELETE", "tree/", None, {}, lambda it: (it.names("tree/"), it.trashed()), (TREE, 0), (404, 1)),
    "MOVE": ("MOVE", "tree/", None, {"Destination": "tree2/"}, lambda it: (it.names("tree/"), it.names("tree2/")),
             (TREE, 404), (404, COPY)),
    "COPY": ("COPY", "tree/", None, {"Destination": "tree2/"}, lambda it: (it.names("tree/"), it.names("tree2/")),
             (TREE, 404), (TREE, COPY)),
    "MKCOL": ("MKCOL", "tree2/", None, {}, lambda it: it.names("tree2/"), 404, [b"tree2/"]),
    "PROPPATCH": ("PROPPATCH", "old", property_update(b"changed"), {}, lambda it: b"changed" in it.properties("old"),
                  False, True),
    "LOCK": ("LOCK", "old", LOCK, {"Timeout": "Second-600"},
             lambda it: len(re.findall(rb"<D:activelock>", it.properties("old"))), 0, 1),
}


class Worker:
    """A node whose connections to the database go through a proxy of its own."""

    def __init__(self, davit, server, blobs, stack):
        self.proxy = stack.enter_context(Proxy(server.port))
        self.node = stack.enter_context(Node(davit, server.url(self.proxy.port), "team", "--trash", blobs=blobs))

    def send(self, kind, resources, cut):
        method, name, body, fields, *_ = REQUESTS[kind]
        fields = {field: self.node.url(resources.path(value)) if field == "Destination" else value
                  for field, value in fields.items()}
        self.proxy.plan(cut)
        try:
            return self.node.ask(method, resources.path(name), body, **fields)
        finally:
            self.proxy.plan(None)


def run(report, worker, kind, resources, cut):
    """Cuts one request, and compares the response with what another node shows."""
    *_, state, before, after = REQUESTS[kind]
    what = f"{kind}, {cut}"
    resources.make()
    status, fields, content = worker.send(kind, resources, cut)
    found = state(resources)
    succeeded = status in (200, 201, 204) or status == 207 and b"HTTP/1.1 200" in content
    detail = f"{status} {content[:200]}: {found}"[:600]
    report.check(f"{what}: the connection was cut", cut.met, detail)
    report.check(f"{what}: the response is a success or a failure of the server", succeeded or status in (500, 503), detail)
    report.check(f"{what}: 503 says when to try again", status != 503 or "Retry-After" in fields, detail)
    report.check(f"{what}: a success has changed everything, a failure everything or nothing",
                 found == after or found == before and not succeeded, detail)
    report.check(f"{what}: the node works again",
                 wait_until(lambda: worker.node.status("GET", resources.path("tree/1")) in (200, 404)))


def tasks(report, worker, direct, server):
    """Counts the batches of each request, and returns all cuts."""
    found = []
    for kind in REQUESTS:
        counts = []
        # A request has more batches if another one is in its way, or if something is read only once in a second.
        for attempt in range(3):
            resources = Resources(direct, server, f"count-{kind}-{attempt}".replace(" ", "-"))
            resources.make()
            counted = Cut(None, None, "", "")
            status = worker.send(kind, resources, counted)[0]
            report.check(f"{kind} without a cut", status in (200, 201, 204, 207), status)
            counts.append((counted.commits.count(False), counted.commits.count(True)))
        reads, commits = (min(count) for count in zip(*counts))
        report.check(f"{kind} reads, and then commits", reads and commits, str(counts))
        steps = [(number, False) for number in range(reads)]
        for number, is_commit in steps + [(number, True) for number in range(commits)]:
            # All kinds in the batches with COMMIT, and in turn in the others.
            for count, (point, way) in enumerate([("before", "up"), ("within", "up"), ("sent", "down"), ("answered", "down")]):
                faults = ["both", way] if is_commit else [("both", way)[(number + count) % 2]]
                found += [(kind, Cut(number, is_commit, point, fault)) for fault in faults]
            if is_commit:
                found += [(kind, Cut(number, True, point, "silent")) for point in ("before", "sent")]
        found.append((kind, Cut(0, False, "within", "silent")))
    # Those that wait for the end of a time first.
    return sorted(found, key=lambda task: task[1].fault != "silent")


def cuts(report, davit, folder, work, _rclone):
    blobs = work / "cuts"
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(folder, "cuts"))
        server.make_database()
        direct = stack.enter_context(Node(davit, server.url(), "team", "--trash", blobs=blobs))
        workers = [Worker(davit, server, blobs, stack) for _ in range(WORKERS)]
        pending = queue.SimpleQueue()
        for number, task in enumerate(tasks(report, workers[0], direct, server)):
            pending.put((number, *task))
        mutex, problems = threading.Lock(), []

        class Locked:
            @staticmethod
            def check(*words):
                with mutex:
                    report.check(*words)

        def work_off(worker):
            while True:
                try:
                    number, kind, cut = pending.get_nowait()
                except queue.Empty:
                    return
                try:
                    run(Locked, worker, kind, Resources(direct, server, f"cut-{number}-"), cut)
                except Exception as error:
                    problems.append(f"{kind}, {cut}: {error!r}")

        threads = [threading.Thread(target=work_off, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report.check("every request is answered", not problems, str(problems[:5]))
        done = subprocess.run([str(davit), "check", "--database", server.url(), "--blobs", str(blobs), "--content"],
                              capture_output=True, text=True)
        report.check("the database and its content agree after all cuts", done.returncode == 0, done.stdout + done.stderr)


class HAProxy:
    """HAProxy in front of a PostgreSQL server, which closes connections that are idle for a second."""

    def __init__(self, work, server):
        self.port = free_port()
        self.path = work / "tcp.cfg"
        self.path.write_text(
            f"defaults\n mode tcp\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"
            f"listen postgres\n bind 127.0.0.1:{self.port}\n server one 127.0.0.1:{server.port}\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen(["haproxy", "-db", "-q", "-f", str(self.path)])

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def balanced(report, davit, folder, work, _rclone):
    """A node that reaches its database through HAProxy."""
    with Server(folder, "balanced") as server, HAProxy(work, server) as proxy:
        server.make_database()
        server.psql("CREATE ROLE proxied LOGIN IN ROLE davit")
        blobs = work / "balanced"
        with Node(davit, server.url(), "team", blobs=blobs) as direct, \
                Node(davit, server.url(proxy.port, role="proxied"), "team", blobs=blobs) as node:
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'proxied' AND query !~ 'LISTEN'"
            for count in range(3):
                report.check("PUT through HAProxy", node.status("PUT", f"/{count}", b"%d" % count) == 201)
                report.check("HAProxy closes idle connections", wait_until(lambda: server.psql(sessions) == "0"))
                report.check("PUT after HAProxy has closed the connections", node.status("PUT", f"/{count}", b"new") == 204)
                report.check("the other node has the content", direct.ask("GET", f"/{count}")[2] == b"new")
            proxy.stop()
            status, fields, _ = node.ask("PUT", "/0", b"lost")
            report.check("PUT while HAProxy is stopped", status == 503 and "Retry-After" in fields, status)
            proxy.start()
            report.check("the node works again after HAProxy", wait_until(lambda: node.status("GET", "/0") == 200))
            server.stop("fast")
            report.check("PUT while HAProxy has no server", node.status("PUT", "/0", b"lost") == 503)
            server.start()
            report.check("the node works again after the server", wait_until(lambda: node.status("GET", "/0") == 200))
            report.check("refused changes did not happen", direct.ask("GET", "/0")[2] == b"new")
