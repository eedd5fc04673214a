#!/usr/bin/env python3
"""Every test that docs/conformance.md names must exist, and every section that the tables of tests name must be there."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
# What the tables of RFC 9112 call the sections of the other one.
OTHER = "RFC 9110 "


def tests():
    """All functions marked as tests, as Suite.function; several suites can have one name."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        text = path.read_text()
        for suite in re.findall(r"^(?:struct|final class|extension) (\w+)", text, re.M):
            for name in re.findall(r"@Test\b[^{]*?\bfunc (\w+)", text):
                found.add(f"{suite}.{name}")
    return found


def sections(text):
    """The sections of each chapter's table."""
    chapters = {}
    for chapter in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = re.findall(r"^\| ([^|]+?) \|.*\|$", chapter, re.M)
        chapters[chapter.split(",")[0].split("\n")[0]] = {row for row in rows if row[0].isdigit() or row[0] == "R"}
    return chapters


def main():
    text = PAGE.read_text()
    errors = []
    known = tests()
    named = re.findall(r"`(\w+Tests\.\w+)`", text)
    errors += [f"there is no test {name}" for name in sorted(set(named) - known)]
    errors += [
        f"line {number}: a row without a test"
        for number, line in enumerate(text.splitlines(), 1)
        if re.match(r"\| (\d|RFC)", line) and not re.search(r"`\w+Tests\.\w+`", line)
    ]

    chapters = sections(text)
    wanted = {"RFC 9112": set(), "RFC 9110": set()}
    for path in (ROOT / "Tests").rglob("*.swift"):
        source = path.read_text()
        for section in re.findall(r'CorpusMessage\(\s*"([^"]+)"', source):
            document = "RFC 9110" if section.startswith(OTHER) else "RFC 9112"
            wanted[document].add(section.removeprefix(OTHER))
        wanted["RFC 9110"].update(re.findall(r'Semantics\(\s*"([\d.]+)"', source))
    for document, names in wanted.items():
        if not names or document not in chapters:
            errors.append(f"{document} has no tables, or no chapter")
        errors += [f"{document} has no row for {name}" for name in sorted(names - chapters.get(document, set()))]

    for error in errors:
        print(f"{PAGE.relative_to(ROOT)}: {error}", file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
