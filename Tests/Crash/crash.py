#!/usr/bin/env python3
"""Kills davit at every step of every change, and checks the share after a restart.

For each scene, the share is prepared, the debug build is started so that it kills itself before its N-th counted
file-system call or state commit, the request is sent, and a new server shows the result. The result must be entirely
old or entirely new: bytes, modes, names, listings, properties and locks. It must be new if the request was answered.
This is repeated for N = 1, 2, 3 … until the server survives. If the kill leaves work for the next start, that start
is killed at every step as well. In addition, a large overwrite is killed from outside, and changes with events are
killed at every step: each change that was made has an event.

With --every K, only one step in K is killed, in every scene and every interrupted start. --seed and the name of the
scene select these steps, so that a different seed tests different steps, and the same seed repeats a run.
"""

import argparse
import concurrent.futures
import os
import signal
import sys
import tempfile
import threading

import volume
from events import CHANGES, run_events
from overwrite import kill_overwrites
from run import Result, run_scene
from scenes import SCENES

OVERWRITE = "PUT over a file, killed from outside"


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.path.normpath(os.path.join(here, "..", "..", ".build"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--davit", default=os.environ.get("DAVIT", f"{build}/release/davit"))
    parser.add_argument("--debug", default=os.environ.get("DAVIT_DEBUG", f"{build}/debug/davit"),
                        help="a debug build, which supports kill points")
    parser.add_argument("--only", default="", help="only scenes whose name contains this text")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="kill at only one step in K (default: 1)")
    parser.add_argument("--seed", default="0", help="any text; selects the steps (default: 0)")
    parser.add_argument("--outside", type=int, default=20, help="number of kills from outside (default: 20)")
    parser.add_argument("--megabytes", type=int, default=200, help="size of the overwritten file in MB (default: 200)")
    parser.add_argument("--workers", type=int, default=2 * max(2, os.cpu_count() or 1),
                        help="number of scenes that run in parallel; they mostly wait for the disk")
    return parser.parse_args()


def run_overwrites(options, folder):
    result = Result(OVERWRITE)
    try:
        kill_overwrites(options, folder, result)
    except (RuntimeError, OSError) as failure:
        result.failures.append(repr(failure))
    return result


def run_all(options, folder):
    """Runs all scenes and returns the results in order."""
    stopping = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        try:
            futures = []
            if options.outside and options.only in OVERWRITE:
                futures.append(pool.submit(run_overwrites, options, folder))
            for number, scene in enumerate(SCENES):
                if options.only in scene.name:
                    work = os.path.join(folder, str(number))
                    futures.append(pool.submit(run_scene, scene, options, work, stopping))
            for number, change in enumerate(CHANGES):
                if options.only in f"{change[0]}, with events":
                    work = os.path.join(folder, f"events-{number}")
                    futures.append(pool.submit(run_events, change, options, work, stopping))
            return [future.result() for future in futures]
        except BaseException:
            # Stop the workers, which then stop their servers.
            stopping.set()
            pool.shutdown(cancel_futures=True)
            raise


def print_table(results):
    width = max(len(result.name) for result in results)
    print(f"{'change':{width}}  points   old   new  starts  wrong")
    for result in results:
        if result.skipped:
            print(f"{result.name:{width}}  skipped: {result.skipped}")
        else:
            print(f"{result.name:{width}}  {result.points:6}  {result.outcomes['old']:4}"
                  f"  {result.outcomes['new']:4}  {result.start_kills:6}  {len(result.failures):5}")


def main():
    options = parse()
    for binary in (options.davit, options.debug):
        if not os.access(binary, os.X_OK):
            sys.exit(f"crash: davit not found at {binary}; run 'make build debug' first")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.every > 1:
        print(f"crash: one step in {options.every}; repeat with --every {options.every} --seed {options.seed}")
    options.no_volumes = volume.become_private()
    with tempfile.TemporaryDirectory(prefix="davit-crash.") as folder:
        results = run_all(options, folder)
    if not results:
        sys.exit(f"crash: no scene's name contains '{options.only}'")
    for result in results:
        for failure in result.failures:
            print(f"FAILED: {result.name}: {failure}")
    print_table(results)
    passed = sum(result.outcomes.total() for result in results)
    failed = sum(len(result.failures) for result in results)
    print(f"crash: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
