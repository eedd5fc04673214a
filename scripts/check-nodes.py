#!/usr/bin/env python3
"""Checks that docs/decisions/nodes.md explains each file of the engine and the stores that keeps something in memory."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/decisions/nodes.md"
TARGETS = ["DavitEngine", "DavitStore", "DavitTree", "DavitBlobs"]
STATE = re.compile(r"\b(Mutex|Atomic|Monitor)\s*[<(]")


def main():
    keeping = set()
    for target in TARGETS:
        for path in (ROOT / "Sources" / target).rglob("*.swift"):
            lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
            if any(STATE.search(line) for line in lines):
                keeping.add(str(path.relative_to(ROOT / "Sources")))
    listed = set(re.findall(r"`(Davit\w+/[\w/+]+\.swift)`", PAGE.read_text()))
    problems = [f"Sources/{name} keeps something in memory, but has no row" for name in sorted(keeping - listed)]
    problems += [f"{name} is listed, but keeps nothing in memory" for name in sorted(listed - keeping)]
    for problem in problems:
        print(f"{PAGE.relative_to(ROOT)}: {problem}", file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
