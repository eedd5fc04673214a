#!/usr/bin/env python3
"""Checks that every test in docs/conformance.md exists, and that it lists every section that the tables of tests contain.

Also checks the tests, numbers and steps of recorded sessions in docs/clients.md, and the tests in docs/limits.md, where each row
must have one. With --open, prints the rows of docs/clients.md that have no test yet.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
CLIENTS = ROOT / "docs/clients.md"
LIMITS = ROOT / "docs/limits.md"
NUMBERS = range(1, 141)
# The prefix of RFC 9110 sections in the tables of RFC 9112.
OTHER = "RFC 9110 "


def tests():
    """Returns all tests as Suite.function. In a file with several suites, each test is listed under every suite."""
    found = set()
    for path in (ROOT / "Tests").rglob("*.swift"):
        text = path.read_text()
        for suite in re.findall(r"^(?:struct|final class|extension) (\w+)", text, re.M):
            for name in re.findall(r"@Test\b[^{]*?\bfunc (\w+)", text):
                found.add(f"{suite}.{name}")
    return found


def sections(text):
    """Returns the sections in the table of each chapter."""
    chapters = {}
    for chapter in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = re.findall(r"^\| ([^|]+?) \|.*\|$", chapter, re.M)
        chapters[chapter.split(",")[0].split("\n")[0]] = {row for row in rows if row[0].isdigit() or row[0] == "R"}
    return chapters


def contract(known):
    """Returns the errors in the table of docs/clients.md, and the open rows."""
    errors, rows, unproven = [], {}, []
    carried = set()
    for path in (ROOT / "Tests/DavitTests/Conformance").glob("Contract*.swift"):
        carried |= {int(number) for number in re.findall(r"\bContract\(\s*(\d+),", path.read_text())}
    for number, behavior, proof in re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \|$", CLIENTS.read_text(), re.M):
        number = int(number)
        if number in rows:
            errors.append(f"duplicate row {number}")
        rows[number] = proof
        names = re.findall(r"`(\w+Tests\.\w+)`", proof)
        errors += [f"{number}: unknown test {name}" for name in names if name not in known]
        steps = re.findall(r"\]\(\.\./(Tests/Recordings/[^)]+)\): ([^,]+)", proof)
        for path, step in steps:
            recording = ROOT / path
            if not recording.exists() or f"=== {step}" not in recording.read_text():
                errors.append(f"{number}: no step '{step}' in {path}")
        is_table = any(name.startswith("ContractTests.") and name != "ContractTests.allpropStaysSmall" for name in names)
        if is_table and number not in carried:
            errors.append(f"{number}: missing in ContractTests")
        if "open: " in proof:
            unproven.append(f"{number}: {behavior} ({proof.split('open: ')[1]})")
        elif not names and not steps:
            errors.append(f"{number}: no test")
    errors += [f"missing row {number}" for number in NUMBERS if number not in rows]
    errors += [f"{number} is in ContractTests but not in the table" for number in sorted(carried - set(rows))]
    return errors, unproven


def limits(known):
    """Returns the errors in the tables of docs/limits.md: each row must have an existing test in its last column."""
    errors = []
    rows = 0
    for number, line in enumerate(LIMITS.read_text().splitlines(), 1):
        if not line.startswith("| ") or line.startswith("| What "):
            continue
        rows += 1
        names = re.findall(r"`(\w+Tests\.\w+)`", line.rstrip(" |").rsplit(" | ", 1)[-1])
        errors += [f"line {number}: unknown test {name}" for name in names if name not in known]
        if not names:
            errors.append(f"line {number}: row without a test")
        if line.count(" | ") != 4:
            errors.append(f"line {number}: expected five columns")
    return errors if rows else ["no rows found"]


def main():
    text = PAGE.read_text()
    errors = []
    known = tests()
    named = re.findall(r"`(\w+Tests\.\w+)`", text)
    errors += [f"unknown test {name}" for name in sorted(set(named) - known)]
    errors += [
        f"line {number}: row without a test"
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
            errors.append(f"{document}: no tables or no chapter")
        errors += [f"{document}: no row for {name}" for name in sorted(names - chapters.get(document, set()))]

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
