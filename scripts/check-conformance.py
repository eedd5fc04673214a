#!/usr/bin/env python3
"""Every test that docs/conformance.md names must exist, and every section that the tables of tests name must be there.

The same for docs/clients.md, its numbers, and the steps of recorded sessions, and for docs/limits.md, each row of which has a
test. With --open: the numbers that have no test yet.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
CLIENTS = ROOT / "docs/clients.md"
LIMITS = ROOT / "docs/limits.md"
NUMBERS = range(1, 141)
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


def contract(known):
    """What is wrong with the table of docs/clients.md, and the rows that are open."""
    errors, rows, unproven = [], {}, []
    carried = set()
    for path in (ROOT / "Tests/DavitTests/Conformance").glob("Contract*.swift"):
        carried |= {int(number) for number in re.findall(r"\bContract\(\s*(\d+),", path.read_text())}
    for number, behaviour, proof in re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \|$", CLIENTS.read_text(), re.M):
        number = int(number)
        if number in rows:
            errors.append(f"{number} is there twice")
        rows[number] = proof
        names = re.findall(r"`(\w+Tests\.\w+)`", proof)
        errors += [f"{number}: there is no test {name}" for name in names if name not in known]
        steps = re.findall(r"\]\(\.\./(Tests/Recordings/[^)]+)\): ([^,]+)", proof)
        for path, step in steps:
            recording = ROOT / path
            if not recording.exists() or f"=== {step}" not in recording.read_text():
                errors.append(f"{number}: there is no step '{step}' in {path}")
        is_table = any(name.startswith("ContractTests.") and name != "ContractTests.allpropStaysSmall" for name in names)
        if is_table and number not in carried:
            errors.append(f"{number}: no row of ContractTests has it")
        if "open: " in proof:
            unproven.append(f"{number}: {behaviour} ({proof.split('open: ')[1]})")
        elif not names and not steps:
            errors.append(f"{number} has no test")
    errors += [f"there is no row {number}" for number in NUMBERS if number not in rows]
    errors += [f"{number} is in ContractTests and not here" for number in sorted(carried - set(rows))]
    return errors, unproven


def limits(known):
    """What is wrong with the tables of docs/limits.md: every row names a test in its last column, and that test exists."""
    errors = []
    rows = 0
    for number, line in enumerate(LIMITS.read_text().splitlines(), 1):
        if not line.startswith("| ") or line.startswith("| What "):
            continue
        rows += 1
        names = re.findall(r"`(\w+Tests\.\w+)`", line.rstrip(" |").rsplit(" | ", 1)[-1])
        errors += [f"line {number}: there is no test {name}" for name in names if name not in known]
        if not names:
            errors.append(f"line {number}: a row without a test")
        if line.count(" | ") != 4:
            errors.append(f"line {number}: not five columns")
    return errors if rows else ["there are no rows"]


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
    wanted = {"RFC 9112": set(), "RFC 9110": set(), "RFC 4918": set()}
    for path in (ROOT / "Tests").rglob("*.swift"):
        source = path.read_text()
        for section in re.findall(r'CorpusMessage\(\s*"([^"]+)"', source):
            document = "RFC 9110" if section.startswith(OTHER) else "RFC 9112"
            wanted[document].add(section.removeprefix(OTHER))
        for listed in re.findall(r'(?:WebDAVExchange|\bvalue)\(\s*"([\d., ]+)"', source):
            wanted["RFC 4918"].update(listed.split(", "))
        wanted["RFC 9110"].update(re.findall(r'Semantics\(\s*"([\d.]+)"', source))
    for document, names in wanted.items():
        if not names or document not in chapters:
            errors.append(f"{document} has no tables, or no chapter")
        errors += [f"{document} has no row for {name}" for name in sorted(names - chapters.get(document, set()))]

    errors = [f"{PAGE.relative_to(ROOT)}: {error}" for error in errors]
    wrong, unproven = contract(known)
    errors += [f"{CLIENTS.relative_to(ROOT)}: {error}" for error in wrong]
    errors += [f"{LIMITS.relative_to(ROOT)}: {error}" for error in limits(known)]
    if "--open" in sys.argv:
        print("\n".join(unproven))
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
