#!/usr/bin/env python3
"""davit against nginx: the same work, turn by turn, each round starting with the other one.

Processor time of the server for each request comes first: it moves by some percent from run to run where the wall
clock moves by a factor. Content lies on tmpfs, state on the disk. Every status, size and member count is checked.
Prints a table, then JSON. Ends with 1 if davit needs more than `--limit` times the processor time of nginx.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import measure
from rows import ROWS, WrongAnswer
from servers import Davit, Nginx


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=".build/release/davit")
    parser.add_argument("--rows", help=f"of {','.join(row.name for row in ROWS)}; default all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4, help="of each turn of GET and PUT")
    parser.add_argument("--limit", type=float, default=2.0, help="of processor time, as a multiple of nginx's")
    parser.add_argument("--json", help="a file for the JSON; default standard output")
    options = parser.parse_args()
    names = options.rows.split(",") if options.rows else [row.name for row in ROWS]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"no row is called {', '.join(sorted(unknown))}")
    options.rows = [row(options) for row in ROWS if row.name in names]
    return options


def take_turn(row, server, root, turn):
    """One measured piece of work."""
    row.before(root, turn)
    measure.forget_peak_memory(server.process.pid)
    cpu = measure.cpu_seconds(server.process.pid)
    wall = time.monotonic()
    amount = row.run(server.port, root, turn)
    wall = time.monotonic() - wall
    cpu = measure.cpu_seconds(server.process.pid) - cpu
    memory = measure.peak_memory(server.process.pid)
    row.after(root, turn)
    return {"cpu": cpu / amount, "wall": wall / amount, "memory": memory}


def compare(row, options, work, content):
    """All rounds of one row; a list of turns for each server."""
    starters, running, roots = {
        "davit": lambda root, place: Davit(options.davit, root, place),
        "nginx": lambda root, place: Nginx(root, place, workers=os.cpu_count()),
    }, {}, {}
    turns = {name: [] for name in starters}
    try:
        for name, start in starters.items():
            roots[name] = os.path.join(content, f"{row.name}-{name}")
            place = os.path.join(work, f"{row.name}-{name}")
            os.mkdir(roots[name])
            os.mkdir(place)
            row.prepare(roots[name])
            running[name] = start(roots[name], place)
        order = list(starters)
        for round_ in range(options.rounds + 1):
            for name in order:
                taken = take_turn(row, running[name], roots[name], round_)
                # The first round warms up caches, pools and file systems.
                if round_ > 0:
                    turns[name].append(taken)
            order.append(order.pop(0))
    finally:
        for server in running.values():
            server.stop()
        for root in roots.values():
            shutil.rmtree(root, ignore_errors=True)
    return turns


def summarise(row, turns):
    def median(name, key):
        return statistics.median(turn[key] for turn in turns[name])

    result = {"row": row.name, "title": row.title, "unit": row.unit, "turns": turns}
    for name in turns:
        result[name] = {"cpu": median(name, "cpu") * row.scale, "wall": median(name, "wall") * row.scale,
                        "memory": max(turn["memory"] for turn in turns[name])}
    # Round by round, because the machine changes between rounds and not within one.
    pairs = list(zip(turns["davit"], turns["nginx"]))
    for key in ("cpu", "wall"):
        result[f"{key}_ratio"] = statistics.median(davit[key] / nginx[key] for davit, nginx in pairs)
    return result


def print_table(results):
    head = f"{'':38} {'':11} {'CPU':^24}  {'wall':^24}  {'peak MiB':^13}"
    print(head.rstrip())
    print(f"{'work':38} {'unit':11} {'davit':>8} {'nginx':>8} {'ratio':>6}  {'davit':>8} {'nginx':>8}"
          f" {'ratio':>6}  {'davit':>6} {'nginx':>6}")
    for result in results:
        davit, nginx = result["davit"], result["nginx"]
        print(f"{result['title']:38} {result['unit']:11} {davit['cpu']:8.2f} {nginx['cpu']:8.2f}"
              f" {result['cpu_ratio']:6.2f}  {davit['wall']:8.2f} {nginx['wall']:8.2f}"
              f" {result['wall_ratio']:6.2f}  {davit['memory'] / 2**20:6.1f} {nginx['memory'] / 2**20:6.1f}")


def main():
    options = parse()
    if not os.access(options.davit, os.X_OK):
        sys.exit(f"bench: no davit at {options.davit}; run 'make build' first")
    for tool in ("nginx", "wrk"):
        if shutil.which(tool) is None:
            sys.exit(f"bench: {tool} is not installed; run 'make bench'")
    results = []
    with tempfile.TemporaryDirectory(prefix="davit-bench.", dir="/dev/shm") as content, \
            tempfile.TemporaryDirectory(prefix="davit-bench.") as work:
        for row in options.rows:
            print(f"{row.title}: {options.rounds} rounds", file=sys.stderr, flush=True)
            try:
                results.append(summarise(row, compare(row, options, work, content)))
            except (WrongAnswer, RuntimeError, OSError, subprocess.CalledProcessError) as problem:
                sys.exit(f"bench: {row.title}: {problem}")
    print_table(results)
    text = json.dumps({"cores": os.cpu_count(), "rounds": options.rounds, "rows": results}, indent=1)
    if options.json:
        with open(options.json, "w") as file:
            file.write(text + "\n")
    else:
        print(text)
    over = [result["title"] for result in results if result["cpu_ratio"] > options.limit]
    for title in over:
        print(f"over {options.limit} × nginx: {title}", file=sys.stderr)
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
