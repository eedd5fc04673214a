#!/usr/bin/env python3
"""Measures shares in a PostgreSQL database: davit, a share in a folder by the same program, and pgbench take turns.

    bench/cluster.py [--davit PATH] [--rows get64,lock1] [--rounds N] [--seconds S] [--markdown FILE]

Starts PostgreSQL on the disk with the settings that it has after installation, so that each COMMIT waits for the disk. pgbench
runs exactly the statements of the requests, which are read from the log of the server, in the same round trips. Prints a table
of the targets and one of all figures, saves them in bench-results/cluster.json, and updates the document with --markdown.

davit needs the traits Postgres and S3, and the rows of S3 an rclone with `serve s3`. Exits with 1 if a response was wrong.
"""

import argparse
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import document
import machine
import programs
import report
from client import Client
from contest import Contest, Setup
from postgres import Postgres
from rows import cluster
from servers.database import Bucket

MIB = 1 << 20
RCLONE = os.path.join(os.environ.get("DAVIT_TEST_CACHE", os.path.expanduser("~/.cache/davit")), "rclone/bin/rclone")


@dataclass(frozen=True)
class Target:
    """`measure` of `who` in `row`, divided by that of `peer`, if any, must be at most `limit`, or at least, if `is_floor`.

    Without a limit, the figure is only shown. With `row_of`, the peer is one of another row. `scale` converts figures that are no
    ratio to `unit`.
    """

    row: str
    what: str
    who: str
    measure: str
    limit: float = None
    peer: str = None
    row_of: str = None
    is_floor: bool = False
    unit: str = "×"
    scale: float = 1

    def values(self, results):
        """Returns the value of each round."""
        result = results.get(self.row)
        if result is None or self.who not in result["servers"]:
            return []
        turns = result["servers"][self.who]["turns"]
        if not self.peer:
            return [turn[self.measure] * self.scale for turn in turns]
        if not self.row_of:
            return report.ratios(result, self.who, self.peer, self.measure)
        other = results.get(self.row_of, {"servers": {}})["servers"].get(self.peer)
        return [turn[self.measure] / other[self.measure] for turn in turns] if other else []

    def wording(self):
        if self.limit is None:
            return "–"
        limit = f"{self.limit:g} {self.unit}"
        return f"{'≥' if self.is_floor else '≤'} {limit}"

    def verdict(self, value):
        if self.limit is None:
            return ""
        return "met" if (value >= self.limit if self.is_floor else value <= self.limit) else "**missed**"


def gets(row):
    return [Target(row, "CPU of davit, to that of the folder share", "database", "cpu", 3, "folder"),
            Target(row, "rate, to that of the same look-ups by pgbench", "database", "rate", 0.6, "pgbench", is_floor=True)]


