#!/usr/bin/env python3
"""Tests davit nodes while connections, the database or disks fail.

    Tests/Cluster/faults.py --davit PATH --postgres FOLDER --rclone PATH

The arguments are those of nodes.py. Starts PostgreSQL servers of its own in FOLDER. Prints a line for each failed check; the
last line is `faults: N passed, M failed`.
"""

import argparse
import pathlib
import sys
import tempfile
import time

from clock import clock
from cuts import balanced, cuts
from failover import failover
from nodes import Report
from outages import outages

PARTS = {"cuts": cuts, "balanced": balanced, "failover": failover, "outages": outages, "clock": clock}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", required=True, type=pathlib.Path)
    parser.add_argument("--postgres", required=True, type=pathlib.Path)
    parser.add_argument("--rclone", required=True, type=pathlib.Path, help="an rclone with `serve s3`")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--short", action="store_true", help="the same as --only cuts")
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory(prefix="davit-faults-") as work:
        for name, part in PARTS.items():
            if (options.only or options.short and "cuts") in (None, False, name):
                start = time.monotonic()
                part(report, options.davit.resolve(), options.postgres, pathlib.Path(work), options.rclone)
                print(f"faults: {name} took {time.monotonic() - start:.0f} s", flush=True)
    print(f"faults: {report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
