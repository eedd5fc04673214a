#!/usr/bin/env python3
"""Measures the faults of `davit serve --faults` as a client sees them: the rates and latencies of each network profile, and
the frequency of errors with a fixed seed.

    Tests/Faults/measure.py [--davit PATH] [--seconds N]

Depends on the clock, so it is not part of `make test`. Exit status 1 if a rate is off by more than 10 %, a latency is shorter
than in the profile or more than 100 ms longer, errors are not within 3 sigma of their probability in 10,000 requests, or the
same seed gives another sequence.
"""

import argparse
import http.client
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Bytes per second down and up, and the range of latencies in seconds, as in docs/faults.md.
PROFILES = {
    "2g": (35_000, 32_000, (0.8, 0.8)),
    "3g": (200_000, 96_000, (0.3, 0.3)),
    "lte": (1_500_000, 1_500_000, (0.07, 0.07)),
    "bad-wifi": (250_000, 250_000, (0.05, 0.5)),
}
failures = []


class Server:
    def __init__(self, davit, work, rules):
        share = work / "share"
        share.mkdir(exist_ok=True)
        (work / "faults").write_text(rules)
        self.process = subprocess.Popen(
            [davit, "serve", share, "--host", "127.0.0.1", "--port", "0", "--state-dir", work / "state", "--faults", work / "faults"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)


def report(what, wanted, found, is_right):
    print(f"{what:28} {wanted:>14} {found:>14} {'ok' if is_right else 'WRONG'}", flush=True)
    if not is_right:
        failures.append(what)


def profile(server, name, seconds):
    down, up, latency = PROFILES[name]
    connection = server.connect()

    def retried(measure):
        # One response in a hundred of bad-wifi is lost.
        for _ in range(5):
            try:
                return measure()
            except (ConnectionResetError, http.client.HTTPException):
                connection.close()
        raise AssertionError("the connection is always reset")

    def first_byte():
        start = time.monotonic()
        connection.request("GET", "/small")
        response = connection.getresponse()
        waited = time.monotonic() - start
        response.read()
        return waited

    def download():
        connection.request("GET", f"/down-{name}")
        response = connection.getresponse()
        start, size = time.monotonic(), 0
        while piece := response.read(65536):
            size += len(piece)
        assert size == down * seconds
        return size / (time.monotonic() - start)

    def upload():
        start = time.monotonic()
        connection.request("PUT", "/up", bytes(up * seconds))
        response = connection.getresponse()
        response.read()
        # The latency is added to the response.
        return up * seconds / (time.monotonic() - start - sum(latency) / 2)

    found = [retried(first_byte) for _ in range(5)]
    report(f"{name} latency, ms", f"{latency[0] * 1000:.0f}-{latency[1] * 1000:.0f}", f"{min(found) * 1000:.0f}-{max(found) * 1000:.0f}",
           min(found) >= latency[0] and max(found) <= latency[1] + 0.1)
    for what, wanted, measure in (("down", down, download), ("up", up, upload)):
        rate = retried(measure)
        report(f"{name} {what}, bytes/s", str(wanted), f"{rate:.0f}", abs(rate / wanted - 1) <= 0.1)


def sequence(davit, work, seed):
    with Server(davit, work, f"seed={seed}\nGET /small status=503 probability=10%\n") as server:
        connection, statuses = server.connect(), []
        for _ in range(10_000):
            connection.request("GET", "/small")
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        return statuses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=ROOT / ".build/release/davit")
    parser.add_argument("--seconds", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="davit-faults.") as folder:
        work = pathlib.Path(folder)
        (work / "share").mkdir()
        (work / "share/small").write_bytes(b"x")
        for name, (down, _, _) in PROFILES.items():
            (work / f"share/down-{name}").write_bytes(bytes(down * options.seconds))
        print(f"{'':28} {'wanted':>14} {'measured':>14}")
        for name in PROFILES:
            with Server(options.davit, work, f"seed=3\n* /** profile={name}\n") as server:
                profile(server, name, options.seconds)
        first = sequence(options.davit, work, 42)
        count = first.count(503)
        # The standard deviation of 10,000 independent errors with a probability of 0.1 is 30.
        report("errors in 10,000 requests", "910-1090", str(count), abs(count - 1000) <= 90)
        again, other = (sequence(options.davit, work, seed) for seed in (42, 43))
        report("the same seed", "same", "same" if again == first else "other", again == first)
        report("another seed", "other", "same" if other == first else "other", other != first)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
