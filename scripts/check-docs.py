#!/usr/bin/env python3
"""Checks the documentation against the code.

Every Swift code block of the README, the tutorials and the pages in PAGES is part of Examples, which are compiled: its lines
must occur consecutively in an example, optionally indented. Every file that docs/life-of-a-request.md names with its folder
must exist in Sources, and each of its lists of files has at most 25 entries, numbered and without repetition.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/embedding.md", "docs/coming-from-gcdwebserver.md"]
TUTORIALS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/Davit.docc").glob("First*.md"))
WALKTHROUGH = "docs/life-of-a-request.md"
# The maximum number of files in a list, so that readers can follow it.
FILE_LIMIT = 25


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


def file_findings(text):
    """Yields the errors in the lists of files, as pairs of a line number and a message."""
    lists = [[]]
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r"`([\w.+-]+/[\w./+-]+\.swift)`", line):
            if not (ROOT / "Sources" / name).is_file():
                yield number, f"Sources/{name} does not exist"
        entry = re.match(r"(\d+)\. `([^`]+\.swift)`", line)
        if entry is None:
            continue
        if entry.group(1) == "1":
            lists.append([])
        if entry.group(2) in lists[-1]:
            yield number, f"{entry.group(2)} is listed twice"
        lists[-1].append(entry.group(2))
        if int(entry.group(1)) != len(lists[-1]):
            yield number, f"{entry.group(2)} has the wrong number"
        if len(lists[-1]) == FILE_LIMIT + 1:
            yield number, f"the list has more than {FILE_LIMIT} files"
    if len(lists) == 1:
        yield 1, "there is no list of files"


def main():
    sources = [path.read_text() for path in sorted((ROOT / "Examples").rglob("*.swift"))]
    failed = 0
    for page in PAGES + TUTORIALS:
        found = list(blocks((ROOT / page).read_text()))
        if not found:
            print(f"{page} has no Swift code blocks", file=sys.stderr)
            failed += 1
        for line, block in found:
            if not any(holds(source, block) for source in sources):
                print(f"{page}:{line}: code not found in Examples", file=sys.stderr)
                failed += 1
    for line, message in file_findings((ROOT / WALKTHROUGH).read_text()):
        print(f"{WALKTHROUGH}:{line}: {message}", file=sys.stderr)
        failed += 1
    return 1 if failed else 0


sys.exit(main())