TARGETS = [
    *gets("get64"),
    *gets("304"),
    Target("get64-accounts", "CPU of davit, to that without accounts", "database, accounts", "cpu", peer="database"),
    Target("get64-accounts", "CPU of davit, to that of the folder share with accounts", "database, accounts", "cpu",
           peer="folder, accounts"),
    Target("get64-accounts", "rate, to that without accounts", "database, accounts", "rate", peer="database"),
    Target("propfind-1k", "time, to that of the folder share", "database", "wall", 2, "folder"),
    Target("propfind-1k", "CPU of davit, to that of the folder share", "database", "cpu", peer="folder"),
    Target("propfind-1k", "first byte", "database", "first_byte", 5, unit="ms", scale=1e3),
    Target("propfind-1k-allprop", "time, to that of the folder share", "database", "wall", peer="folder"),
    Target("propfind-1k-allprop", "CPU of davit, to that of the folder share", "database", "cpu", peer="folder"),
    Target("propfind-100k", "memory over idle", "database", "over_idle", 8, unit="MiB", scale=1 / MIB),
    Target("propfind-100k", "time, to that of the folder share", "database", "wall", peer="folder"),
    *(target for row in ("put-1k", "put-16k", "lock32") for target in (
        Target(row, "rate, to that of pgbench with 32 connections", "database", "rate", 0.7, "pgbench, 32 connections",
               is_floor=True),
        Target(row, "rate, to that of pgbench with as many connections as davit uses", "database", "rate", peer="pgbench"))),
    *(Target(row, "rate, to that of pgbench", "database", "rate", 0.7, "pgbench", is_floor=True) for row in ("lock1", "lock8")),
    Target("lock32", "rate, to that of lighttpd with one connection", "database", "rate", 10, "lighttpd", "lock1", is_floor=True),
    *(Target("move", f"time of {size}, to that of PUT", f"database, MOVE of {size}", "wall", 1.3, "database, PUT")
      for size in ("1", "1,000", "100,000")),
    Target("copy", "rate, to that of the folder share", "database", "rate", 50, "folder", is_floor=True),
    Target("s3-up", "rate, to that of rclone", "S3", "rate", 0.8, "rclone", is_floor=True),
    Target("s3-down", "rate, to that of rclone", "S3", "rate", 0.8, "rclone", is_floor=True),
    Target("s3-cached", "CPU of davit, to that of the folder share", "S3", "cpu", 1.2, "folder"),
]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=".build/cluster/release/davit")
    parser.add_argument("--rows", help="comma-separated names (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and exit")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds after the warm-up (default: 5)")
    parser.add_argument("--seconds", type=float, default=2, help="length of a turn of a read; others are longer (default: 2)")
    parser.add_argument("--memory", default="/dev/shm", help="folder for the content of folder shares, on tmpfs (default: /dev/shm)")
    parser.add_argument("--disk", default=tempfile.gettempdir(), help="folder for PostgreSQL, state, and content on disk")
    parser.add_argument("--copy-mib", type=int, default=2, help="size of each of the 1,000 files that are copied (default: 2)")
    parser.add_argument("--s3-mib", type=int, default=1024, help="size of the content in S3 (default: 1024)")
    parser.add_argument("--rclone", default=RCLONE, help="an rclone with `serve s3` (default: the one of `make cluster`)")
    parser.add_argument("--markdown", help="update the figures in this document")
    parser.add_argument("--render", help="only print and write the section, from the figures in this file")
    options = parser.parse_args()
    names = options.rows.split(",") if options.rows else [row.name for row in cluster.ROWS]
    unknown = set(names) - {row.name for row in cluster.ROWS}
    if unknown:
        parser.error(f"unknown row {', '.join(sorted(unknown))}; see --list")
    options.rows = [row for row in cluster.ROWS if row.name in names]
    return options


def describe(setup):
    return {"date": time.strftime("%Y-%m-%d"), "machine": machine.describe(setup), "postgres": setup.postgres.version(),
            "settings": setup.postgres.settings(), "rounds": setup.rounds, "seconds": setup.seconds}


