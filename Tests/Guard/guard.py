#!/usr/bin/env python3
"""Counts the system calls and allocations of requests, and compares them with the accepted baseline.

The counts are independent of the machine's load: a single client sends sequential requests on one connection, and
waits until all threads of the server are idle before each one. A count more than 10 % above baseline.json is a failure.
With a different kernel, only allocations are compared, and may rise by 30 %. System calls that clients depend on must occur on
every kernel.
"""

import contextlib
import io
import os
import platform
import re
import sys
import tempfile

from baseline import Baseline, option_parser, print_advice, run_script
from cases import CASES, HUNDRED, MEMBERS, THOUSAND, per_member
from client import Client
from server import HERE, CountingServer, Tools, prepared_folders

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


def count(case, tools, binary, place):
    """Returns the cost of one request: allocations, bytes and, if tracing is allowed, system calls by name."""
    with prepared_folders(place, binary, [case]) as (root, work):
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
    if status != 0:
        raise RuntimeError(f"{case.name}: davit ended with status {status}")
    result = {"allocations": (after[0] - before[0]) / case.count, "bytes": (after[1] - before[1]) / case.count}
    if tools.can_trace:
        spent = {tools.names.get(number, f"call {number}"): (late - early) / case.count
                 for number, (early, late) in enumerate(zip(before[2], after[2])) if late != early}
        result["calls"] = {name: spent[name]
                           for name in sorted(spent.keys() - WAITING - MEMORY - THREADS - case.uncounted)}
    return result


def cost_per_member(few, many):
    """Returns the average cost of each of 900 additional members."""
    result = per_member(without_calls(few), without_calls(many))
    if "calls" in many:
        result["calls"] = per_member(few["calls"], many["calls"])
    return result


def without_calls(cost):
    return {key: figure for key, figure in cost.items() if key != "calls"}


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


class CostBaseline(Baseline):
    """The accepted costs. They depend on the release of the kernel, which determines the available system calls."""

    key = None

    @property
    def tolerance(self):
        return TOLERANCE_ELSEWHERE if self.differs("kernel") else TOLERANCE

    def compare(self, name, cost):
        """Returns the values that rose, and those that fell. System calls are only compared on the kernel of the baseline."""
        return compare(self.requests[name], without_calls(cost) if self.differs("kernel") else cost, self.tolerance)

    def has_risen(self, name, cost):
        return name in self.requests and bool(self.compare(name, cost)[0])

    def accept(self, found, is_complete):
        self.store({name: settled(self.requests.get(name), cost) for name, cost in found.items()}, is_complete)


def settled(accepted, cost):
    """Returns the values to store: the old value of each figure that changed only slightly, and the new value of the others."""
    old = {what: figure for what, figure, _ in figures(accepted)} if accepted else {}

    def keep(what, figure, room):
        was = old.get(what)
        same = was is not None and abs(figure - was) <= max(was * NOISE, room / 2)
        return was if same else round(figure, 1 if what == "bytes" else 2)

    kept = {what: keep(what, figure, room) for what, figure, room in figures(cost)}
    result = {key: kept.pop(key) for key in ("allocations", "bytes")}
    result["calls"] = {what: figure for what, figure in kept.items() if figure != 0}
    return result


def this_kernel():
    """Returns the kernel release, such as `6.18`."""
    return {"kernel": ".".join(platform.release().split(".")[:2])}


def show(name, cost):
    print(f"{name}: {cost['allocations']:.2f} allocations, {cost['bytes']:.0f} bytes")
    if "calls" in cost:
        print("    " + ", ".join(f"{call} {figure:.2f}" for call, figure in cost["calls"].items()))


