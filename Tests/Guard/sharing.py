#!/usr/bin/env python3
"""Counts how often requests write to memory that two event loops use, and compares the counts with the accepted baseline.

Each such write moves a cache line from one processor to another, which takes as long as hundreds of instructions but is not
visible in their number, and hardly in the time on a machine whose processors share a cache. Most of these writes retain and
release objects that all loops use. Valgrind's lackey reports all accesses to memory while two connections, each on a loop of its
own, send the same requests one after the other. A case with more shared words or writes than in sharing.json is a failure, or
with 25 % more if the compiler or libc is another one.
"""

import bisect
import collections
import concurrent.futures
import contextlib
import fcntl
import io
import os
import queue
import re
import select
import statistics
import struct
import subprocess
import tempfile
import termios
import threading
import time

from baseline import Baseline, option_parser, print_advice, run_script
from callgrind import build_control, demangle
from cases import CASES
from client import Client
from instructions import stripped, this_machine
from server import HERE, Server, prepared_folders, serve_command

BASELINE = os.path.join(HERE, "sharing.json")
LACKEY = ["valgrind", "-q", "--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--fair-sched=yes", "--vgdb=no"]
# In this order, because they use the same folder.
NAMES = ["GET 1 KiB, again", "GET 1 KiB, again, with Basic", "GET 1 KiB three folders deep, again", "GET, 404",
         "OPTIONS", "PROPFIND Depth 0", "PUT 1 KiB, new", "PUT 1 KiB, over", "MKCOL in a folder", "DELETE 1 KiB"]
TOLERANCE_ELSEWHERE = 0.25
# A case above its baseline is measured again, in case maintenance ran during most of its requests.
TURNS = 3
LOOPS = 2
WARM = 4
COUNT = 6
# The number of requests of a client that are most of its requests.
MOST = 5
WORD_BYTES = 8
PIPE_BYTES = 1 << 20
READING_PAUSE_SECONDS = 0.002
# The functions whose callers are shown instead.
COUNTERS = re.compile(r"_?swift_(retain|release|bridgeObject)|RefCount|swift_isUniquely")


