#!/usr/bin/env python3
"""Counts the system calls and allocations of requests, and compares them with the accepted baseline.

The counts are independent of the machine's load: a single client sends sequential requests on one connection, and
waits until all threads of the server are idle before each one. A count more than 10 % above baseline.json is a failure,
or more than 30 % with a different kernel.
"""

import json
import os
import platform
import shutil
import sys
import tempfile

from cases import CASES, HUNDRED, THOUSAND
from client import Client
from server import HERE, CountingServer, Tools, option_parser

BASELINE = os.path.join(HERE, "baseline.json")
TOLERANCE = 0.10
# On a different kernel, requests may take a different code path with some more allocations.
TOLERANCE_ELSEWHERE = 0.30
# A case above its baseline is counted again, because occasionally a thread returns a resource late, and another is allocated.
TURNS = 3
# The accepted deviation of a mean: rare events, such as the growth of a table, may or may not occur.
SLACK = {"allocations": 0.2, "bytes": 64, "calls": 0.06}
# How much a socket accepts per call depends on the kernel release; the rest is sent by another call.
SEND_SLACK = {"sendmsg": 1}
# For smaller changes, the file keeps its values, so that diffs show only real changes.
NOISE = 0.01

# These calls are not counted. Waiting, waking and the number of pool threads depend on the scheduling of threads and the timers
# of the event loop. How the heap requests memory from the system depends on the layout of the address space.
WAITING = {"clock_nanosleep", "futex", "epoll_wait", "epoll_pwait", "epoll_pwait2", "sched_yield", "restart_syscall",
           "rt_sigreturn"}
MEMORY = {"brk", "mmap", "munmap", "mremap", "madvise", "mprotect"}
THREADS = {"clone", "clone3", "exit", "gettid", "prctl", "rseq", "rt_sigprocmask", "set_robust_list"}

MEMBERS = "PROPFIND Depth 1, each further member"


def count(case, tools, binary, place):
    """Returns the cost of one request: allocations, bytes and, if tracing is allowed, system calls by name."""
    root, work = os.path.join(place, "root"), os.path.join(place, "work")
    os.makedirs(root)
    os.makedirs(work)
    case.prepare(root)
    case.set_up(binary, root, os.path.join(work, "state"))
    server = CountingServer(tools, binary, root, work, case.options, case.program)
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
    """Returns the average cost of each of 900 additional members."""
    few, many = found[HUNDRED.name], found[THOUSAND.name]
    more = THOUSAND.members - HUNDRED.members
    result = {key: (many[key] - few[key]) / more for key in ("allocations", "bytes")}
    if "calls" in many:
        names = sorted(many["calls"].keys() | few["calls"].keys())
        result["calls"] = {name: (many["calls"].get(name, 0) - few["calls"].get(name, 0)) / more for name in names}
    return result


def figures(cost):
    """Yields (name, value, slack) for every compared value."""
    for key in ("allocations", "bytes"):
        yield key, cost[key], SLACK[key]
    for name, figure in cost.get("calls", {}).items():
        yield name, figure, SEND_SLACK.get(name, SLACK["calls"])


def compare(accepted, cost, tolerance):
    """Returns descriptions of the values that rose by more than the tolerance, and of those that fell by more than it."""
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
    """Returns the values to store: the old value of each figure that changed only slightly, and the new value of the others."""
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
    """Returns the kernel release, such as `6.18`, which determines the available system calls."""
    return ".".join(platform.release().split(".")[:2])


def load():
    """Returns the kernel of the baseline, and its values."""
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
    """Prints the changes, and returns the number of passed and failed cases."""
    needed = {case.name: case.needed for case in CASES}
    failed = improved = 0
    for name, cost in found.items():
        if name not in accepted:
            print(f"FAILED: {name} has no baseline")
            failed += 1
            continue
        worse, better = compare(accepted[name], cost, tolerance)
        missing = sorted(call for call in needed.get(name, ()) if cost.get("calls", {call: 1}).get(call, 0) < 1)
        if worse:
            print(f"FAILED: {name} costs more: {', '.join(worse)}")
        if missing:
            print(f"FAILED: {name} makes no {', '.join(missing)}")
        if worse or missing:
            failed += 1
        if better:
            print(f"better: {name}: {', '.join(better)}")
            improved += 1
    if failed:
        print("If this is intended, run 'make guard-accept' to update the baseline, and explain it in the commit.")
    elif improved:
        print("Run 'make guard-accept' to update the baseline.")
    return len(found) - failed, failed


def main():
    options = option_parser(__doc__).parse_args()
    if platform.system() != "Linux":
        print("guard: skipped: requires Linux")
        print("guard: 0 passed, 0 failed")
        return
    if not os.access("/dev/shm", os.W_OK):
        print("guard: skipped: /dev/shm is not writable")
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
            print(f"system calls: skipped: tracing is not permitted ({tools.refusal})")
            if options.accept:
                sys.exit("guard: a baseline requires system call counts")
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
        print(f"system calls: skipped: the baseline was recorded on Linux {baseline_kernel}, but this is Linux {kernel()}")
    passed, failed = report(accepted, found, tolerance)
    print(f"guard: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
