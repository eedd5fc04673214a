#!/usr/bin/env python3
"""Checks that the help and docs/configuration.md list exactly the options of `davit serve`, and that help lines fit a terminal."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 80


def main():
    known = set(re.findall(r'case \w+ = "(--[a-z-]+)"', (ROOT / "Sources/DavitCommand/ServeArguments.swift").read_text()))
    texts = {name: text for name, text in re.findall(
        r'let (\w+)Text = """\n(.*?)^        """', (ROOT / "Sources/DavitCommand/Help.swift").read_text(), re.M | re.S)}
    helped = set(re.findall(r"^ {10}(--[a-z-]+) ", texts["serve"], re.M)) - {"--help"}
    page = (ROOT / "docs/configuration.md").read_text()
    table = page.split("| option | default | meaning |")[1].split("\n\n")[0]
    documented = {option for row in table.splitlines() for option in re.findall(r"`(--[a-z-]+)", row.split(" | ")[0])}
    errors = [f"{name} lists the unknown option {option}" for name, found in (("the help", helped), ("docs/configuration.md", documented))
              for option in sorted(found - known)]
    errors += [f"{name} does not list {option}" for name, found in (("the help", helped), ("docs/configuration.md", documented))
               for option in sorted(known - found)]
    errors += [f"{len(line) - 8} columns in the help for {name}: {line.strip()}" for name, text in texts.items()
               for line in text.splitlines() if len(line) - 8 > WIDTH and "\\(" not in line]
    if not known or len(texts) < 5:
        errors.append("no options or help texts found")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
