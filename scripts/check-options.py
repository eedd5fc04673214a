#!/usr/bin/env python3
"""Checks that docs/configuration.md lists exactly the options of `davit serve`, and that help lines fit a terminal.

The help of the options follows from the table in OptionTable.swift, as the configuration file does.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 80


def main():
    known = set(re.findall(r'case \w+ = "(--[a-z-]+)"', (ROOT / "Sources/DavitCommand/ServeOption.swift").read_text()))
    texts = {name: text for name, text in re.findall(
        r'let (\w+)Text = """\n(.*?)^        """', "".join(
            (ROOT / "Sources/DavitCommand" / name).read_text() for name in ("Help.swift", "ConfigurationHelp.swift")), re.M | re.S)}
    page = (ROOT / "docs/configuration.md").read_text()
    table = page.split("| option | default | meaning |")[1].split("\n\n")[0]
    documented = {option for row in table.splitlines() for option in re.findall(r"`(--[a-z-]+)", row.split(" | ")[0])}
    errors = [f"docs/configuration.md lists the unknown option {option}" for option in sorted(documented - known)]
    errors += [f"docs/configuration.md does not list {option}" for option in sorted(known - documented)]
    errors += [f"{len(line) - 8} columns in the help for {name}: {line.strip()}" for name, text in texts.items()
               for line in text.splitlines() if len(line) - 8 > WIDTH and "\\(" not in line]
    if not known or len(texts) < 5:
        errors.append("no options or help texts found")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
