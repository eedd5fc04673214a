#!/usr/bin/env python3
"""Counts the instructions of requests in user space, and compares them with the accepted baseline.

The counts replace measurements of time, because they are independent of the machine's load. Callgrind counts the instructions
that one event loop and its threads execute for sequential requests. A count more than 1 % above instructions.json is a
failure, or more than 10 % with a different compiler or libc. A case whose threads race may have a wider tolerance.
"""

import collections
import concurrent.futures
import contextlib
import functools
import io
import os
import platform
import re
import ssl
import statistics
import subprocess
import tempfile

from baseline import Baseline, option_parser, print_advice, run_script
from callgrind import SWIFT, build_control, demangle, measure
from cases import CASES, HUNDRED, MEMBERS, THOUSAND, per_member
from server import HERE

BASELINE = os.path.join(HERE, "instructions.json")
TOLERANCE = 0.01
# With another compiler or libc, the same code executes different instructions.
TOLERANCE_ELSEWHERE = 0.10
# A case above its baseline is counted again, and the lowest count is compared. Where a request moves between threads, the
# winner of a race changes the count by more than 1 %, and the slower outcome can repeat a few times.
TURNS = 6
# The baseline is the median of this many counts.
ACCEPTED_TURNS = 3
# For smaller changes, the file keeps its values, so that diffs show only real changes.
NOISE = 0.003
# The baseline lists the functions whose own instructions are at least this part of those of the request.
LISTED = 0.01
SHOWN_FUNCTIONS = 10
SPREADS = {case.name: case.spread for case in CASES}
SELF_TEST_CASE = "GET 1 KiB, again"


def parse():
    parser = option_parser(__doc__, ", and all functions whose cost rose")
    parser.add_argument("--functions", action="store_true", help="print the functions with the highest own cost")
    parser.add_argument("--self-test", action="store_true", help="check that baselines that are too low are detected")
    return parser.parse_args()


class Result:
    """The instructions of one request: their number, and those of each function."""

    def __init__(self, costs):
        self.costs = costs
        self.total = sum(costs.values())

    @functools.cached_property
    def functions(self):
        """The instructions by readable names. Those of functions with the same readable name are added."""
        readable, found = demangle(self.costs), collections.Counter()
        for name, cost in self.costs.items():
            found[readable[name]] += cost
        return dict(found)

    def listed(self):
        """Returns the part of the result that the baseline stores."""
        limit = self.total * LISTED
        largest = sorted(self.functions.items(), key=lambda item: (-item[1], item[0]))
        return {"instructions": round(self.total), "functions": {name: round(cost) for name, cost in largest if cost >= limit}}


def stripped(binary, folder):
    """Copies the measured programs without debug information, parts of which valgrind cannot read. Their instructions are the
    same, and the length of their path no longer depends on that of the repository.

    Returns the path of the copy of `binary`."""
    os.mkdir(folder)
    for name in {os.path.basename(binary)} | {case.program for case in CASES if case.program}:
        subprocess.run(["strip", "--strip-debug", "-o", os.path.join(folder, name),
                        os.path.join(os.path.dirname(binary), name)], check=True)
    return os.path.join(folder, os.path.basename(binary))


class Bench:
    """Measures as many cases in parallel as there are processors, which does not change the counts."""

    def __init__(self, folder, binary):
        self.folder, self.binary = folder, stripped(binary, os.path.join(folder, "bin"))
        self.preload = build_control(folder)
        self.turn = 0

    def measure(self, cases):
        """Returns the results, by the names of the cases."""
        self.turn += 1
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            runs = {case.name: pool.submit(measure, case, self.preload, self.binary,
                                           os.path.join(self.folder, f"{self.turn}-{number}"))
                    for number, case in enumerate(cases)}
            found = {name: run.result() for name, run in runs.items()}
        if HUNDRED.name in found and THOUSAND.name in found:
            found[MEMBERS] = per_member(found[HUNDRED.name], found[THOUSAND.name])
        return {name: Result(costs) for name, costs in found.items()}


class InstructionBaseline(Baseline):
    """The accepted counts and functions."""

    def tolerance(self, name):
        """Returns the part by which the count of a case may rise."""
        # The version of valgrind is only recorded. OpenSSL is used only by connections with TLS.
        is_elsewhere = self.differs("architecture", "swift", "libc", *(["openssl"] if "TLS" in name else []))
        return TOLERANCE_ELSEWHERE if is_elsewhere else max(TOLERANCE, SPREADS.get(name, 0))

    def describe(self):
        other = sorted(version for version in self.machine if self.differs(version))
        if not other:
            return f"tolerance {TOLERANCE:.0%}: same compiler and libraries as the baseline"
        names = ", ".join(f"{version} {self.recorded[version]} -> {self.machine[version]}" for version in other)
        return f"tolerance {self.tolerance(''):.0%}, over TLS {self.tolerance('TLS'):.0%}: {names}"

    def rise(self, name, total):
        """Returns the part by which a count rose."""
        return total / self.requests[name]["instructions"] - 1

    def has_risen(self, name, total):
        return name in self.requests and self.rise(name, total) > self.tolerance(name)

    def accept(self, found, is_complete):
        def keeps(name, result):
            return name in self.requests and abs(self.rise(name, result.total)) <= NOISE

        self.store({name: self.requests[name] if keeps(name, result) else result.listed() for name, result in found.items()},
                   is_complete)


