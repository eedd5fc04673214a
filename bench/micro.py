#!/usr/bin/env python3
"""Measures small parts of a request: compares DavitBenchmarks with bench/micro.json.

Times are stored as ratios to a loop in the same process, so that they are comparable between machines. The ratios still
vary on shared virtual machines, so only large deviations from the baseline are reported. Allocations are exact.
"""

import argparse
import json
import mmap
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Tests", "Guard"))
from server import build_preload

BASELINE = os.path.join(HERE, "micro.json")
# document.py reads the last run from here.
FOUND = os.path.join(HERE, "..", "bench-results", "micro.json")
TIME_TOLERANCE = 0.3
ALLOCATION_TOLERANCE = 0.1


def parse():
    program = os.path.join(HERE, "..", ".build", "release", "DavitBenchmarks")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default=os.path.normpath(program))
    parser.add_argument("--accept", action="store_true", help="save the results as the baseline")
    return parser.parse_args()


def measure(program):
    """Returns nanoseconds, ratio and allocations by name."""
    with tempfile.TemporaryDirectory(prefix="davit-micro.") as folder:
        counts = os.path.join(folder, "counts")
        with open(counts, "wb") as file:
            file.truncate(mmap.PAGESIZE)
        environment = dict(os.environ, LD_PRELOAD=build_preload(folder), DAVIT_GUARD_ALLOCATIONS=counts)
        output = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout
    rows = (line.split("\t") for line in output.splitlines())
    return {name: {"nanoseconds": float(time), "ratio": float(ratio), "allocations": round(float(allocations), 1)}
            for name, time, ratio, allocations in rows}


def verdict(was, now):
    if was is None:
        return "new"
    parts = []
    for key, tolerance in (("ratio", TIME_TOLERANCE), ("allocations", ALLOCATION_TOLERANCE)):
        if now[key] > was[key] * (1 + tolerance):
            parts.append(f"{key} worse: {was[key]:g} -> {now[key]:g}")
        elif now[key] < was[key] * (1 - tolerance):
            parts.append(f"{key} better: {was[key]:g} -> {now[key]:g}")
    return ", ".join(parts)


def main():
    options = parse()
    found = measure(options.program)
    accepted = {}
    if os.path.exists(BASELINE):
        with open(BASELINE) as file:
            accepted = json.load(file)
    print(f"{'part':48} {'ns':>8} {'ratio':>7} {'allocations':>11}")
    worse = 0
    for name, now in found.items():
        result = verdict(accepted.get(name), now)
        worse += "worse" in result
        print(f"{name:48} {now['nanoseconds']:8.0f} {now['ratio']:7.2f} {now['allocations']:11g}  {result}".rstrip())
    os.makedirs(os.path.dirname(FOUND), exist_ok=True)
    with open(FOUND, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    if options.accept:
        kept = {name: {"ratio": round(now["ratio"], 2), "allocations": now["allocations"]}
                for name, now in found.items()}
        with open(BASELINE, "w") as file:
            json.dump(kept, file, indent=1, sort_keys=True)
            file.write("\n")
    sys.exit(1 if worse and not options.accept else 0)


if __name__ == "__main__":
    main()
