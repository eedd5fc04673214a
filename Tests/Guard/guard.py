#!/usr/bin/env python3
"""Counts what requests cost in system calls and in allocations, and compares that with what is accepted.

Neither depends on the mood of the machine: one client asks one thing after another on one connection, and each
time all threads of the server have come to rest before the next. More than 10 % worse than baseline.json fails.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile

from cases import CASES, HUNDRED, THOUSAND
from client import Client
from server import HERE, Server, Tools

BASELINE = os.path.join(HERE, "baseline.json")
TOLERANCE = 0.10
# On another kernel than the baseline's a request may go another way, which takes some allocations more.
TOLERANCE_ELSEWHERE = 0.30
# What costs more is counted again: once in a while a thread that hands something back comes late, and that is made anew.
TURNS = 3
# A mean may be off by this: what happens once in many requests, as when a table grows, may fall in or out.
SLACK = {"allocations": 0.2, "bytes": 64, "calls": 0.06}
# How much a socket takes at once is up to the kernel, in each of its releases, and what it has left is sent again.
SEND_SLACK = {"sendmsg": 1}
# Less than this is no news: the file keeps its figures, so that its diffs show what changed.
NOISE = 0.01

# Not counted. How often a thread waits, and is woken, depends on which of two threads comes first and on the
# timers of the loop, and so does how many threads the pool has; how the heap gets its memory from the system depends
# on the layout of the address space.
WAITING = {"clock_nanosleep", "futex", "epoll_wait", "epoll_pwait", "epoll_pwait2", "sched_yield", "restart_syscall",
           "rt_sigreturn"}
MEMORY = {"brk", "mmap", "munmap", "mremap", "madvise", "mprotect"}
THREADS = {"clone", "clone3", "exit", "gettid", "prctl", "rseq", "rt_sigprocmask", "set_robust_list"}

MEMBERS = "PROPFIND Depth 1, each further member"


def parse():
    build = os.path.normpath(os.path.join(HERE, "..", "..", ".build"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", f"{build}/release/davit"))
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--accept", action="store_true", help="make what is found the baseline")
    parser.add_argument("--verbose", action="store_true", help="print every figure")
    return parser.parse_args()


def count(case, tools, binary, place):
    """The cost of one request: allocations, bytes and, where tracing is allowed, calls by name."""
    root, work = os.path.join(place, "root"), os.path.join(place, "work")
    os.makedirs(root)
    os.makedirs(work)
    case.prepare(root)
    server = Server(tools, binary, root, work, case.options, case.program)
    try:
        client = Client(server.port, server.settle, case.is_secure)
        case.begin(client)
        for turn in range(case.warm):
            case.ask(client, turn)
        before = server.read()
        for turn in range(case.warm, case.turns):
            case.ask(client, turn)
        after = server.read()
        client.close()
    finally:
        status = server.stop()
        shutil.rmtree(place)
    if status != 0:
        raise RuntimeError(f"{case.name}: davit ended with status {status}")
    result = {"allocations": (after[0] - before[0]) / case.count, "bytes": (after[1] - before[1]) / case.count}
    if tools.can_trace:
        spent = {tools.names.get(number, f"call {number}"): (late - early) / case.count
                 for number, (early, late) in enumerate(zip(before[2], after[2])) if late != early}
        result["calls"] = {name: spent[name]
                           for name in sorted(spent.keys() - WAITING - MEMORY - THREADS - case.uncounted)}
    return result


def per_member(found):
    """What 900 members more cost, for each of them."""
    few, many = found[HUNDRED.name], found[THOUSAND.name]
    more = THOUSAND.members - HUNDRED.members
    result = {key: (many[key] - few[key]) / more for key in ("allocations", "bytes")}
    if "calls" in many:
        names = sorted(many["calls"].keys() | few["calls"].keys())
        result["calls"] = {name: (many["calls"].get(name, 0) - few["calls"].get(name, 0)) / more for name in names}
    return result


def figures(cost):
    """(What, figure, slack) for everything that is compared."""
    for key in ("allocations", "bytes"):
        yield key, cost[key], SLACK[key]
    for name, figure in cost.get("calls", {}).items():
        yield name, figure, SEND_SLACK.get(name, SLACK["calls"])


def compare(accepted, cost, tolerance):
    """Lines on what is worse, and on what is better."""
    old = {what: figure for what, figure, _ in figures(accepted)}
    new = {what: figure for what, figure, _ in figures(cost)}
    slack = {what: room for side in (accepted, cost) for what, _, room in figures(side)}
    if "calls" not in cost:
        old = {what: old[what] for what in new}
    worse, better = [], []
    for what in sorted(old.keys() | new.keys()):
        was, now = old.get(what, 0), new.get(what, 0)
        margin = max(was * tolerance, slack[what])
        if abs(now - was) > margin:
            (worse if now > was else better).append(f"{what} {was:.6g} -> {now:.6g}")
    return worse, better


def settled(accepted, cost):
    """The figures to store: old ones where nothing changed."""
    if accepted is None:
        accepted = {}
    old = {what: figure for what, figure, _ in figures(accepted)} if accepted else {}

    def keep(what, figure, room):
        was = old.get(what)
        same = was is not None and abs(figure - was) <= max(was * NOISE, room / 2)
        return was if same else round(figure, 1 if what == "bytes" else 2)

    kept = {what: keep(what, figure, room) for what, figure, room in figures(cost)}
    result = {key: kept.pop(key) for key in ("allocations", "bytes")}
    result["calls"] = {what: figure for what, figure in kept.items() if figure != 0}
    return result


def kernel():
    """Which system calls there are, and what they can, depends on it: `6.18`."""
    return ".".join(platform.release().split(".")[:2])


def load():
    """The kernel of the baseline, and its figures."""
    if not os.path.exists(BASELINE):
        return None, {}
    with open(BASELINE) as file:
        baseline = json.load(file)
    return baseline["kernel"], baseline["requests"]


def store(accepted, found):
    merged = dict(accepted)
    for name, cost in found.items():
        merged[name] = settled(accepted.get(name), cost)
    if len(found) > len(CASES):
        merged = {name: merged[name] for name in found}
    with open(BASELINE, "w") as file:
        json.dump({"kernel": kernel(), "requests": merged}, file, indent=1, sort_keys=True)
        file.write("\n")


def show(name, cost):
    print(f"{name}: {cost['allocations']:.2f} allocations, {cost['bytes']:.0f} bytes")
    if "calls" in cost:
        print("    " + ", ".join(f"{call} {figure:.2f}" for call, figure in cost["calls"].items()))


def report(accepted, found, tolerance):
    """Prints what changed; how many passed and failed."""
    failed = improved = 0
    for name, cost in found.items():
        if name not in accepted:
            print(f"FAILED: {name} has no baseline")
            failed += 1
            continue
        worse, better = compare(accepted[name], cost, tolerance)
        if worse:
            print(f"FAILED: {name} costs more: {', '.join(worse)}")
            failed += 1
        if better:
            print(f"better: {name}: {', '.join(better)}")
            improved += 1
    if failed:
        print("If that is what is wanted, 'make guard-accept' makes it the baseline; say why in the commit.")
    elif improved:
        print("'make guard-accept' keeps what was won.")
    return len(found) - failed, failed


def main():
    options = parse()
    if platform.system() != "Linux":
        print("guard: skipped: it counts the system calls of Linux")
        print("guard: 0 passed, 0 failed")
        return
    if not os.access("/dev/shm", os.W_OK):
        print("guard: skipped: /dev/shm, where the share of the baseline is, cannot be written")
        print("guard: 0 passed, 0 failed")
        return
    chosen = [case for case in CASES if options.only in case.name]
    found = {}
    baseline_kernel, accepted = load()
    is_of_this_kernel = options.accept or baseline_kernel == kernel()
    tolerance = TOLERANCE if is_of_this_kernel else TOLERANCE_ELSEWHERE
    with tempfile.TemporaryDirectory(prefix="davit-guard.", dir="/dev/shm") as folder, \
            tempfile.TemporaryDirectory(prefix="davit-guard.") as built:
        tools = Tools(built)
        if not tools.can_trace:
            print(f"system calls: skipped: this machine does not allow tracing ({tools.refusal})")
            if options.accept:
                sys.exit("guard: a baseline needs the system calls too")
        for number, case in enumerate(chosen):
            for turn in range(1 if options.accept else TURNS):
                cost = count(case, tools, options.davit, os.path.join(folder, f"{number}-{turn}"))
                if not is_of_this_kernel:
                    cost.pop("calls", None)
                if not compare(accepted.get(case.name, cost), cost, tolerance)[0]:
                    break
            found[case.name] = cost
    if HUNDRED.name in found and THOUSAND.name in found:
        found[MEMBERS] = per_member(found)
    if options.verbose:
        for name, cost in found.items():
            show(name, cost)
    if options.accept:
        store(accepted, found)
        _, accepted = load()
    if not is_of_this_kernel:
        print(f"system calls: skipped: the baseline is of Linux {baseline_kernel}, this is {kernel()}")
    passed, failed = report(accepted, found, tolerance)
    print(f"guard: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
