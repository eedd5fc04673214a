"""Reads the help texts of davit, from which the manual pages and the completions of shells are made.

A help text consists of the lines of `usage:`, paragraphs, and lists of terms. A list may have a heading that ends with a colon.
"""
import re
import subprocess

TERM = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")


class Paragraph:
    def __init__(self, text):
        self.text = text


class Terms:
    """A list of terms with their descriptions."""

    def __init__(self, heading):
        self.heading = heading
        self.rows = []

    def read(self, line):
        term = TERM.match(line)
        if term:
            self.rows.append([term[1], term[2] or ""])
        elif self.rows:
            self.rows[-1][1] = f"{self.rows[-1][1]} {line.strip()}".strip()
        else:
            raise ValueError(f"a description without a term: {line}")


class Help:
    """The help text of one command."""

    def __init__(self, name, text):
        self.name, self.usage, self.blocks = name, [], []
        heading = None
        for block in re.split(r"\n\n+", text.strip("\n")):
            lines = block.split("\n")
            if lines[0].startswith("usage: "):
                self.usage = [line[len("usage: "):] for line in lines]
                continue
            if lines[0].endswith(":") and not lines[0].startswith(" "):
                heading = lines.pop(0)[:-1]
                if not lines:
                    continue
            if lines and lines[0].startswith("  "):
                terms = Terms(heading)
                for line in lines:
                    terms.read(line)
                self.blocks.append(terms)
                heading = None
            elif lines:
                self.blocks.append(Paragraph(" ".join(([heading + ":"] if heading else []) + lines)))
                heading = None

    @property
    def terms(self):
        return [row for block in self.blocks if isinstance(block, Terms) for row in block.rows]

    def options(self):
        """Returns each option with its argument, its values if they are words, and its description."""
        found = {}
        for term, description in self.terms:
            for part in term.split(", "):
                match = re.fullmatch(r"(--[a-z-]+)(?: (.+))?", part)
                if not match:
                    continue
                name, argument = match[1], match[2] or ""
                option = found.setdefault(name, [argument, [], description])
                if argument and re.fullmatch("[a-z]+", argument):
                    option[1].append(argument)
        return found

    def actions(self):
        """Returns the words that can follow the command."""
        found = []
        for line in self.usage:
            match = re.match(rf"\s*davit {self.name} ([a-z|-]+)", line)
            for word in match[1].split("|") if match else []:
                if word not in found:
                    found.append(word)
        return found


def read(program):
    """Returns the help of all commands; that of davit itself has the name ''."""

    def text(*words):
        return subprocess.run([program, "help", *words], check=True, capture_output=True, text=True).stdout

    main = Help("", text())
    names = []
    for line in main.usage:
        match = re.match(r"\s*davit ([a-z-]+)", line)
        if match and match[1] not in names and match[1] != "help" and not match[1].startswith("-"):
            names.append(match[1])
    return {"": main} | {name: Help(name, text(name)) for name in names}
