#!/usr/bin/env python3
"""Checks that C modules that Swift uses next to Glibc import it before they include headers of the C library.

A type that two modules declare, such as timespec, belongs to the one that is found first. That depends on the files that are
compiled together, and so on the number of processors, and files that do not import this module are refused.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMPORT = "#pragma clang module import SwiftGlibc"


def modules_next_to_glibc():
    """Returns the C modules that are imported in targets that also import Glibc."""
    found = set()
    for target in [*(ROOT / "Sources").iterdir(), *(ROOT / "Tests").iterdir()]:
        imports = set()
        for path in target.rglob("*.swift"):
            imports.update(re.findall(r"^\s*(?:\w+ )?import (Glibc|C[A-Z]\w*)", path.read_text(), re.MULTILINE))
        if "Glibc" in imports:
            found |= imports - {"Glibc"}
    return found


def main():
    problems = []
    for module in sorted(modules_next_to_glibc()):
        shim = ROOT / "Sources" / module / "shim.h"
        if not shim.exists():
            continue
        lines = [line for line in shim.read_text().splitlines() if line.startswith(("#include", "#pragma"))]
        if lines[:2] != ["#include <features.h>", IMPORT]:
            problems.append(f"{shim.relative_to(ROOT)}: does not begin with the import of SwiftGlibc")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