@functools.cache
def this_machine():
    """Returns the versions on which the counts depend."""
    version = subprocess.run([SWIFT, "--version"], check=True, capture_output=True, text=True).stdout
    valgrind = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True).stdout
    return {"architecture": platform.machine(), "swift": re.search(r"Swift version (\S+)", version).group(1),
            "libc": " ".join(platform.libc_ver()), "openssl": ssl.OPENSSL_VERSION, "valgrind": valgrind.strip()}


def lowest(one, other):
    """Returns for each case the result with fewer instructions."""
    names = one.keys() | other.keys()
    return {name: min((found[name] for found in (one, other) if name in found), key=lambda result: result.total)
            for name in names}


def median(results):
    """Returns the result with the median number of instructions."""
    total = statistics.median_low(result.total for result in results)
    return next(result for result in results if result.total == total)


def count(bench, cases, baseline):
    """Measures all cases, and then repeats the cases whose counts rose."""
    found = bench.measure(cases)
    for _ in range(TURNS - 1):
        risen = {name for name, result in found.items() if baseline.has_risen(name, result.total)}
        again = [case for case in cases
                 if case.name in risen or MEMBERS in risen and case in (HUNDRED, THOUSAND)]
        if not again:
            break
        found = lowest(found, bench.measure(again))
    return found


def count_to_accept(bench, cases):
    runs = [bench.measure(cases) for _ in range(ACCEPTED_TURNS)]
    return {name: median([run[name] for run in runs]) for name in runs[0]}


def show_rise(was, result):
    """Prints the functions whose own cost rose most. Those that the baseline does not list cost less than its limit."""
    limit = was["instructions"] * LISTED
    rises = [(cost - was["functions"].get(name, limit), name, cost) for name, cost in result.functions.items()]
    for rise, name, cost in sorted(rises, reverse=True)[:SHOWN_FUNCTIONS]:
        if rise >= 1:
            before = f"{was['functions'][name]:,}" if name in was["functions"] else f"below {limit:,.0f}"
            print(f"    +{rise:,.0f}  {before} -> {cost:,.0f}  {name}")


def show_functions(name, result):
    print(f"{name}: {result.total:,.0f} instructions")
    for function, cost in sorted(result.functions.items(), key=lambda item: -item[1])[:SHOWN_FUNCTIONS]:
        print(f"    {cost:9,.0f} {cost / result.total:6.1%}  {function}")


def report(baseline, found, is_verbose=False):
    """Prints the changes, and returns the number of passed and failed cases."""
    failed = improved = 0
    width = max((len(name) for name in found), default=0)
    for name, result in found.items():
        if name not in baseline.requests:
            print(f"FAILED: {name} has no baseline")
            failed += 1
            continue
        was, rise, tolerance = baseline.requests[name], baseline.rise(name, result.total), baseline.tolerance(name)
        verdict = "FAILED: " if rise > tolerance else "better: " if rise < -tolerance else "        "
        failed += rise > tolerance
        improved += rise < -tolerance
        if is_verbose or verdict.strip():
            print(f"{verdict}{name:{width}} {was['instructions']:10,} -> {result.total:10,.0f} instructions {rise:+7.2%}")
        if rise > (NOISE if is_verbose else tolerance):
            show_rise(was, result)
    print_advice(failed, improved)
    return len(found) - failed, failed


def self_test(bench):
    """Compares a measured case with baselines that are too low, and returns the number of passed and failed checks."""
    found = bench.measure([case for case in CASES if case.name == SELF_TEST_CASE])
    result = found[SELF_TEST_CASE]
    here, elsewhere = this_machine(), dict(this_machine(), swift="0")
    # The machine of the baseline, the part by which the baseline is too low, and the expected number of failures.
    checks = [(here, 0, 0), (here, 0.03, 1), (elsewhere, 0.03, 0), (elsewhere, 0.12, 1)]
    failed = 0
    for machine, part, expected in checks:
        doctored = Result({name: cost * (1 - part) for name, cost in result.costs.items()})
        path = os.path.join(bench.folder, "baseline.json")
        InstructionBaseline(path, machine).store({SELF_TEST_CASE: doctored.listed()}, is_complete=True)
        baseline = InstructionBaseline(path, here)
        with contextlib.redirect_stdout(io.StringIO()) as output:
            failures = report(baseline, found)[1]
        if failures != expected:
            print(f"FAILED: a baseline that is {part:.0%} too low, {baseline.describe()}\n{output.getvalue()}")
            failed += 1
    return len(checks) - failed, failed


def main():
    options = parse()
    run_script("instructions", lambda: run(options))


def run(options):
    with tempfile.TemporaryDirectory(prefix="davit-instructions.", dir="/dev/shm") as folder:
        bench = Bench(folder, options.davit)
        return self_test(bench) if options.self_test else check(bench, options)


def check(bench, options):
    cases = [case for case in CASES if options.only in case.name and not case.is_timed]
    baseline = InstructionBaseline(BASELINE, this_machine())
    if not baseline.is_comparable and not options.accept:
        print(f"SKIPPED: instructions: the baseline is for {baseline.recorded['architecture']}")
        return 0, 0
    if options.accept:
        found = count_to_accept(bench, cases)
        baseline.accept(found, is_complete=not options.only)
    else:
        found = count(bench, cases, baseline)
    if options.functions:
        for name, result in found.items():
            show_functions(name, result)
    print(baseline.describe())
    return report(baseline, found, options.verbose)


if __name__ == "__main__":
    main()
