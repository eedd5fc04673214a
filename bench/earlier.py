"""Parses an existing document, for the rows of runs whose figures are no longer available."""

import re


class Earlier:
    """The lines and sections of a document written by `document.py`, by row name."""

    def __init__(self, text=""):
        self.parts = {part.partition("\n")[0]: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
        sections = re.split(r"^(?=### )", self.parts.get("Rows", ""), flags=re.MULTILINE)[1:]
        self.rows = {re.search(r"^`(.*)`$", section, flags=re.MULTILINE)[1]: section.strip() for section in sections}
        self.summary = self.lines("Summary")
        self.servers = self.lines("The servers")
        self.growth = self.lines("Growth")
        self.targets = self.lines("Targets", cells=2)
        # The rows that were run later than the others.
        again = re.search(r"run later than the others: ([^.]*)\.", self.parts.get("The run", ""))
        self.again = again[1].split(", ") if again else []

    @classmethod
    def read(cls, path):
        try:
            with open(path) as file:
                return cls(file.read())
        except FileNotFoundError:
            return cls()

    def lines(self, title, cells=1):
        """Returns the cells of each line of a section's table, by the first cell, or by a tuple of several."""
        found = {}
        for line in re.findall(r"^\| (.*) \|$", self.parts.get(title, ""), flags=re.MULTILINE)[2:]:
            values = line.split(" | ")
            found[values[0] if cells == 1 else tuple(values[:cells])] = values
        return found

    def part(self, title):
        """Returns a whole section with its title; empty if it is missing."""
        return ("## " + self.parts[title]).strip() if title in self.parts else ""

    def without(self, names):
        """Removes the rows that were run again, and returns the object."""
        self.rows, self.summary = ({name: value for name, value in kept.items() if name not in names}
                                   for kept in (self.rows, self.summary))
        self.targets = {key: value for key, value in self.targets.items() if key[0] not in names}
        self.again = [name for name in self.again if name not in names]
        return self

    def of_other_scripts(self):
        """Returns the sections that other scripts than bench.py have written."""
        other = Earlier()
        other.parts = self.parts
        return other

    def has_equal_peer(self):
        """Returns the rows with an equal peer."""
        return [name for name, values in self.summary.items() if values[5] != "–"]
