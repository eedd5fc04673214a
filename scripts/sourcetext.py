"""Splits source files into code, comments and strings, for the checks of `make lint`.

Every `split_…` function returns a `Parts`. Its `code` has the same length and the same lines as the file, with comments and string
contents replaced by spaces, so that offsets and line numbers stay valid. Interpolated expressions are code.
"""
import bisect
import re
from typing import NamedTuple


class Piece(NamedTuple):
    """A comment or a string literal."""
    start: int
    end: int
    # The text of a string, in which `\0` represents an interpolation, or the source text of a comment.
    text: str
    # The offsets of each piece of literal text, in `text` and in the file.
    offsets: tuple = ()


class Parts(NamedTuple):
    code: str
    comments: list
    strings: list
    # The start and end of everything that `code` does not contain.
    blanks: tuple


class Lines:
    """Converts offsets to line numbers."""

    def __init__(self, text):
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def number(self, offset):
        return bisect.bisect_right(self.starts, offset)


BEFORE_REGEX = re.compile(r"(?:[(,=:\[{;&|!?~]|\b(?:return|in|case|where|typeof|try|await))\s*$|^\s*$")


def blanked(text):
    return "\n".join(" " * len(line) for line in text.split("\n"))


def ends_before_regex(text, position):
    """Returns whether a slash at `position` begins a regular expression, rather than being the division operator."""
    line_start = text.rfind("\n", 0, position) + 1
    return BEFORE_REGEX.search(text, line_start, position) is not None


class _Scanner:
    def __init__(self, text):
        self.text = text
        self.code = []
        self.comments = []
        self.strings = []
        self.blanks = []
        self.copied = 0

    def blank(self, start, end):
        """Keeps all code before `start`, and replaces the text up to `end` with spaces."""
        self.blanks.append((start, end))
        if start > self.copied:
            self.code.append(self.text[self.copied:start])
        begin = max(start, self.copied)
        self.code.append(blanked(self.text[begin:end]))
        self.copied = max(self.copied, end)

    def comment(self, start, end):
        self.blank(start, end)
        self.comments.append(Piece(start, end, self.text[start:end]))

    def parts(self):
        self.code.append(self.text[self.copied:])
        return Parts("".join(self.code), self.comments, self.strings, tuple(self.blanks))


class _Swift(_Scanner):
    TOP = re.compile(r'//[^\n]*|/\*|#*"""(?=[ \t]*\r?\n)|#*"|#+/|/|`\w+`')
    INSIDE = re.compile(TOP.pattern + r"|[()]")
    NESTED = re.compile(r"/\*|\*/")
    REGEX = re.compile(r"/(?![\s*/])(?:\\.|[^/\\\n])+/")
    enders = {}

    def scan(self, position=0, inside=False):
        """Scans code up to the end of the file or of an interpolation."""
        text, pattern, depth = self.text, self.INSIDE if inside else self.TOP, 0
        while match := pattern.search(text, position):
            start, position, token = match.start(), match.end(), match.group()
            if token == "(":
                depth += 1
            elif token == ")":
                if depth == 0:
                    return position
                depth -= 1
            elif token.startswith("//"):
                self.comment(start, position)
            elif token == "/*":
                nesting = 1
                while nesting and (match := self.NESTED.search(text, position)):
                    nesting += 1 if match.group() == "/*" else -1
                    position = match.end()
                position = position if nesting == 0 else len(text)
                self.comment(start, position)
            elif token.endswith('"'):
                position = self.string(start, position, token)
            elif token[0] == "#":
                end = text.find("/" + "#" * (len(token) - 1), position)
                position = len(text) if end < 0 else end + len(token)
                self.blank(start, position)
            elif token == "/":
                literal = self.REGEX.match(text, start)
                if literal and ends_before_regex(text, start):
                    position = literal.end()
                    self.blank(start, position)
        return len(text)

    def string(self, start, position, token):
        hashes, multiline = token.count("#"), token.endswith('"""')
        if (hashes, multiline) not in self.enders:
            marks = "#" * hashes
            quote = '"""' if multiline else '"'
            self.enders[hashes, multiline] = re.compile(rf"(?s){quote}{marks}|\\{marks}." + ("" if multiline else r"|\n"))
        ender = self.enders[hashes, multiline]
        pieces, offsets, length = [], [], 0

        def add(begin, end):
            nonlocal length
            offsets.append((length, begin))
            pieces.append(self.text[begin:end])
            length += end - begin

        begin, blank_from = position, start
        while match := ender.search(self.text, position):
            found, position = match.group(), match.end()
            if found[0] == "\\":
                if found[-1] == "(":
                    add(begin, match.start())
                    self.blank(blank_from, match.start())
                    # The parentheses are code; the backslash and the number signs are not.
                    self.blank(match.start(), position - 1)
                    position = self.scan(position, inside=True)
                    pieces.append("\0")
                    length += 1
                    begin = blank_from = position
                continue
            end = match.start()
            if found == "\n":
                position = end
            add(begin, end)
            break
        else:
            position = len(self.text)
            add(begin, position)
        self.blank(blank_from, position)
        self.strings.append(Piece(start, position, "".join(pieces), tuple(offsets)))
        return position


