#!/usr/bin/env python3
"""Checks that each type name is declared only once in Sources.

A nested type is identified by its full name; its simple name must not be that of a top-level type either, except for names
that are conventional inside another type. Declarations that `#if` never compiles together count as one. Types inside
functions are ignored.

scripts/type-names-allowed.txt lists the names that are tolerated, each with its declarations. A declaration that is
missing in the list, or an entry that is no longer needed, is an error.

    check-type-names.py                  prints one error per line; exits with status 1 if there are any
    check-type-names.py --report         prints every name that is declared more than once
    check-type-names.py --write-allowed  regenerates the list
    check-type-names.py --self-test      tests this script with planted errors
"""
import collections
import itertools
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from swiftnames import ROOT, read_allowed, swift_files, write_allowed  # noqa: E402

ALLOWED = "scripts/type-names-allowed.txt"
HEADING = """
Names of types that are tolerated for now, although declared more than once: the name, then TARGET/FULL.NAME of a declaration.
Written by `scripts/check-type-names.py --write-allowed`. The list only shrinks.
"""
# Names that a nested type has by convention, or because a protocol of the standard library requires it.
CONVENTIONAL = set("""
    Body CodingKeys Element Error Failure ID Index Indices Iterator Key Kind Options RawValue State SubSequence Value
    """.split())

PLATFORMS = [
    {"Linux", "Glibc"}, {"Linux", "Musl"}, {"macOS", "Darwin", "AppKit", "Foundation", "os", "CoreServices"},
    {"iOS", "Darwin", "UIKit", "Foundation", "os"}, {"watchOS", "Darwin", "UIKit", "Foundation", "os"},
]
ATOM = re.compile(r"\b(os|canImport|arch|swift|compiler|targetEnvironment)\s*\(\s*([^()]*?)\s*\)|\b([A-Za-z_]\w*)\b")


def conditions(file):
    """Returns, for each declaration of the file, the `#if` conditions that must all be true."""
    stack, place, found = [], 0, []
    for declaration in file.types:
        while place < len(file.conditions) and file.conditions[place][0] < declaration.offset:
            _, word, text = file.conditions[place]
            place += 1
            text = text.split("//")[0].strip()
            if word == "if":
                stack.append([text])
            elif word == "endif" and stack:
                stack.pop()
            elif stack:
                stack[-1] = [f"!({earlier})" if index == len(stack[-1]) - 1 else earlier
                             for index, earlier in enumerate(stack[-1])] + ([text] if word == "elseif" else [])
        found.append(tuple(text for branch in stack for text in branch))
    return found


def can_coexist(one, other):
    """Returns whether both declarations are compiled together on some platform, with some set of flags."""
    both = one + other
    if not both:
        return True
    flags = sorted({match.group(3) for text in both for match in ATOM.finditer(text)
                    if match.group(3) and match.group(3) not in ("true", "false")})

    def holds(text, platform, enabled):
        def value(match):
            if match.group(1) in ("os", "canImport"):
                return str(match.group(2) in platform)
            if match.group(1):
                return "True"
            return str(match.group(3) in enabled or match.group(3) == "true")

        expression = ATOM.sub(value, text).replace("&&", " and ").replace("||", " or ").replace("!", " not ")
        if re.sub(r"True|False|and|or|not|[() ]", "", expression):
            return True
        return eval(expression)  # noqa: S307: contains only constants, operators and parentheses

    for platform in PLATFORMS:
        for size in range(len(flags) + 1):
            for enabled in itertools.combinations(flags, size):
                if all(holds(text, platform, enabled) for text in both):
                    return True
    return False


def declarations(root):
    found = []
    for file in swift_files(root):
        found += [(declaration, condition) for declaration, condition in zip(file.types, conditions(file))
                  if not declaration.is_local]
    if not found:
        sys.exit("check-type-names.py: nothing was read")
    return found


def without_alternatives(group):
    """Returns the declarations of one full name, without those that are alternatives to an earlier declaration."""
    kept = []
    for declaration, condition in group:
        if not any(first.file.target == declaration.file.target and not can_coexist(other, condition) for first, other in kept):
            kept.append((declaration, condition))
    return [declaration for declaration, _ in kept]


