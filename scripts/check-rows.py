#!/usr/bin/env python3
"""Checks that every row of docs/coming-from-gcdwebserver.md lists existing tests, or "none".

The rows are W001 to W114 and X01 to X18. Only rows for features that davit does not have may be without a test.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/coming-from-gcdwebserver.md"
ROWS = [f"W{number:03}" for number in range(1, 115)]
ROWS += [f"X{number:02}" for number in range(1, 19)]
# Port mapping, packaging.
WITHOUT_TEST = {"W077"}


def tests():
    """Returns `Suite.function` for every test, and `Suite.*` for every suite with tests. Tests of the browser page are Python
    functions; their suite is the file."""
    names = set()
    for path in (ROOT / "Tests/Browser").glob("test_*.py"):
        for match in re.finditer(r"^@test\b.*\ndef (\w+)", path.read_text(), re.M):
            names.add(f"{path.stem}.{match.group(1)}")
    for path in (ROOT / "Tests").rglob("*.swift"):
        suite = None
        # A test begins with its attribute; lines can follow before the function.
        pattern = r"^(?:@\w+(?:\([^)]*\))? )*(?:\w+ )*(?:struct|class|actor|enum|extension) (\w+)|@Test\b(?s:.*?)\bfunc (\w+)"
        for match in re.finditer(pattern, path.read_text(), re.M):
            if match.group(1):
                suite = match.group(1)
            else:
                names |= {f"{suite}.{match.group(2)}", f"{suite}.*"}
    return names


def main():
    known = tests()
    failed = []
    named = {}
    for line in PAGE.read_text().splitlines():
        if match := re.match(r"\| ([WX]\d+) \|.*\| ([^|]*) \|$", line):
            row, test = match.groups()
            if row in named:
                failed.append(f"duplicate row {row}")
            named[row] = test.strip()
    failed += [f"missing row {row}" for row in ROWS if row not in named]
    failed += [f"unknown row {row}" for row in named if row not in ROWS]
    for row, cell in named.items():
        if cell == "none":
            if row not in WITHOUT_TEST:
                failed.append(f"{row} does not list a test")
            continue
        failed += [f"{row} lists the unknown test {test}" for test in cell.split(", ") if test not in known]
    for problem in failed:
        print(f"{PAGE.relative_to(ROOT)}: {problem}", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
