#!/usr/bin/env python3
"""Runs the tests of the browser page in Chromium: see harness.py and run.sh."""

import argparse
import os
import pathlib
import sys

import harness

if __name__ == "__main__":
    # The tests import this module as `harness`.
    sys.modules["harness"] = harness
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help="a file or a test to run (default: all)")
    parser.add_argument("--short", action="store_true", help="omit the tests that take long")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="run one test in K, selected by --seed (default: 1)")
    parser.add_argument("--seed", default="0", help="any text; selects the tests that --every runs (default: 0)")
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(harness.ROOT / ".build/release/davit")))
    parser.add_argument("--files", help="serve the page's files from this folder instead of the binary")
    parser.add_argument("--screenshots", help="write screenshots to this folder")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.davit).is_file():
        sys.exit(f"browser: davit not found at {arguments.davit}; run 'make build' first")
    passed, failed = harness.run(arguments)
    print(f"browser: {passed} passed, {failed} failed")
    sys.exit(0 if failed == 0 else 1)