def report(baseline, found, needed):
    """Prints the changes, and returns the number of passed and failed cases.

    `needed` contains the system calls that each request of a case must make, even where their number is not compared."""
    failed = improved = 0
    for name, cost in found.items():
        if name not in baseline.requests:
            print(f"FAILED: {name} has no baseline")
            failed += 1
            continue
        worse, better = baseline.compare(name, cost)
        calls = needed.get(name, ())
        missing = sorted(call for call in calls if cost["calls"].get(call, 0) < 1) if "calls" in cost else []
        if worse:
            print(f"FAILED: {name} costs more: {', '.join(worse)}")
        if missing:
            print(f"FAILED: {name} makes no {', '.join(missing)}")
        if worse or missing:
            failed += 1
        if calls and "calls" not in cost:
            print(f"SKIPPED: {name}: calls of {', '.join(sorted(calls))} cannot be checked without tracing")
        if better:
            print(f"better: {name}: {', '.join(better)}")
            improved += 1
    print_advice(failed, improved)
    return len(found) - failed, failed


def self_test():
    """Compares known costs with a baseline. Returns the number of passed and failed checks."""
    accepted = {"allocations": 10, "bytes": 1000, "calls": {"read": 1}}
    one_more, two_more, four_more = (accepted | {"allocations": 10 + more} for more in (1, 2, 4))
    here, elsewhere = this_kernel(), {"kernel": "0"}
    # The machine of the baseline, the cost, the needed system calls, and the expected results.
    checks = [(here, accepted, ["read"], []), (here, one_more, [], []), (here, two_more, [], ["FAILED:"]),
              (here, accepted | {"calls": {"read": 2}}, [], ["FAILED:"]), (here, accepted, ["write"], ["FAILED:"]),
              (here, without_calls(accepted), ["read"], ["SKIPPED:"]),
              (elsewhere, accepted | {"calls": {"read": 2}}, ["read"], []), (elsewhere, accepted, ["write"], ["FAILED:"]),
              (elsewhere, two_more, [], []), (elsewhere, four_more, [], ["FAILED:"]),
              (elsewhere, without_calls(accepted), ["write"], ["SKIPPED:"])]
    failed = 0
    for machine, cost, calls, expected in checks:
        with tempfile.TemporaryDirectory(prefix="davit-guard.") as folder, \
                contextlib.redirect_stdout(io.StringIO()) as output:
            path = os.path.join(folder, "baseline.json")
            CostBaseline(path, machine).store({"known": accepted}, is_complete=True)
            failures = report(CostBaseline(path, here), {"known": cost}, {"known": calls})[1]
        results = re.findall(r"^\w+:", output.getvalue(), re.MULTILINE)
        if results != expected or failures != expected.count("FAILED:"):
            print(f"FAILED: {failures} failures of {cost} that needs {calls}, baseline of {machine}\n{output.getvalue()}")
            failed += 1
    return len(checks) - failed, failed


def main():
    options = option_parser(__doc__).parse_args()
    run_script("guard", lambda: run(options))


def run(options):
    passed, failed = self_test()
    chosen = [case for case in CASES if options.only in case.name]
    found = {}
    baseline = CostBaseline(BASELINE, this_kernel())
    with tempfile.TemporaryDirectory(prefix="davit-guard.", dir="/dev/shm") as folder, \
            tempfile.TemporaryDirectory(prefix="davit-guard.") as built:
        tools = Tools(built)
        if not tools.can_trace:
            print(f"SKIPPED: system calls: tracing is not permitted ({tools.refusal})")
            if options.accept:
                sys.exit("guard: a baseline requires system call counts")
        for number, case in enumerate(chosen):
            for turn in range(1 if options.accept else TURNS):
                cost = count(case, tools, options.davit, os.path.join(folder, f"{number}-{turn}"))
                if not baseline.has_risen(case.name, cost):
                    break
            found[case.name] = cost
    if HUNDRED.name in found and THOUSAND.name in found:
        found[MEMBERS] = cost_per_member(found[HUNDRED.name], found[THOUSAND.name])
    if options.verbose:
        for name, cost in found.items():
            show(name, cost)
    if options.accept:
        baseline.accept(found, is_complete=not options.only)
    if tools.can_trace and baseline.differs("kernel"):
        print(f"SKIPPED: system calls: the baseline was recorded on Linux {baseline.recorded['kernel']}, but this is Linux "
              f"{baseline.machine['kernel']}")
    counts = report(baseline, found, {case.name: case.needed for case in CASES})
    return passed + counts[0], failed + counts[1]


if __name__ == "__main__":
    main()
