#!/usr/bin/env python3
"""Tests `davit check` and `davit nodes` with shares in a PostgreSQL database.

    Tests/Cluster/checks.py --davit PATH --postgres FOLDER --rclone PATH

FOLDER contains a running PostgreSQL server with its socket, and the program `run`, as scripts/cluster.sh makes them. Prints a
line for each failed check; the last line is `checks: N passed, M failed`.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

from nodes import KEYS, LIMIT_SECONDS, LOCK, Bucket, Node, Report, property_update  # noqa: E402

OK = re.compile(r"database: ok \(\d+ objects checked\)\n")


class Database:
    """A database of its own, with a folder or bucket for content."""

    def __init__(self, davit, run, folder, name, blobs, endpoint=""):
        self.davit, self.run, self.folder, self.name = davit, run, folder, name
        self.blobs, self.endpoint = blobs, endpoint
        subprocess.run([run, "createdb", "-h", str(folder), "-U", "postgres", name], check=True)
        self.url = f"host={folder} user=postgres dbname={name}"

    def node(self, share="team"):
        return Node(self.davit, self.url, share, blobs=self.blobs, endpoint=self.endpoint)

    def rows(self, statement):
        done = subprocess.run([self.run, "psql", "-h", str(self.folder), "-U", "postgres", "-At", "-c",
                               "SET search_path = davit", "-c", statement, self.name], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()[1:]

    def value(self, statement):
        return self.rows(statement)[0]

    def command(self, *words):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("DAVIT_", "AWS_"))}
        clean.update(AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1], AWS_ENDPOINT_URL=self.endpoint)
        return subprocess.run([str(self.davit), *words], capture_output=True, text=True, env=clean, timeout=LIMIT_SECONDS * 5)

    def check(self, *options, blobs=None):
        return self.command("check", "--database", self.url, "--blobs", str(blobs or self.blobs), *options)


def name(uuid):
    text = uuid.replace("-", "")
    return f"{text[:2]}/{text}"


def is_clean(report, database, what, *options):
    done = database.check(*options)
    report.check(what, done.returncode == 0 and OK.fullmatch(done.stdout), done.stdout + done.stderr)


def finds(report, database, what, expected, *options):
    """The check finds exactly what is expected: pairs of the beginning of a line, and a text in it."""
    done = database.check(*options)
    lines = done.stdout.splitlines()[:-1]
    missing = [pair for pair in expected if not any(line.startswith(pair[0]) and pair[1] in line for line in lines)]
    report.check(what, done.returncode == 1 and len(lines) == len(expected) and not missing
                 and "problem" in done.stderr, f"status {done.returncode}: {done.stdout}{done.stderr} expected {expected}")


def fill(report, node):
    node.ask("MKCOL", "/docs/")
    node.ask("MKCOL", "/docs/deep/")
    for path, size in [("/docs/big", 20_000_000), ("/docs/deep/large", 100_000), ("/small", 1_000), ("/empty", 0),
                       ("/docs/patched", 9_000_000)]:
        report.check(f"PUT {path}", node.status("PUT", path, random.Random(path).randbytes(size)) == 201)
    node.ask("COPY", "/docs/big", Destination=node.url("/copy"))
    node.ask("PROPPATCH", "/docs/big", property_update(b"kept"))
    node.ask("LOCK", "/small", LOCK, Timeout="Second-600")


def objects(report, database, store, work):
    """Damaged, missing and unknown objects are found, each with the file that needs it."""
    first, second = database.rows("SELECT object FROM segment JOIN resource r ON r.blob = segment.blob "
                                  "WHERE r.name = 'big' ORDER BY start LIMIT 2")
    path = store / name(first)
    kept = work / "kept"
    shutil.copy2(path, kept)

    path.unlink()
    finds(report, database, "a missing object", [(f"missing-object {name(first)}:", "used by team:/docs/big")])
    finds(report, database, "a missing object of a share", [(f"missing-object {name(first)}:", "used by team:/docs/big")],
          "--share", "team")
    is_clean(report, database, "another share is not affected", "--share", "other")
    shutil.copy2(kept, path)

    os.truncate(path, 100)
    finds(report, database, "a truncated object", [(f"wrong-object-length {name(first)}:", "has 100 bytes")])
    shutil.copy2(kept, path)
    with path.open("ab") as file:
        file.write(b"x")
    finds(report, database, "an object that is too long", [(f"wrong-object-length {name(first)}:", "8388609 bytes")])
    shutil.copy2(kept, path)

    with path.open("r+b") as file:
        byte = file.read(1)
        file.seek(0)
        file.write(bytes([byte[0] ^ 1]))
    is_clean(report, database, "a changed byte is only found with --content")
    finds(report, database, "a changed byte", [(f"wrong-object-content {name(first)}:", "SHA-256")], "--content")
    shutil.copy2(kept, path)

    stray = "ab" + "0123456789" * 3
    (store / "ab").mkdir(exist_ok=True)
    (store / "ab" / stray).write_bytes(b"stray")
    (store / "ab" / (stray[:-1] + "a.new")).write_bytes(b"unfinished")
    (store / "ab" / "notes.txt").write_bytes(b"other")
    (store / "ab" / ".nfs0123").write_bytes(b"hidden")
    expected = [("unknown-object ab/" + stray + ":", "5 bytes"), ("unknown-object ab/" + stray[:-1] + "a.new:", "10 bytes"),
                ("unknown-object ab/notes.txt:", "")]
    if str(database.blobs).startswith("s3://"):
        expected.append(("unknown-object ab/.nfs0123:", ""))
    finds(report, database, "unknown objects", expected)
    is_clean(report, database, "unknown objects belong to no share", "--share", "team")
    for table, values in [("staged_object (object, blob)", f"('{stray}', 1)"), ("removed_object (object, share)", f"('{stray}', 1)")]:
        database.rows(f"INSERT INTO {table} VALUES {values}")
        finds(report, database, f"an object that {table} names", expected[1:])
        database.rows(f"DELETE FROM {table.split()[0]} WHERE object = '{stray}'")
    for found in (store / "ab").iterdir():
        if found.name.startswith((stray[:-1], "notes", ".nfs")):
            found.unlink()

    (store / name(second)).rename(work / "second")
    path.rename(work / "first")
    finds(report, database, "two missing objects", [(f"missing-object {name(first)}:", "/docs/big"),
                                                    (f"missing-object {name(second)}:", "/docs/big")])
    (work / "second").rename(store / name(second))
    (work / "first").rename(path)
    is_clean(report, database, "the repaired store", "--content")


def many(report, database, store):
    """At most 1,000 lines of each kind are printed. A list of a bucket has 1,000 objects in a page."""
    (store / "cd").mkdir(exist_ok=True)
    for number in range(2_345):
        (store / f"cd/cd{number:030d}").touch()
    done = database.check()
    lines = done.stdout.splitlines()
    report.check("2,345 unknown objects", done.returncode == 1 and len(lines) == 1_002
                 and lines[-2] == "unknown-object: and 1345 more" and "2345 problems" in done.stderr,
                 f"{len(lines)} {lines[-3:]} {done.stderr}")
    for number in range(2_345):
        (store / f"cd/cd{number:030d}").unlink()


def rows(report, database):
    """Rows that do not fit together are found, and each is found alone."""
    def resource(path):
        return database.value(f"SELECT id FROM resource WHERE name = '{path}'")

    def blob(path):
        return database.value(f"SELECT blob FROM resource WHERE name = '{path}'")

    def damaged(what, change, repair, expected, *options):
        for statement in change:
            database.rows(statement)
        finds(report, database, what, expected, *options)
        for statement in repair:
            database.rows(statement)
        is_clean(report, database, f"repaired: {what}")

    big, small, large = blob("big"), blob("small"), blob("large")
    for difference in (-1, 1):
        damaged(f"a count of references that differs by {difference}",
                [f"UPDATE blob SET reference_count = reference_count + {difference} WHERE id = {big}"],
                [f"UPDATE blob SET reference_count = reference_count - {difference} WHERE id = {big}"],
                [(f"wrong-reference-count {big}:", f"{2 + difference}, but 2 resources use the blob, used by team:/")])
    save = [f"CREATE TABLE saved AS SELECT * FROM blob WHERE id = {large}"]
    restore = ["INSERT INTO blob OVERRIDING SYSTEM VALUE SELECT * FROM saved", "DROP TABLE saved"]
    damaged("a blob without a row", save + [f"DELETE FROM blob WHERE id = {large}"], restore,
            [(f"wrong-content {resource('large')}:", f"blob {large} does not exist, used by team:/docs/deep/large"),
             (f"lost-content {large}:", "1 segments")])
    damaged("a blob without a row in a share", save + [f"DELETE FROM blob WHERE id = {large}"], restore,
            [(f"wrong-content {resource('large')}:", "does not exist")], "--share", "team")
    damaged("another length of a resource", [f"UPDATE resource SET length = 999 WHERE id = {resource('small')}"],
            [f"UPDATE resource SET length = 1000 WHERE id = {resource('small')}"],
            [(f"wrong-content {resource('small')}:", "999 bytes")])
    damaged("a resource without a blob", [f"UPDATE resource SET length = 1 WHERE id = {resource('empty')}"],
            [f"UPDATE resource SET length = 0 WHERE id = {resource('empty')}"],
            [(f"wrong-content {resource('empty')}:", "1 bytes, but no blob")])
    second = f"blob = {big} AND start = 8388608"
    save = [f"CREATE TABLE saved AS SELECT * FROM segment WHERE {second}"]
    restore = [f"DELETE FROM segment WHERE {second}", "INSERT INTO segment SELECT * FROM saved", "DROP TABLE saved"]
    needed = database.value(f"SELECT object FROM segment WHERE {second}")
    damaged("a gap", save + [f"DELETE FROM segment WHERE {second}"], restore,
            [(f"incomplete-content {big}:", "gap"), (f"unknown-object {name(needed)}:", "")])
    damaged("an overlap", save + [f"UPDATE segment SET start = start - 1 WHERE {second}"],
            [f"UPDATE segment SET start = start + 1 WHERE blob = {big} AND start = 8388607", "DROP TABLE saved"],
            [(f"incomplete-content {big}:", "gap or overlap")])
    last = f"blob = {big} AND start = 16777216"
    save = [f"CREATE TABLE saved AS SELECT * FROM segment WHERE {last}"]
    restore = ["INSERT INTO segment SELECT * FROM saved", "DROP TABLE saved"]
    needed = database.value(f"SELECT object FROM segment WHERE {last}")
    damaged("a missing end", save + [f"DELETE FROM segment WHERE {last}"], restore,
            [(f"incomplete-content {big}:", "segments end at 16777216"), (f"unknown-object {name(needed)}:", "")])
    save = [f"CREATE TABLE saved AS SELECT * FROM small_content WHERE blob = {small}"]
    damaged("small content that is missing", save + [f"DELETE FROM small_content WHERE blob = {small}"],
            ["INSERT INTO small_content SELECT * FROM saved", "DROP TABLE saved"],
            [(f"incomplete-content {small}:", "no content")])
    deep, docs = resource("deep"), resource("docs")
    damaged("a lost parent", [f"UPDATE resource SET parent = 12345 WHERE id = {deep}"],
            [f"UPDATE resource SET parent = {docs} WHERE id = {deep}"],
            [(f"unreachable-resource {deep}:", "the parent 12345 does not exist"),
             (f"unreachable-resource {resource('large')}:", "not below a root")])
    root = database.value("SELECT parent FROM resource WHERE name = 'docs'")
    damaged("a cycle", [f"UPDATE resource SET parent = {deep} WHERE id = {docs}"],
            [f"UPDATE resource SET parent = {root} WHERE id = {docs}"],
            [(f"unreachable-resource {resource(one)}:", "not below a root") for one in ("docs", "deep", "big", "large", "patched")])
    damaged("a file as parent", [f"UPDATE resource SET parent = {resource('small')} WHERE id = {resource('empty')}"],
            [f"UPDATE resource SET parent = {root} WHERE id = {resource('empty')}"],
            [(f"unreachable-resource {resource('empty')}:", "is not a collection")])
    for table, kind, key in [("property", "lost-property", "12345"), ("lock", "lost-lock", "")]:
        kept = database.value(f"SELECT resource FROM {table} LIMIT 1")
        damaged(f"rows of a missing resource in {table}", [f"UPDATE {table} SET resource = 12345 WHERE resource = {kept}"],
                [f"UPDATE {table} SET resource = {kept} WHERE resource = 12345"], [(f"{kind} {key}", "does not exist")])
    damaged("a trash entry of a missing resource",
            ["INSERT INTO trash (id, share, resource, path, is_collection, is_overwritten) VALUES ('gone', 1, 12345, 'x', false, false)"],
            ["DELETE FROM trash WHERE id = 'gone'"], [("lost-trash gone:", "12345 does not exist")])


def busy(report, database, seconds):
    """A check reports nothing while clients change the share and the collector removes objects."""
    ends = threading.Event()
    with database.node() as one, database.node() as two:
        def write(seed):
            generator = random.Random(seed)
            one.ask("MKCOL", f"/busy{seed}/")
            count = 0
            while not ends.is_set():
                node = generator.choice([one, two])
                path = f"/busy{seed}/{generator.randrange(5)}"
                kind = generator.choice(["PUT", "PUT", "PUT", "PATCH", "DELETE", "COPY", "MOVE", "tree"])
                if kind == "PUT":
                    status = node.status("PUT", path, generator.randbytes(generator.choice([10, 70_000, 300_000, 9_000_000])))
                elif kind == "PATCH":
                    status = node.status("PATCH", path, b"patched" * 20_000, Content_Type="application/x-sabredav-partialupdate",
                                         X_Update_Range="bytes=5-140004")
                elif kind == "DELETE":
                    status = node.status("DELETE", path)
                elif kind == "tree":
                    node.status("COPY", f"/busy{seed}/", Destination=node.url(f"/tree{seed}/"))
                    status = node.status("DELETE", f"/tree{seed}/")
                else:
                    status = node.status(kind, path, Destination=node.url(f"/busy{seed}/{generator.randrange(5)}"))
                if status >= 500:
                    return f"{kind}: {status}"
                count += 1
            return count

        def forget():
            # So that the collector removes content while the check runs.
            while not ends.wait(0.2):
                database.rows("UPDATE blob SET unreferenced = unreferenced - interval '2 hours' WHERE reference_count = 0")

        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            jobs = [pool.submit(write, seed) for seed in range(4)] + [pool.submit(forget)]
            deadline = time.monotonic() + seconds
            runs = 0
            bad = []
            while runs < 2 or time.monotonic() < deadline:
                done = database.check(*(["--content"] if runs % 2 else []))
                runs += 1
                if done.returncode != 0:
                    bad.append(done.stdout[:600] + done.stderr)
            ends.set()
            results = [job.result() for job in jobs[:-1]]
        report.check("writers work meanwhile", all(isinstance(result, int) and result > 0 for result in results), str(results))
        report.check(f"{runs} checks while others write find nothing", not bad, str(bad[:2]))
        report.check("objects were removed meanwhile", int(database.value("SELECT count(*) FROM removed_object")) > 0)


def refusals(report, database, work, other):
    """What cannot be checked ends with status 2, and is not created."""
    missing = work / "missing"
    done = database.check(blobs=missing)
    report.check("a folder that does not exist", done.returncode == 2 and not missing.exists(), done.stdout + done.stderr)
    (work / "unowned").mkdir()
    done = database.check(blobs=work / "unowned")
    report.check("a folder without a database", done.returncode == 2 and not list((work / "unowned").iterdir()),
                 done.stdout + done.stderr)
    done = database.check(blobs=other.blobs)
    report.check("the folder of another database", done.returncode == 2 and "another database" in done.stderr, done.stderr)
    done = database.check("--share", "nobody")
    report.check("a share that does not exist", done.returncode == 2 and "no share" in done.stderr, done.stderr)
    report.check("nothing was created", database.value("SELECT count(*) FROM share WHERE name = 'nobody'") == "0")
    done = database.command("check", "--database", "host=/nowhere dbname=none", "--blobs", str(database.blobs))
    report.check("a database that does not respond", done.returncode == 2, done.stderr)
    for words in (["/srv"], ["--state-dir", "/x"]):
        report.check(f"{words} with a database", database.check(*words).returncode == 64)
    report.check("without --blobs", database.command("check", "--database", database.url).returncode == 64)
    report.check("--content with a folder", database.command("check", "/srv", "--content").returncode == 64)


def nodes(report, database):
    """The list of nodes has those that run, and those that do not."""
    with database.node() as one:
        deadline = time.monotonic() + LIMIT_SECONDS
        one.ask("PUT", "/listed", b"x")
        done = database.command("nodes", "--database", database.url)
        report.check("nodes", done.returncode == 0 and "running" in done.stdout and "  team  " in done.stdout,
                     done.stdout + done.stderr)
        found = json.loads(database.command("nodes", "--database", database.url, "--json").stdout)
        mine = [node for node in found["nodes"] if node["name"].endswith(f":{one.process.pid}")]
        report.check("the running node", len(mine) == 1 and mine[0]["running"] and mine[0]["staged"] == 0, str(mine))
        team = [share for share in found["shares"] if share["name"] == "team"][0]
        expected = [int(value) for value in database.rows(
            "SELECT count(*) FROM resource WHERE parent <> 0 AND kind = 1 AND share = 1 "
            "UNION ALL SELECT sum(length) FROM blob WHERE share = 1")]
        report.check("the size of the share", [team["files"], team["bytes"]] == expected, f"{team} {expected}")
        database.rows(f"INSERT INTO staged_blob (blob, node) VALUES (4711, {mine[0]['id']})")
        found = json.loads(database.command("nodes", "--database", database.url, "--json").stdout)
        report.check("a staged blob", [node["staged"] for node in found["nodes"] if node["id"] == mine[0]["id"]] == [1])
        database.rows("DELETE FROM staged_blob WHERE blob = 4711")
        one.kill()
        database.rows("UPDATE node SET seen = seen - interval '3 minutes'")
        text = database.command("nodes", "--database", database.url).stdout
        report.check("a node that does not run", "not seen for 3 minutes" in text and "running" not in text, text)
        report.check("in time", time.monotonic() < deadline)
    report.check("without a database", database.command("nodes").returncode == 64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", required=True, type=pathlib.Path, help="an rclone with `serve s3`")
    parser.add_argument("--seconds", type=int, default=20, help="how long checks run while clients write")
    options = parser.parse_args()
    davit, folder = options.davit.resolve(), options.postgres
    run = str(folder / "run")
    report = Report()
    with tempfile.TemporaryDirectory(prefix="davit-checks-") as work:
        work = pathlib.Path(work)
        database = Database(davit, run, folder, "checks", work / "blobs")
        with database.node() as one, database.node("other"):
            fill(report, one)
        is_clean(report, database, "a new database")
        is_clean(report, database, "a new database with --content", "--content")
        objects(report, database, work / "blobs", work)
        many(report, database, work / "blobs")
        rows(report, database)
        nodes(report, database)
        other = Database(davit, run, folder, "checks2", work / "blobs2")
        other.node().kill()
        refusals(report, database, work, other)
        busy(report, database, options.seconds)
        # The service may not notice files that others change in its folder, so that each check has a new one.
        bucket = work / "s3/bucket"
        with Bucket(options.rclone, work / "s3") as service:
            database = Database(davit, run, folder, "checks3", "s3://bucket/davit", service.url)
            with database.node() as one, database.node("other"):
                fill(report, one)
            is_clean(report, database, "a bucket", "--content")
            busy(report, database, options.seconds)

        plain = database.check

        def check(*words, blobs=None):
            with Bucket(options.rclone, work / "s3") as service:
                database.endpoint = service.url
                return plain(*words, blobs=blobs)

        database.check = check
        objects(report, database, bucket / "davit", work)
        many(report, database, bucket / "davit")
        done = database.check(blobs="s3://bucket")
        report.check("a bucket without a database", done.returncode == 2, done.stdout + done.stderr)
    print(f"checks: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
