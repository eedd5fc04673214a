#!/usr/bin/env python3
"""Compares davit with nginx, lighttpd and Apache. The servers do the same work in turns, and each round starts with a
different server.

The main figure is the processor time of the server's whole process tree, which varies by a few percent between runs, whereas
the wall clock time varies much more. Every status, size and number of entries is checked. Prints a table for each row and a
summary, and saves all figures as JSON. Exits with 1 if davit returned a wrong response.
"""

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time

import document
import machine
import profiles
import programs
import report
import targets
from client import Client
from contest import Contest, Setup
from earlier import Earlier
from rows import ROWS


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=".build/release/davit")
    parser.add_argument("--rows", help="comma-separated names (default: all)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and exit")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds after the warm-up (default: 5)")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a turn of work that can stop at any time (default: 0.7)")
    parser.add_argument("--memory", default="/dev/shm", help="folder for content, on tmpfs (default: /dev/shm)")
    parser.add_argument("--disk", default=tempfile.gettempdir(), help="folder for state, and for content of the disk rows")
    parser.add_argument("--json", default="bench-results/bench.json", help="the output file for all figures")
    parser.add_argument("--merge", action="store_true", help="keep rows of the output file that are not part of this run")
    parser.add_argument("--profile", action="store_true", help="show where the time of rows that miss the general target goes")
    parser.add_argument("--markdown", help="also write the document to this file")
    parser.add_argument("--render", help="only print and write the document, from the figures in this file")
    options = parser.parse_args()
    names = options.rows.split(",") if options.rows else [row.name for row in ROWS]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"unknown row {', '.join(sorted(unknown))}; see --list")
    options.rows = [row for row in ROWS if row.name in names]
    return options


def run_rows(options, setup):
    results, skipped = [], {}
    for row in (kind() for kind in options.rows):
        reason = row.unavailable(setup)
        if reason:
            skipped[row.name] = reason
            print(f"{row.name}: skipped: {reason}\n", flush=True)
            continue
        started = time.monotonic()
        contest = Contest(row, setup)
        contest.run()
        results.append(report.summarize(row, contest))
        print(report.row_text(results[-1]), flush=True)
        print(f"{row.name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return results, skipped


def merge(earlier, run):
    """Returns the rows of an earlier run, with those that were run again replaced."""
    rows = {row["row"]: row for row in [*earlier["rows"], *run["rows"]]}
    again = {*earlier.get("again", []), *(row["row"] for row in run["rows"])}
    order = [row.name for row in ROWS if row.name in rows]
    return {**run, "rounds": min(run["rounds"], earlier["rounds"]), "rows": [rows[name] for name in order],
            "servers": {**earlier["servers"], **run["servers"]}, "profiles": {**earlier.get("profiles", {}), **run["profiles"]},
            "skipped": {name: why for name, why in {**earlier["skipped"], **run["skipped"]}.items() if name not in rows},
            "again": [name for name in order if name in again]}


def measure_all(options):
    """Runs all rows and returns the figures."""
    with tempfile.TemporaryDirectory(prefix="davit-bench.", dir=options.memory) as memory, \
            tempfile.TemporaryDirectory(prefix="davit-bench.", dir=options.disk) as disk:
        # Apache runs as a different user.
        os.chmod(memory, 0o755)
        os.chmod(disk, 0o755)
        compiled = programs.compile_all(disk)
        setup = Setup(os.path.abspath(options.davit), compiled, Client(compiled["client"], disk), memory, disk,
                      options.rounds, options.seconds)
        run = {"date": time.strftime("%Y-%m-%d"), "rounds": options.rounds, "seconds": options.seconds,
               "machine": machine.describe(setup), "servers": machine.versions(setup, options.rows)}
        try:
            run["rows"], run["skipped"] = run_rows(options, setup)
            folder = os.path.join(os.path.dirname(os.path.abspath(options.json)), "profile")
            run["profiles"] = profiles.run(run["rows"], options.rows, setup, folder) if options.profile else {}
        finally:
            setup.xfs.unmount()
    if options.merge and os.path.exists(options.json):
        with open(options.json) as file:
            run = merge(json.load(file), run)
    missed = profiles.missed(run["rows"])
    run["profiles"] = {row: profile for row, profile in run["profiles"].items() if row in missed}
    run["growth"] = report.growth(run["rows"])
    # Replaces the paths of temporary folders, which mean nothing to readers.
    text = json.dumps(run, indent=1).replace(memory, "MEMORY").replace(disk, "DISK")
    os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
    with open(options.json, "w") as file:
        file.write(text + "\n")
    return json.loads(text)


def conclude(options, run):
    """Prints the summary and writes the document."""
    print(report.summary_text(run["rows"]))
    for title, exponents in run["growth"].items():
        print(f"growth of {title}: " + ", ".join(f"{name} {value:.2f}" for name, value in exponents.items()))
    for target, value, is_met in targets.check(run["rows"]):
        if is_met is False:
            print(f"missed: {target.row}: {target.wording()}: {report.number(value)}")
    for profile in run.get("profiles", {}).values():
        print(profiles.text(profile))
    if options.markdown:
        earlier = Earlier.read(options.markdown)
        if not options.merge:
            earlier = earlier.of_other_scripts()
        with open(options.markdown, "w") as file:
            file.write(document.render(run, earlier))


def main():
    options = parse()
    if options.list:
        for row in ROWS:
            print(f"{row.name:16} {row.title}")
        return
    if options.render:
        with open(options.render) as file:
            conclude(options, json.load(file))
        return
    if not os.access(options.davit, os.X_OK):
        sys.exit(f"bench: davit not found at {options.davit}; run 'make build' first")
    # Stop the servers on SIGTERM as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    run = measure_all(options)
    conclude(options, run)
    wrong = [result["title"] for result in run["rows"] if "davit" in result["failures"]]
    for title in wrong:
        print(f"davit returned a wrong response: {title}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
