#!/usr/bin/env python3
"""Checks that scripts and styles of the browser page can be sent without indentation, empty lines and comment lines.

The server removes these line by line (`CompactText`) and does not parse the files. Therefore no comment and no
piece of text in a literal may span lines, and a comment in a style sheet must be on a separate line.

    check-page.py              prints findings, one to a line; exit status 1 if there are any
    check-page.py --self-test  tests this script with planted errors
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True

from sourcetext import Lines, split_javascript, split_style  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ROOT / "Sources/DavitPage/Files"


def script_findings(text):
    """Yields the offset and the description of each error."""
    # Code inside the interpolations of a template may span lines, like other code.
    return [(start, "a literal or comment spans lines") for start, end in split_javascript(text).blanks
            if "\n" in text[start:end]]


def style_findings(text):
    found = []
    for comment in split_style(text).comments:
        line_start = text.rfind("\n", 0, comment.start) + 1
        line_end = text.find("\n", comment.start)
        line = text[line_start:line_end if line_end >= 0 else len(text)]
        if line.strip() != comment.text:
            found.append((comment.start, "a comment is not on a separate line"))
    # In a string, a backslash at the end of a line continues the string on the next line.
    found += [(match.start(), "a line ends with a backslash") for match in re.finditer(r"\\$", text, re.M)]
    return found


def findings(name, text):
    lines = Lines(text)
    found = script_findings(text) if name.endswith(".js") else style_findings(text)
    return [f"{name}:{lines.number(offset)}: {reason}" for offset, reason in sorted(found)]


def self_test():
    failed = []
    for name, text, wanted in [
        ("a.js", "a = `b`\n// c\n/* d */ e\n", []),
        ("a.js", "a = `b\n  c`\n", [1]),
        ("a.js", "a = `b ${\n  c\n} d`\n", []),
        ("a.js", "a = `b ${c} d\n e ${f}`\n", [1]),
        ("a.js", "a\nb = 'c\\\n  d'\n", [2]),
        ("a.js", "/* a\n  // b */\n", [1]),
        ("a.js", "a = /`/\nb = `\n`\n", [2]),
        ("a.css", "/* a */\n.b { content: '/ *' }\n    /* c */", []),
        ("a.css", "/* a\n   b */\n", [1]),
        ("a.css", ".a {\n    b: c; /* d */\n}\n", [2]),
        ("a.css", "/* a */ /* b */\n", [1, 1]),
        ("a.css", ".a {\n    content: 'b\\\n  c';\n}\n", [2]),
    ]:
        found = [int(line.split(":")[1]) for line in findings(name, text)]
        if found != wanted:
            failed.append(f"{text!r}: expected {wanted}, found {found}")
    for line in failed:
        print(f"self-test: {line}", file=sys.stderr)
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments:
        print(__doc__, file=sys.stderr)
        return 64
    paths = sorted(path for path in FILES.rglob("*") if path.suffix in (".js", ".css"))
    if not paths:
        print(f"no scripts in {FILES}", file=sys.stderr)
        return 1
    found = [line for path in paths for line in findings(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


sys.exit(main(sys.argv[1:]))
