#!/usr/bin/env python3
"""Tests a share of a million files in a PostgreSQL database, and collections of 100,000 files.

    Tests/Cluster/scale.py --davit PATH --postgres FOLDER --rclone PATH

FOLDER contains a running PostgreSQL server with its socket, and the program `run`, as scripts/cluster.sh makes them. Prints a
line for each failed check, and lines with measured times that no check depends on; the last line is
`scale: N passed, M failed`.
"""

import argparse
import concurrent.futures
import itertools
import pathlib
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import nodes  # noqa: E402
from nodes import LIMIT_SECONDS, Node, Report, property_update  # noqa: E402

QUOTA = b'<propfind xmlns="DAV:"><prop><quota-used-bytes/></prop></propfind>'
GETETAG = b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>'
# What a change writes in addition to the rows of resources and blobs, in tables that grow with each transaction. The nodes
# record in them that they run, too.
BOOKKEEPING = ("change", "commit_marker", "node", "share")
# The longest time that a statement of a node may take until its plan is recorded, in milliseconds. A sequential scan of a
# table with a row for each file takes longer.
SLOW_MILLISECONDS = 20


class Scale:
    """A database of its own, and what is measured in it."""

    def __init__(self, report, davit, run, folder, work, members):
        self.report, self.davit, self.run, self.folder = report, davit, run, folder
        self.work, self.members = work, members
        self.collections = {}
        self.log = folder / "log"
        # Other tests may have used the server before.
        self.log_start = self.log.stat().st_size
        subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", "scale"], check=True)
        self.url = f"host={folder} user=postgres dbname=scale"
        self.blobs = work / "blobs"
        self.tables = []

    def node(self, *options):
        settings = (f"-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration={SLOW_MILLISECONDS} "
                    "-c auto_explain.log_nested_statements=on")
        return Node(self.davit, f"{self.url} options='{settings}'", "team", *options, blobs=self.blobs)

    def rows(self, statement):
        words = ["psql", "-h", str(self.folder), "-U", "postgres", "-At", "-c", "SET search_path = davit", "-c", statement]
        done = subprocess.run([self.run, *words, "scale"], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[1:]

    def number(self, statement):
        return int(self.rows(statement)[0])

    def files(self):
        """The number of files that clients see, without those of ``Others``."""
        return self.number("""WITH RECURSIVE tree AS (
                SELECT id, kind FROM resource WHERE share = 1 AND parent = 0 AND key = 'files'
                UNION ALL SELECT r.id, r.kind FROM tree t JOIN resource r ON r.share = 1 AND r.parent = t.id
                WHERE r.key <> 'others')
            SELECT count(*) FILTER (WHERE kind = 1) FROM tree""")

    def tree(self, name):
        """The number of rows of a collection in the root of the share."""
        return self.number(f"""WITH RECURSIVE tree AS (
                SELECT r.id FROM resource r WHERE r.share = 1 AND r.key = '{name}'
                    AND r.parent = (SELECT id FROM resource WHERE share = 1 AND parent = 0 AND key = 'files')
                UNION ALL SELECT r.id FROM tree t JOIN resource r ON r.share = 1 AND r.parent = t.id)
            SELECT count(*) FROM tree""")

    def waiting(self):
        """The number of rows of deleted collections that have not been removed yet."""
        return self.number("""WITH RECURSIVE tree AS (
                SELECT id FROM resource WHERE parent = 0 AND key = 'removed'
                UNION ALL SELECT r.id FROM tree t JOIN resource r ON r.share = 1 AND r.parent = t.id)
            SELECT count(*) - 1 FROM tree""")

    # Which rows a change touches. All rows are counted, so that the result does not depend on when the server publishes its
    # statistics.

    def counts(self):
        return {table: self.number(f"SELECT count(*) FROM {table}") for table in self.all_tables()}

    def all_tables(self):
        if not self.tables:
            found = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'davit'")
            self.tables = [table for table in found if table not in BOOKKEEPING]
        return self.tables

    def touched(self, request):
        """Returns the status of a request, its fields, and for each table the number of rows that were written and removed
        meanwhile, by this request or by any other transaction."""
        before = self.counts()
        first = self.number("SELECT pg_snapshot_xmax(pg_current_snapshot())")
        status, fields, _ = request()
        found = {}
        for table, count in self.counts().items():
            written = self.number(f"SELECT count(*) FROM {table} WHERE xmin::text::bigint >= {first}")
            if written or count < before[table]:
                found[table] = (written, max(0, before[table] - count))
        return status, fields, found

    def request(self, node, method, path, *arguments, rows=None, expected, **fields):
        """Sends a request for a large collection, and prints how long it took. Repeats it if the response asks for that."""
        name = re.sub(r"http://[^/]*", "", fields.get("Destination", ""))
        deadline = time.monotonic() + LIMIT_SECONDS
        while True:
            start = time.monotonic()
            status, headers, content = node.ask(method, path, *arguments, **fields)
            seconds = time.monotonic() - start
            rate = f", {seconds * 1e6 / rows:.1f} µs for each row" if rows else ""
            print(f"{method} {path} {name}: {status} after {seconds * 1000:.1f} ms{rate}", flush=True)
            if status != 503 or "Retry-After" not in headers or time.monotonic() > deadline:
                break
            select.select([], [], [], float(headers["Retry-After"]))
        self.report.check(f"{method} {path} {name}", status == expected, f"{status} {content[:300]} {node.text()[-300:]}")
        return status, headers, content

    def until(self, what, condition, *running):
        """Waits for a condition. Nodes that get no requests do no maintenance."""
        deadline = time.monotonic() + LIMIT_SECONDS
        start = time.monotonic()
        while not (holds := condition()) and time.monotonic() < deadline:
            for node in running:
                node.status("OPTIONS", "/")
            select.select([], [], [], 0.2)
        print(f"{what}: {time.monotonic() - start:.1f} s", flush=True)
        self.report.check(what, holds)
        return holds


class Others:
    """Requests that other clients send to other collections, on other nodes, while something long is in progress."""

    numbers = itertools.count()

    def __init__(self, report, what, *running):
        self.report, self.what, self.running = report, what, running
        self.number = next(Others.numbers)
        self.done = threading.Event()
        self.count, self.slowest, self.bad = 0, 0, []

    def work(self, number):
        node = self.running[number % len(self.running)]
        for count in itertools.count():
            # Some requests in each second: the processors are for what is tested.
            if self.done.wait(0.05):
                return
            path = f"/others/{self.number}-{number}-{count}"
            steps = [("PUT", path, b"x" * 100, 201), ("GET", path, None, 200), ("GET", "/seed/7", None, 200),
                     ("PROPFIND", "/seed/", GETETAG, 207), ("PROPFIND", "/seed/", QUOTA, 207),
                     ("MKCOL", path + "-c/", None, 201)]
            for method, name, body, expected in steps:
                start = time.monotonic()
                status = node.status(method, name, body, Depth="1") if method == "PROPFIND" else node.status(method, name, body)
                self.slowest = max(self.slowest, time.monotonic() - start)
                self.count += 1
                if status != expected:
                    self.bad.append((method, name, status))

    def __enter__(self):
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(4)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        # At least some, even if the other one was fast.
        deadline = time.monotonic() + LIMIT_SECONDS
        while self.count < 50 and time.monotonic() < deadline:
            select.select([], [], [], 0.05)
        self.done.set()
        for thread in self.threads:
            thread.join()
        print(f"{self.count} other requests during {self.what}, the slowest after {self.slowest * 1000:.0f} ms", flush=True)
        self.report.check(f"other requests are answered during {self.what}", self.count >= 50 and not self.bad,
                          f"{self.count}: {self.bad[:5]}")


class Memory:
    """The largest growth of the resident memory of a node, in MiB."""

    def __init__(self, node):
        self.status = f"/proc/{node.process.pid}/status"
        self.before = self.read("VmRSS")
        pathlib.Path(f"/proc/{node.process.pid}/clear_refs").write_text("5")

    def read(self, name):
        return int(re.search(rf"{name}:\s+(\d+)", pathlib.Path(self.status).read_text())[1]) / 1024

    def growth(self):
        return self.read("VmHWM") - self.before


def content_of(number):
    return b"%010d" % number


def fill(scale, one):
    """Creates a flat and a nested collection, and returns what some of their files contain."""
    report, members = scale.report, scale.members
    source = scale.work / "source/flat"
    source.mkdir(parents=True)
    for number in range(members):
        (source / f"f{number:06}").write_bytes(content_of(number))
    start = time.monotonic()
    done = subprocess.run([str(scale.davit), "import", str(source.parent), "--database", scale.url, "--blobs", str(scale.blobs),
                           "--share", "team", "--state-dir", str(scale.work / "state")], capture_output=True, text=True)
    print(f"import of {members} files: {time.monotonic() - start:.1f} s", flush=True)
    report.check("import of a flat collection", done.returncode == 0 and done.stdout.startswith(f"{members} files copied"),
                 done.stdout + done.stderr[-1000:])
    one.ask("MKCOL", "/seed/")
    one.ask("MKCOL", "/others/")
    contents = {}
    for number in range(100):
        # Some are not small.
        contents[number] = random.Random(number).randbytes(100_000 if number % 25 == 0 else 100 + number)
        report.check("PUT", one.status("PUT", f"/seed/{number}", contents[number]) == 201)
        if number % 10 == 0:
            report.check("PROPPATCH", one.status("PROPPATCH", f"/seed/{number}", property_update(b"%d" % number)) == 207)
    # Each level contains ten copies of the one below it.
    levels, size, path = [], 100, "/seed/"
    while size < members:
        level = f"/level{len(levels)}/"
        report.check("MKCOL", one.status("MKCOL", level) == 201)
        for number in range(10):
            status = one.status("COPY", path, Destination=one.url(f"{level}{number}/"))
            report.check("COPY of a level", status == 201, status)
        levels.append(level)
        path, size = level, size * 10
    report.check("MOVE", one.status("MOVE", path, Destination=one.url("/nested/")) == 201)
    for level in levels[:-1]:
        report.check("DELETE", one.status("DELETE", level) == 204)
    steps = len(levels)
    # The nested one has collections of each level, and those with the files.
    scale.collections = {"flat": members + 1, "nested": members + sum(10 ** step for step in range(steps + 1))}
    samples = {"flat": {f"f{number:06}": content_of(number) for number in (0, members // 3, members - 1)}, "nested": {}}
    for digits in ("0" * steps, "9" * steps, "4" * steps):
        for number in (0, 7, 50):
            samples["nested"]["/".join(digits) + f"/{number}"] = contents[number]
    return samples


def is_whole(scale, node, what, path, kind, samples):
    """A collection has all its members with their content, on this node."""
    report = scale.report
    wrong = [name for name, content in samples[kind].items() if node.ask("GET", path + name)[2] != content]
    report.check(f"the content of members {what}", not wrong, str(wrong))
    if kind == "flat":
        memory = Memory(node)
        listing = node.ask("PROPFIND", path, GETETAG, Depth="1")[2]
        names = set(re.findall(rb"<D:href>[^<]*/(f\d+)</D:href>", listing))
        report.check(f"a listing names all members {what}", len(names) == scale.members, len(names))
        growth = memory.growth()
        print(f"PROPFIND of {scale.members} members: {growth:.1f} MiB more memory", flush=True)
        report.check(f"a node needs little memory for a listing {what}", growth <= 8, growth)
    else:
        property_ = node.ask("PROPFIND", path + "/".join("4" * (path_depth(samples))) + "/50", Depth="0")[2]
        report.check(f"a member has its property {what}", b">50</" in property_, property_[:500])
    found = scale.tree(path.strip("/"))
    report.check(f"the number of rows {what}", found == scale.collections[kind], f"{found} of {scale.collections[kind]}")


def path_depth(samples):
    return next(iter(samples["nested"])).count("/")


def is_constant(scale, what, touched, limit=4):
    """A change of a large collection has written few rows, and has removed none, except from the trash."""
    written = {table: count for table, (count, _) in touched.items()}
    removed = {table: count for table, (_, count) in touched.items() if count}
    scale.report.check(f"{what} touches a constant number of rows",
                       0 < sum(written.values()) <= limit and set(removed) <= {"trash"} and sum(removed.values()) <= 1,
                       f"written {written}, removed {removed}")


def copied(scale, node, source, destination, kind):
    """Copies a collection, and checks which rows this has written."""
    rows = scale.collections[kind]
    memory = Memory(node)
    status, _, touched = scale.touched(
        lambda: scale.request(node, "COPY", source, rows=rows, expected=201, Destination=node.url(destination)))
    growth = memory.growth()
    scale.report.check("COPY needs little memory of the node", growth <= 8, growth)
    written, removed = touched.get("resource", (0, 0))
    scale.report.check(f"COPY {destination} inserts a row for each member", written == rows and not removed,
                       f"{touched} instead of {rows}")
    # Those of the content are the only other ones.
    others = {table: counts for table, counts in touched.items() if table not in ("resource", "blob", "property")}
    scale.report.check(f"COPY {destination} changes nothing else", not others, str(others))
    return status == 201


def moved(scale, kind, one, other, third, samples):
    """A collection is made by one node, moved by another one, deleted to the trash and restored by others."""
    report = scale.report
    copied(scale, one, f"/{kind}/", "/work/", kind)
    is_whole(scale, other, "after COPY on another node", "/work/", kind, samples)

    status, _, touched = scale.touched(
        lambda: scale.request(other, "MOVE", "/work/", expected=201, Destination=other.url("/moved/")))
    is_constant(scale, f"MOVE of the {kind} collection", touched)
    report.check("the old path has no members", one.status("GET", "/work/" + next(iter(samples[kind]))) == 404)
    is_whole(scale, one, "after MOVE on another node", "/moved/", kind, samples)

    status, fields, touched = scale.touched(lambda: scale.request(third, "DELETE", "/moved/", expected=204))
    is_constant(scale, f"DELETE of the {kind} collection to the trash", touched)
    report.check("the members are deleted", one.status("GET", "/moved/" + next(iter(samples[kind]))) == 404)
    entry = fields.get("Davit-Trash", "")
    scale.until("the trashed collection is measured", lambda: scale.rows(
        f"SELECT length IS NOT NULL FROM trash WHERE id = '{entry}'") == ["t"], third)

    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": one.url("")}
    status, _, touched = scale.touched(
        lambda: scale.request(one, "POST", "/?action=restore", b"id=" + entry.encode(), expected=201, **form))
    is_constant(scale, f"restoring the {kind} collection", touched)
    report.check("the entry has left the trash", scale.number(f"SELECT count(*) FROM trash WHERE id = '{entry}'") == 0)
    is_whole(scale, other, "after it was restored by another node", "/moved/", kind, samples)


def purged(scale, kind, bare, running):
    """A collection is deleted by a node that has no trash, while other requests and another COPY are in progress."""
    with Others(scale.report, f"the removal of the {kind} collection", *running):
        scale.request(bare, "DELETE", "/moved/", expected=204, rows=scale.collections[kind])
        scale.report.check("the members are deleted", running[0].status("GET", "/moved/") == 404)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(scale.request, node, "COPY", f"/{kind}/", expected=201, rows=scale.collections[kind],
                                Destination=node.url(f"/again{number}/")) for number, node in enumerate(running[:2])]
            for job in jobs:
                job.result()
        for number in range(2):
            scale.request(bare, "DELETE", f"/again{number}/", expected=204)
        scale.until(f"all rows of the {kind} collection are removed", lambda: scale.waiting() == 0, *running, bare)


def interrupted(scale, running):
    """Other nodes finish a removal that a killed node has begun."""
    copied(scale, running[0], "/flat/", "/interrupted/", "flat")
    with scale.node() as victim:
        def delete():
            try:
                return victim.status("DELETE", "/interrupted/")
            except OSError:
                return None

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            job = pool.submit(delete)
            deadline = time.monotonic() + LIMIT_SECONDS
            while scale.waiting() == 0 and time.monotonic() < deadline:
                select.select([], [], [], 0.005)
            victim.process.send_signal(signal.SIGKILL)
            job.result()
    scale.report.check("the node was killed before the end", scale.waiting() > scale.members // 2, scale.waiting())
    if not scale.until("other nodes remove the rest after a node was killed", lambda: scale.waiting() == 0, *running):
        # Later checks count rows.
        while scale.number("SELECT remove_detached(share, id, 10000) FROM resource WHERE parent = 0 AND key = 'removed'"):
            pass


def million(scale, one, other, third, bare):
    """A collection of all files: it is moved and trashed in the same way, and copied whole or not at all."""
    report = scale.report
    rows = scale.tree("all")
    memory = Memory(one)
    with Others(report, "the COPY of all files", other, third):
        start = time.monotonic()
        status, fields, content = one.ask("COPY", "/all/", Destination=one.url("/all2/"))
        seconds = time.monotonic() - start
    print(f"COPY of {rows} rows: {status} after {seconds:.1f} s, {seconds * 1e6 / rows:.1f} µs for each row, "
          f"{memory.growth():.1f} MiB more memory: {content[:100]}", flush=True)
    if status == 201:
        found = scale.tree("all2")
        report.check("COPY of all files copies all of them", found == rows, f"{found} of {rows}")
        scale.request(bare, "DELETE", "/all2/", expected=204)
        # What follows counts the rows that change.
        scale.until("all rows of the copy of all files are removed", lambda: scale.waiting() == 0, one, other, third, bare)
    else:
        report.check("COPY of all files changes nothing if it fails", scale.tree("all2") == 0 and scale.waiting() == 0,
                     f"{scale.tree('all2')} {scale.waiting()}")
        report.check("COPY of all files fails with a status that says that it can never work", status in (403, 413, 507),
                     f"{status} {dict(fields)}")
    status, _, touched = scale.touched(
        lambda: scale.request(other, "MOVE", "/all/", expected=201, Destination=other.url("/whole/")))
    is_constant(scale, "MOVE of all files", touched)
    status, fields, touched = scale.touched(lambda: scale.request(one, "DELETE", "/whole/", expected=204))
    is_constant(scale, "DELETE of all files", touched)
    entry = fields.get("Davit-Trash", "")
    scale.until("the trashed collection of all files is measured", lambda: scale.rows(
        f"SELECT length IS NOT NULL FROM trash WHERE id = '{entry}'") == ["t"], one)
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": third.url("")}
    status, _, touched = scale.touched(
        lambda: scale.request(third, "POST", "/?action=restore", b"id=" + entry.encode(), expected=201, **form))
    is_constant(scale, "restoring all files", touched)


def reads_all(plan):
    """Whether a plan reads a table or index with a row for each file or change from its beginning to its end."""
    tables = "resource|blob|small_content|segment|property|member_change|change|commit_marker|removed_object"
    if re.search(rf"Seq Scan on ({tables})\b", plan):
        return True
    lines = plan.splitlines()
    return any(re.search(rf"Index (Only )?Scan (Backward )?using \S+ on ({tables})\b", line) and "Index Cond:" not in following
               for line, following in zip(lines, lines[1:] + [""]))


def plans(scale):
    """No statement of a node has read a table with a row for each file from its beginning to its end."""
    with open(scale.log, errors="replace") as file:
        file.seek(scale.log_start)
        records = re.split(r"(?m)^(?=\S* \S* UTC \[)", file.read())
    slow, bad = {}, {}
    for record in records:
        found = re.search(r"duration: ([\d.]+) ms  plan:\s*Query Text:\s*(.*)", record)
        if not found:
            continue
        name = " ".join(record[found.start(2):].split())[:70]
        count, longest = slow.get(name, (0, 0))
        slow[name] = (count + 1, max(longest, float(found[1])))
        if reads_all(record):
            bad[name] = record[:3000]
    for name, (count, longest) in sorted(slow.items(), key=lambda item: -item[1][1])[:15]:
        print(f"slow statement: {count} times, at most {longest:.0f} ms: {name}", flush=True)
    scale.report.check("the plans of slow statements are recorded", slow)
    scale.report.check("no statement reads a whole table or index", not bad, "\n".join(bad.values()))
    deadlocks = ["".join(records[index:index + 3]) for index, record in enumerate(records) if "deadlock detected" in record]
    scale.report.check("no transactions wait for each other", not deadlocks, f"{len(deadlocks)} times: {deadlocks[:1]}")


def is_consistent(scale):
    """The counts of references are right, no row is left over, and `davit check` finds nothing."""
    report = scale.report
    wrong = scale.rows("""SELECT b.id, b.reference_count, count(r.id) FROM blob b LEFT JOIN resource r ON r.blob = b.id
        GROUP BY b.id HAVING b.reference_count <> count(r.id) LIMIT 3""")
    report.check("the counts of references are right", not wrong, wrong)
    for what, statement in {
            "resources without a parent": "resource r WHERE parent <> 0 AND NOT EXISTS "
                                          "(SELECT FROM resource p WHERE p.id = r.parent AND p.kind = 0)",
            "properties without a resource": "property p WHERE NOT EXISTS (SELECT FROM resource r WHERE r.id = p.resource)",
            "resources whose content is missing": "resource r WHERE blob IS NOT NULL AND NOT EXISTS "
                                                  "(SELECT FROM blob b WHERE b.id = r.blob)"}.items():
        count = scale.number(f"SELECT count(*) FROM {statement}")
        report.check(f"there are no {what}", count == 0, count)
    start = time.monotonic()
    done = subprocess.run([str(scale.davit), "check", "--database", scale.url, "--blobs", str(scale.blobs)],
                          capture_output=True, text=True, timeout=LIMIT_SECONDS * 5)
    print(f"davit check: {time.monotonic() - start:.1f} s", flush=True)
    report.check("davit check finds nothing", done.returncode == 0, done.stdout[-500:] + done.stderr[-500:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", type=pathlib.Path, help="not used")
    parser.add_argument("--short", action="store_true", help="a tenth of the files")
    options = parser.parse_args()
    report = Report()
    members = 10_000 if options.short else 100_000
    with tempfile.TemporaryDirectory(prefix="davit-scale-") as work:
        work = pathlib.Path(work)
        nodes.BLOBS = work / "blobs"
        scale = Scale(report, options.davit.resolve(), str(options.postgres / "run"), options.postgres, work, members)
        with scale.node("--trash") as one, scale.node("--trash") as other, scale.node("--trash") as third, scale.node() as bare:
            running = [one, other, third]
            samples = fill(scale, bare)
            scale.until("rows of the first collections are removed", lambda: scale.waiting() == 0, *running)
            with Others(report, "nothing else", *running, bare):
                # Memory that nodes keep is not counted later.
                pass
            bare.ask("MKCOL", "/all/")
            # With those in /flat and /nested.
            for number in range(4):
                for kind in ("flat", "nested"):
                    copied(scale, running[number % 3], f"/{kind}/", f"/all/{kind}{number}/", kind)
            files = scale.files()
            report.check("the share has all files", files == 10 * members + 100, files)
            for kind in ("flat", "nested"):
                moved(scale, kind, one, other, third, samples)
                purged(scale, kind, bare, running)
            interrupted(scale, running)
            million(scale, one, other, third, bare)
            scale.until("all rows of deleted collections are removed", lambda: scale.waiting() == 0, *running, bare)
            report.check("the share has the files of before", scale.files() == files, scale.files())
            for node in (*running, bare):
                report.check("a node stops", node.stop() == 0, node.text()[-500:])
        plans(scale)
        is_consistent(scale)
    print(f"scale: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