def measure_all(options):
    cluster.CopyTree.bytes = options.copy_mib * MIB
    cluster.Upload.size = options.s3_mib * MIB
    with tempfile.TemporaryDirectory(prefix="davit-bench.", dir=options.memory) as memory, \
            tempfile.TemporaryDirectory(prefix="davit-bench.", dir=options.disk) as disk:
        # PostgreSQL runs as a different user.
        os.chmod(disk, 0o755)
        compiled = programs.compile_all(disk)
        setup = Setup(os.path.abspath(options.davit), compiled, Client(compiled["client"], disk), memory, disk,
                      options.rounds, options.seconds)
        setup.rclone = options.rclone
        setup.postgres = Postgres(os.path.join(disk, "postgres"))
        try:
            setup.bucket = Bucket(setup) if any(issubclass(row, cluster.Upload) for row in options.rows) else None
            try:
                run = {**describe(setup), "rows": []}
                for row in (kind() for kind in options.rows):
                    started = time.monotonic()
                    contest = Contest(row, setup)
                    contest.run()
                    run["rows"].append(report.summarize(row, contest))
                    print(report.row_text(run["rows"][-1]), flush=True)
                    print(f"{row.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
            finally:
                if setup.bucket:
                    setup.bucket.stop()
        finally:
            setup.postgres.stop()
    return run


def target_lines(results):
    lines = []
    for target in TARGETS:
        values = target.values(results)
        if not values:
            continue
        value = statistics.median(values)
        unit = "" if target.unit == "×" else f" {target.unit}"
        lines.append([target.row, target.what, target.wording(), f"{value:.3g}{unit}", f"{min(values):.3g} – {max(values):.3g}",
                      target.verdict(value)])
    return lines


def figure_lines(results):
    lines = []
    for name, result in results.items():
        for server, figures in result["servers"].items():
            is_pgbench = figures["cpu"] == 0
            lines.append([name, server, "–" if is_pgbench else report.number(figures["cpu"] * 1e6),
                          report.number(figures["database_cpu"] * 1e6) if server != "folder" else "–",
                          report.number(figures["wall"] * 1e6), report.number(figures["rate"]), spread(figures["turns"], "rate"),
                          report.number(figures["p99"] * 1e3) if "p99" in figures else "–"])
    return lines


def spread(turns, key):
    """Returns the lowest and the highest value, relative to the median."""
    values = [turn[key] for turn in turns]
    middle = statistics.median(values)
    return f"{min(values) / middle - 1:+.0%} – {max(values) / middle - 1:+.0%}"


TITLE = "Shares in a database"


def part(run):
    """Returns the section of the document."""
    results = {result["row"]: result for result in run["rows"]}
    described, settings = run["machine"], run["settings"]
    titles = "\n".join(f"- `{name}`: {result['title']}" for name, result in results.items())
    failures = "".join(f"\n- {name}, {server}: {text}" for name, result in results.items()
                       for server, text in result["failures"].items())
    return f"""## {TITLE}

From `make bench-cluster` on {run['date']}: {described['cores']} cores ({described['processor']}), {described['memory_gib']} GiB, \
{described['kernel']}, {described['distribution']}, load {described['load']:.0f} at the start; \
{run['rounds']} rounds after a warm-up round. PostgreSQL {run['postgres']} on the same machine and on {described['disk_volume']}, \
with {', '.join(f'{name} = {value}' for name, value in settings.items())}. The folder share is served by the same program from
{described['memory_volume']}, or from the disk where the row says so. pgbench (`-M prepared`) runs exactly the statements that the
requests of the row run, with parameters of the same kind and in the same round trips, with 8 connections, as many as a node uses,
unless the row says otherwise. Client, davit and PostgreSQL share the processors. Ratios are computed within a round.

{document.words_table(["row", "measure", "target", "measured", "range of the rounds", ""], target_lines(results))}

{titles}

Medians of the rounds; units are requests, pairs of LOCK and UNLOCK, or GiB:

{document.table(["row and server", "", "CPU of davit, µs", "CPU of PostgreSQL, µs", "time, µs", "per second", "range", "p99 ms"],
                figure_lines(results))}""" + (f"\n\nWithout figures:\n{failures}" if failures else "")


def main():
    options = parse()
    if options.list:
        for row in cluster.ROWS:
            print(f"{row.name:20} {row().title}")
        return
    if options.render:
        import json
        with open(options.render) as file:
            run = json.load(file)
        document.keep(run, "cluster", part, options.markdown)
        return
    for program in (options.davit, options.rclone):
        if not os.access(program, os.X_OK):
            sys.exit(f"cluster: {program} not found; `make bench-cluster` builds and installs what is needed")
    if not shutil.which("pgbench") or not shutil.which("lighttpd"):
        sys.exit("cluster: pgbench or lighttpd is not installed")
    help_text = subprocess.run([options.davit, "serve", "--help"], stdout=subprocess.PIPE, text=True).stdout
    if "--database" not in help_text:
        sys.exit(f"cluster: {options.davit} is built without the trait Postgres")
    # Stop the servers on SIGTERM as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    run = measure_all(options)
    document.keep(run, "cluster", part, options.markdown)
    wrong = [result["title"] for result in run["rows"] if result["failures"]]
    for title in wrong:
        print(f"a server failed: {title}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
