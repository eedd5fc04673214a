#!/usr/bin/env python3
"""Checks that every Swift code block in the documentation is part of Examples, which are compiled.

The lines of a block must occur consecutively in an example, optionally indented.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/embedding.md", "docs/coming-from-gcdwebserver.md"]


def blocks(text):
    for match in re.finditer(r"^```swift\n(.*?)^```$", text, re.M | re.S):
        yield text[: match.start()].count("\n") + 1, match.group(1)


def holds(source, block):
    wanted = block.splitlines()
    lines = source.splitlines()
    for start in range(len(lines) - len(wanted) + 1):
        window = "\n".join(lines[start : start + len(wanted)])
        if textwrap.dedent(window).splitlines() == wanted:
            return True
    return False


def main():
    sources = [path.read_text() for path in sorted((ROOT / "Examples").rglob("*.swift"))]
    failed = 0
    for page in PAGES:
        found = list(blocks((ROOT / page).read_text()))
        if not found:
            print(f"{page} has no Swift code blocks", file=sys.stderr)
            failed += 1
        for line, block in found:
            if not any(holds(source, block) for source in sources):
                print(f"{page}:{line}: code not found in Examples", file=sys.stderr)
                failed += 1
    return 1 if failed else 0


sys.exit(main())
