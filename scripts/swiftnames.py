"""Parses the declarations and names in Swift source that the checks of `make lint` need. Names are matched by scope,
without type inference.
"""
import pathlib
import re
from typing import NamedTuple

from sourcetext import Lines, split_swift

ROOT = pathlib.Path(__file__).resolve().parent.parent

TOKEN = re.compile(
    r"(?P<brace>[{}])"
    r"|(?<![.\w`])(?P<kind>struct|class|enum|actor|protocol|typealias|extension)\s+(?P<path>[A-Z]\w*(?:\.[A-Z]\w*)*)"
    r"|(?<![.\w`])(?P<value>func|var|let)\s+(?P<member>\w+)"
    r"|(?<![.\w`])case\s+(?=[a-z`])(?P<cases>[^\n{}]*(?:,[ \t]*\n[^\n{}]*)*)"
    r"|(?P<name>[A-Z]\w*)|(?P<used>[a-z_]\w*)")
CONDITION = re.compile(r"(?m)^[ \t]*#(if|elseif|else|endif)\b([^\n]*)")
IMPORT = re.compile(
    r"(?m)^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|var|let)[ \t]+)?(\w+)[^\n]*")


class TypeDeclaration(NamedTuple):
    full: str
    simple: str
    file: "SourceFile"
    offset: int
    is_local: bool


class Member(NamedTuple):
    """A function or a value. `place` is `free`, `extension`, `type` or `local`; it is `type` for enumeration cases."""
    kind: str
    name: str
    place: str
    file: "SourceFile"


class Use(NamedTuple):
    name: str
    # The full name of the enclosing type, or "".
    scope: str
    offset: int


class SourceFile:
    """The declarations in one Swift file, and the names that it uses."""

    def __init__(self, path, root):
        self.path = path.relative_to(root).as_posix()
        parts = self.path.split("/")
        self.target = parts[1]
        self.folder = "/".join(parts[2:-1]) or "."
        code = split_swift(path.read_text(encoding="utf-8")).code
        self.lines = Lines(code)
        self.conditions = [(match.start(), match.group(1), match.group(2).strip()) for match in CONDITION.finditer(code)]
        self.imports = [(match.group(1), match.start(1)) for match in IMPORT.finditer(code)]
        erase = lambda match: re.sub(r"[^\n]", " ", match.group())
        self.code = IMPORT.sub(erase, CONDITION.sub(erase, code))
        self.types, self.members, self.uses, self.calls = [], [], [], []
        self._read()

    def line(self, offset):
        return self.lines.number(offset)

    def at(self, offset):
        return f"{self.path}:{self.line(offset)}"

    def _read(self):
        code = self.code
        # The kind of declaration that each open brace belongs to, and the full name of the type.
        stack, pending = [], None
        for match in TOKEN.finditer(code):
            kind = match.lastgroup
            scope = stack[-1] if stack else ("free", "")
            start = match.start()
            if kind == "brace":
                if match.group() == "{":
                    stack.append(pending or ("local", scope[1]))
                    pending = None
                elif stack:
                    stack.pop()
            elif kind == "path":
                declared, path = match.group("kind"), match.group("path")
                name = path.split(".")[-1]
                if declared == "extension":
                    self._use_path(path, "", match.start("path"))
                    pending = ("extension", path)
                    continue
                full = f"{scope[1]}.{name}" if scope[1] else name
                self.types.append(TypeDeclaration(full, name, self, match.start("path"), scope[0] == "local"))
                if declared != "typealias":
                    pending = ("type", full)
            elif kind == "member":
                name = match.group("member")
                self.members.append(Member("func" if match.group("value") == "func" else "var", name, scope[0], self))
            elif kind == "cases":
                # Associated values are parsed as well, because they name types.
                text = match.group("cases")
                flat = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text)
                names = re.findall(r"(?:^|,)\s*`?([a-z_]\w*)", flat) if scope[0] == "type" else []
                self.members += [Member("var", name, "type", self) for name in names]
                for inner in re.finditer(r"(?<![\w@])[A-Z]\w*", text):
                    self._use(inner.group(), scope[1], match.start("cases") + inner.start())
                for inner in re.finditer(r"(?<![\w@#])[a-z_]\w*", text):
                    self._call(match.start("cases") + inner.start(), match.start("cases") + inner.end(), inner.group(), scope[1])
            elif kind == "name":
                if code[start - 1:start] != "@" and code[start - 1:start] != "#":
                    self._use(match.group(), scope[1] or (pending or ("", ""))[1], start)
            elif kind == "used":
                self._call(start, match.end(), match.group(), scope[1])

    def _use_path(self, path, scope, offset):
        for part in re.finditer(r"\w+", path):
            self._use(part.group(), scope, offset + part.start())

    def _use(self, name, scope, offset):
        """Records the use of a type; a name after a dot is stored with the preceding names."""
        before = re.search(r"((?:\b[A-Z]\w*\.)+)$", self.code[max(0, offset - 120):offset])
        if before:
            name = before.group(1) + name
        elif self.code[offset - 1:offset] == ".":
            return
        self.uses.append(Use(name, scope, offset))

    def _call(self, start, end, name, scope):
        """Records a lowercase name that is called or follows a dot."""
        dotted = self.code[start - 1:start] == "."
        called = self.code[end:end + 1] == "(" or (dotted and self.code[end:end + 2] == " {")
        if dotted or called:
            self.calls.append((name, dotted, called, start))


def swift_files(root=ROOT):
    return [SourceFile(path, root) for path in sorted((root / "Sources").rglob("*.swift"))
            if len(path.relative_to(root).parts) > 2]


def read_allowed(path):
    """Returns the entries of a list of tolerated errors, with their line numbers; `#` begins a comment."""
    if not path.exists():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        entry = line.split("#")[0].strip()
        if entry:
            found[" ".join(entry.split())] = number
    return found


def write_allowed(path, heading, entries):
    lines = [f"# {line}".rstrip() for line in heading.strip().splitlines()]
    path.write_text("\n".join([*lines, *entries]) + "\n", encoding="utf-8")