class TracedServer(Server):
    """Runs davit under lackey. Its report arrives through a pipe while the program runs, and is dropped unless it is
    recorded."""

    pause_seconds = 0.0002

    def __init__(self, preload, binary, root, work, options):
        self.trace, theirs = os.pipe()
        fcntl.fcntl(self.trace, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.wake, self.waker = os.pipe()
        self.is_recording = False
        self.recorded = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        command = serve_command(binary, root, os.path.join(work, "state"), options,
                                prefix=[*LACKEY, f"--log-fd={theirs}"])
        environment = {"LD_PRELOAD": preload, "SWIFT_DETERMINISTIC_HASHING": "1", "DAVIT_GUARD_PROCESSORS": str(LOOPS)}
        try:
            super().__init__(command, environment, pass_fds=[theirs], stderr=subprocess.DEVNULL)
        finally:
            os.close(theirs)

    def _read(self):
        """Reads the report until its end, on a thread of its own."""
        kept = []
        while True:
            if self.trace in select.select([self.trace, self.wake], [], [])[0]:
                data = os.read(self.trace, 1 << 20)
                if not data:
                    return
                if self.is_recording:
                    kept.append(data)
                elif len(data) < PIPE_BYTES // 2:
                    # Waking this thread for each line would take as long as the rest.
                    time.sleep(READING_PAUSE_SECONDS)
            else:
                os.read(self.wake, 1)
                self.recorded.put(b"".join(kept))
                kept = []

    def _sleepers(self):
        # A thread that waits for space in the pipe is not idle.
        unread = struct.unpack("i", fcntl.ioctl(self.trace, termios.FIONREAD, b"\0" * 4))[0]
        return None if unread else super()._sleepers()

    def record(self, is_recording):
        """Begins or stops recording, and returns what was recorded before. The server must be idle."""
        os.write(self.waker, b"r")
        recorded = self.recorded.get()
        self.is_recording = is_recording
        return recorded

    def kill(self):
        super().kill()
        self.reader.join()
        for file in (self.trace, self.wake, self.waker):
            os.close(file)


class Accesses:
    """The accesses to memory in the report of a request: the words that were read, and how often each function wrote to each
    word."""

    def __init__(self, report, symbols):
        self.read, self.written = set(), collections.defaultdict(collections.Counter)
        function = caller = None
        for line in report.split(b"\n"):
            kind = line[:2]
            if kind == b"I ":
                name = symbols.name(int(line[3:].split(b",")[0], 16))
                if name != function:
                    function = name
                    if not COUNTERS.search(name):
                        caller = name
            elif kind in (b" L", b" S", b" M"):
                address, size = line[3:].split(b",")
                first = int(address, 16) // WORD_BYTES
                for word in range(first, first + max(1, int(size) // WORD_BYTES)):
                    if kind == b" L":
                        self.read.add(word)
                    else:
                        self.written[word][caller] += 1


class Symbols:
    """The functions of the program by their addresses in a process."""

    def __init__(self, binary, pid):
        with open(f"/proc/{pid}/maps") as maps:
            base = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(binary))
        output = subprocess.run(["nm", "--numeric-sort", binary], check=True, capture_output=True, text=True).stdout
        found = [line.split() for line in output.splitlines()]
        functions = [(base + int(line[0], 16), line[2]) for line in found if len(line) == 3 and line[1] in "tTwW"]
        self.addresses = [address for address, _ in functions]
        self.names = [name for _, name in functions]
        self.known = {}

    def name(self, address):
        if address not in self.known:
            index = bisect.bisect_right(self.addresses, address) - 1
            is_inside = index >= 0 and address < self.addresses[-1]
            self.known[address] = self.names[index] if is_inside else "a library"
        return self.known[address]


class Result:
    """The words that most requests of both clients use and that most requests of one of them write, and the writes to them for
    each request. Other words are those that timers use, or memory that is freed and used again."""

    def __init__(self, one, other):
        if not all(request.read and request.written for request in (*one, *other)):
            raise RuntimeError("lackey reported no accesses to memory")
        uses = [collections.Counter(word for request in requests for word in request.read | request.written.keys())
                for requests in (one, other)]
        writes = [collections.Counter(word for request in requests for word in request.written) for requests in (one, other)]
        self.words = collections.defaultdict(collections.Counter)
        shared = {word for word in writes[0].keys() | writes[1].keys()
                  if all(count[word] >= MOST for count in uses) and any(count[word] >= MOST for count in writes)}
        for request in (*one, *other):
            for word in shared & request.written.keys():
                self.words[word].update(request.written[word])
        self.count = len(shared)
        # The mean of the two clients, which may write differently often.
        self.writes = statistics.mean(statistics.median(
            sum(request.written[word].total() for word in shared & request.written.keys()) for request in requests)
            for requests in (one, other))

    def listed(self):
        return {"words": self.count, "writes": self.writes}

    def show(self):
        readable = demangle({name for counts in self.words.values() for name in counts})
        for counts in sorted(self.words.values(), key=lambda counts: -counts.total()):
            by = ", ".join(f"{readable[name]} {count / (LOOPS * COUNT):g}" for name, count in counts.most_common(6))
            print(f"    {counts.total() / (LOOPS * COUNT):5.1f}  {by}")


def measure(cases, preload, binary, place):
    """Returns the results of cases that one server can run, by their names."""
    with prepared_folders(place, binary, cases) as (root, work):
        server = TracedServer(preload, binary, root, work, cases[0].options)
        try:
            symbols = Symbols(binary, server.pid)
            # The server gives a connection to the loop with the fewest.
            clients = [Client(server.port, server.settle) for _ in range(LOOPS)]
            return {case.name: Result(*accesses(case, server, clients, symbols)) for case in cases}
        finally:
            server.kill()


def accesses(case, server, clients, symbols):
    """Returns the accesses of each request of each client."""
    case.begin(clients[0])
    for turn in range(WARM * LOOPS):
        case.ask(clients[turn % LOOPS], turn)
    found = []
    for number, client in enumerate(clients):
        requests = []
        for turn in range(COUNT):
            server.record(True)
            case.ask(client, WARM * LOOPS + COUNT * number + turn)
            requests.append(Accesses(server.record(False), symbols))
        found.append(requests)
    return found


def count(binary, cases):
    """Measures all cases, with a server for each set of options, and as many at the same time as there are processors."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.options].append(case)
    with tempfile.TemporaryDirectory(prefix="davit-sharing.", dir="/dev/shm") as folder:
        copy, preload = stripped(binary, os.path.join(folder, "bin")), build_control(folder)
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
            runs = [pool.submit(measure, group, preload, copy, os.path.join(folder, str(number)))
                    for number, group in enumerate(groups.values())]
            return {name: result for run in runs for name, result in run.result().items()}


class SharingBaseline(Baseline):
    """The accepted numbers of shared words and of writes to them."""

    @property
    def tolerance(self):
        return TOLERANCE_ELSEWHERE if self.differs("swift", "libc") else 0

    def has_risen(self, name, result):
        was = self.requests.get(name)
        return was is None or any(value > was[key] * (1 + self.tolerance) for key, value in result.listed().items())

    def accept(self, found, is_complete):
        self.store({name: result.listed() for name, result in found.items()}, is_complete)


def report(baseline, found, is_verbose=False):
    """Prints the changes, and returns the number of passed and failed cases."""
    failed = improved = 0
    for name, result in found.items():
        was, now, has_risen = baseline.requests.get(name), result.listed(), baseline.has_risen(name, result)
        failed += has_risen
        improved += not has_risen and now != was
        if is_verbose or has_risen or now != was:
            verdict = "FAILED: " if has_risen else "better: " if now != was else "        "
            print(f"{verdict}{name}: {now['writes']} writes to {now['words']} shared words, baseline {was}")
        if is_verbose or has_risen:
            result.show()
    print_advice(failed, improved)
    return len(found) - failed, failed


class OneFunction:
    """Symbols for a report in which all instructions belong to one function."""

    @staticmethod
    def name(address):
        return "main"


def self_test():
    """Analyzes reports with known accesses, and compares the result with baselines that are right and too low. Returns the
    number of passed and failed checks."""
    # Both clients write twice to the word at 0x1000. Only one writes to the word at 0x2000, and the other reads it. Each has
    # a word of its own in the same cache line as the first.
    reports = [b"I  04000000,3\n M 00001000,8\nI  04000003,4\n S 00001004,4\n S 00001008,8\n L 00002000,8\n",
               b"I  04000000,3\n M 00001000,8\nI  04000003,4\n S 00001004,4\n L 00003000,8\n S 00001010,8\n S 00002000,16\n"]
    result = Result(*([Accesses(text, OneFunction)] * COUNT for text in reports))
    right = {"words": 2, "writes": 2.5}
    here, elsewhere = this_machine(), dict(this_machine(), swift="0")
    # The machine of the baseline, the baseline, and the expected number of failures.
    checks = [(here, right, 0), (here, right | {"words": 1}, 1), (here, right | {"writes": 2}, 1), (here, None, 1),
              (elsewhere, right | {"writes": 2}, 0), (elsewhere, right | {"words": 1}, 1)]
    failed = 0
    for machine, requests, expected in checks:
        with tempfile.TemporaryDirectory(prefix="davit-sharing.") as folder, contextlib.redirect_stdout(io.StringIO()):
            path = os.path.join(folder, "baseline.json")
            SharingBaseline(path, machine).store({"known": requests} if requests else {}, is_complete=True)
            failures = report(SharingBaseline(path, here), {"known": result})[1]
        if failures != expected:
            print(f"FAILED: {failures} failures of {result.listed()} with the baseline {requests}")
            failed += 1
    return len(checks) - failed, failed


def measured(binary, cases, baseline):
    """Measures all cases, and then repeats those above their baseline."""
    found = count(binary, cases)
    for _ in range(TURNS - 1):
        again = [case for case in cases if baseline.has_risen(case.name, found[case.name])]
        if not again:
            break
        found |= {name: min(result, found[name], key=lambda one: (one.writes, one.count))
                  for name, result in count(binary, again).items()}
    return found


def main():
    options = option_parser(__doc__, ", with the functions that write").parse_args()
    run_script("sharing", lambda: run(options))


def run(options):
    passed, failed = self_test()
    baseline = SharingBaseline(BASELINE, this_machine())
    by_name = {case.name: case for case in CASES}
    cases = [by_name[name] for name in NAMES if options.only in name]
    if options.accept:
        baseline.accept(count(options.davit, cases), is_complete=not options.only)
    elif not baseline.is_comparable:
        print(f"SKIPPED: sharing: the baseline is for {baseline.recorded['architecture']}")
    else:
        counts = report(baseline, measured(options.davit, cases, baseline), options.verbose)
        passed, failed = passed + counts[0], failed + counts[1]
    return passed, failed


if __name__ == "__main__":
    main()