def duplicates(root):
    """Returns the names that are declared more than once, with their declarations."""
    by_full, nested = collections.defaultdict(list), collections.defaultdict(list)
    for declaration, condition in declarations(root):
        by_full[declaration.full].append((declaration, condition))
        if "." in declaration.full:
            nested[declaration.simple].append(declaration)
    found = {}
    for full, group in by_full.items():
        kept = without_alternatives(group)
        inner = [] if "." in full or full in CONVENTIONAL else nested.get(full, [])
        # Keep one declaration for each full name and target.
        others = {(declaration.file.target, declaration.full): declaration for declaration in reversed(inner)}
        together = kept + [others[key] for key in sorted(others)]
        if len(together) > 1:
            found[full] = together
    return dict(sorted(found.items()))


def entry(name, declaration):
    return f"{name}: {declaration.file.target}/{declaration.full}"


def findings(root, allowed):
    found, needed = [], set()
    for name, group in duplicates(root).items():
        for declaration in group:
            text = entry(name, declaration)
            needed.add(text)
            if text not in allowed:
                other = next(other for other in group if other is not declaration)
                found.append(f"{declaration.file.at(declaration.offset)}: {declaration.full} is a type of the name {name}, as is "
                             f"{other.full} in {other.file.at(other.offset)}")
    found += [f"{ALLOWED}:{number}: '{text}' is no longer needed; remove it"
              for text, number in allowed.items() if text not in needed]
    return found


def report(root):
    for name, group in duplicates(root).items():
        places = ", ".join(f"{declaration.full} in {declaration.file.at(declaration.offset)}" for declaration in group)
        print(f"{name} ({len(group)}): {places}")


def self_test():
    failed = []

    def expect(title, files, wanted, allowed=()):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / "Sources" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = findings(root, {text: 1 for text in allowed})
        places = sorted(line.split(": ")[0].removeprefix("Sources/") for line in found)
        if places != sorted(wanted):
            failed.append(f"{title}: expected {wanted}, found {found}")

    expect("the same name in two targets", {"A/A.swift": "struct Thing {}", "B/B.swift": "\nfinal class Thing {}"},
           ["A/A.swift:1", "B/B.swift:2"])
    expect("an allowed name, and another declaration of it", {
        "A/A.swift": "struct Thing {}", "B/B.swift": "enum Thing {}", "C/C.swift": "actor Thing {}"},
        ["C/C.swift:1"], ["Thing: A/Thing", "Thing: B/Thing"])
    expect("an entry that is not needed", {"A/A.swift": "struct Thing {}"}, [f"{ALLOWED}:1"], ["Thing: A/Thing"])
    expect("a nested type with the name of another one", {
        "A/A.swift": "struct Thing {}", "A/B.swift": "struct Other {\n  enum Thing {}\n}"}, ["A/A.swift:1", "A/B.swift:2"])
    expect("a nested type in an extension", {
        "A/A.swift": "typealias Thing = Int", "A/B.swift": "extension Other.Inner { struct Thing {} }"},
        ["A/A.swift:1", "A/B.swift:1"])
    expect("nested types of different types", {
        "A/A.swift": "struct A { struct Part {} }", "A/B.swift": "struct B { struct Part {} }"}, [])
    expect("a conventional nested name", {"A/A.swift": "enum Kind {}", "A/B.swift": "struct B { enum Kind {} }"}, [])
    expect("alternatives of platforms", {
        "A/Linux.swift": "#if os(Linux)\nstruct Thing {}\n#endif", "A/Mac.swift": "#if canImport(Darwin)\nstruct Thing {}\n#endif"}, [])
    expect("alternatives of a trait", {
        "A/A.swift": "#if TLS\nstruct Thing {}\n#else\nstruct Other {}\n#endif", "A/B.swift": "#if !TLS\nstruct Thing {}\n#endif"}, [])
    expect("conditions that hold together", {
        "A/A.swift": "#if TLS\nstruct Thing {}\n#endif", "A/B.swift": "#if Archive && !os(macOS)\nstruct Thing {}\n#endif"},
        ["A/A.swift:2", "A/B.swift:2"])
    expect("comments, strings and functions", {
        "A/A.swift": "struct Thing {}\n// struct Thing {}\nlet a = \"struct Thing {}\"\nfunc f() { struct Thing {} }",
        "A/B.swift": "func g(_ thing: Thing) {}\nextension Thing {}"}, [])
    for line in failed:
        print(f"self-test: {line}", file=sys.stderr)
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments == ["--report"]:
        report(ROOT)
        return 0
    if arguments == ["--write-allowed"]:
        entries = {entry(name, declaration): None for name, group in duplicates(ROOT).items() for declaration in group}
        write_allowed(ROOT / ALLOWED, HEADING, list(entries))
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 64
    found = findings(ROOT, read_allowed(ROOT / ALLOWED))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