def split_swift(text):
    scanner = _Swift(text)
    scanner.scan()
    return scanner.parts()


class _JavaScript(_Scanner):
    TOP = re.compile(r"//[^\n]*|/\*|[\"'`/]")
    INSIDE = re.compile(TOP.pattern + r"|[{}]")
    SIMPLE = {
        '"': re.compile(r'"(?:\\.|[^"\\\n])*"?', re.S), "'": re.compile(r"'(?:\\.|[^'\\\n])*'?", re.S),
        "/": re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/"),
    }
    TEMPLATE = re.compile(r"`|\\.|\$\{", re.S)

    def scan(self, position=0, inside=False):
        text, pattern, depth = self.text, self.INSIDE if inside else self.TOP, 0
        while match := pattern.search(text, position):
            start, position, token = match.start(), match.end(), match.group()
            if token == "{":
                depth += 1
            elif token == "}":
                if depth == 0:
                    return position
                depth -= 1
            elif token.startswith("//"):
                self.comment(start, position)
            elif token == "/*":
                end = text.find("*/", position)
                position = len(text) if end < 0 else end + 2
                self.comment(start, position)
            elif token == "`":
                position = self.template(start, position)
            elif token != "/":
                position = self.SIMPLE[token].match(text, start).end()
                self.blank(start, position)
                self.strings.append(Piece(start, position, text[start + 1:position - 1], ((0, start + 1),)))
            elif (literal := self.SIMPLE["/"].match(text, start)) and ends_before_regex(text, start):
                position = literal.end()
                self.blank(start, position)
        return len(text)

    def template(self, start, position):
        blank_from = start
        while match := self.TEMPLATE.search(self.text, position):
            position = match.end()
            if match.group() == "${":
                self.blank(blank_from, position - 1)
                position = self.scan(position, inside=True)
                blank_from = position
            elif match.group() == "`":
                break
        else:
            position = len(self.text)
        self.blank(blank_from, position)
        return position


def split_javascript(text):
    scanner = _JavaScript(text)
    scanner.scan()
    return scanner.parts()


PYTHON = re.compile(
    r"#[^\n]*|(?P<prefix>\b[rRbBfFuU]{1,2})?(?P<quote>\"\"\"|'''|\"|')")
PYTHON_ENDS = {quote: re.compile(r"(?s)\\.|" + quote + ("" if len(quote) == 3 else r"|\n")) for quote in ('"""', "'''", '"', "'")}


def split_python(text):
    """Splits Python. The only strings returned are docstrings: triple-quoted literals that are statements."""
    scanner, position = _Scanner(text), 0
    while match := PYTHON.search(text, position):
        start, position = match.span()
        if match.group()[0] == "#":
            scanner.comment(start, position)
            continue
        quote = match.group("quote")
        begin = position
        while end := PYTHON_ENDS[quote].search(text, position):
            position = end.end()
            if end.group()[0] != "\\":
                break
        else:
            position = len(text)
        scanner.blank(start, position)
        before = text[text.rfind("\n", 0, start) + 1:start]
        if len(quote) == 3 and not before.strip():
            scanner.strings.append(Piece(start, position, text[begin:position - 3], ((0, begin),)))
    return scanner.parts()


SHELL = re.compile(r"(?m)(?:^|(?<=[ \t;]))#(?![!(])[^\n]*|'[^'\n]*'|\"(?:\\.|[^\"\\\n])*\"|\\.|\$\{[^}\n]*\}")


def split_shell(text):
    """Splits shell scripts and makefiles."""
    scanner = _Scanner(text)
    for match in SHELL.finditer(text):
        if match.group()[0] == "#":
            scanner.comment(*match.span())
    return scanner.parts()


STYLE = re.compile(r"(?s)/\*.*?\*/")


def split_style(text):
    """Splits style sheets."""
    scanner = _Scanner(text)
    for match in STYLE.finditer(text):
        scanner.comment(*match.span())
    return scanner.parts()


def split_c(text):
    scanner = _Scanner(text)
    for match in re.finditer(r"(?s)/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", text):
        if match.group()[0] == "/":
            scanner.comment(*match.span())
    return scanner.parts()
