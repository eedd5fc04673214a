#!/usr/bin/env python3
"""Checks that comments, documentation and messages contain no idioms that are peculiar to this project.

Checks comments and string literals in Swift (in tests, only the names of tests), comments and docstrings in Python,
comments in shell scripts, makefiles, C, style sheets and JavaScript, the documentation, and the English texts of the page.
Ignores code in backticks, quotations, fenced blocks and link targets.

scripts/words-allowed.txt lists legitimate uses: `PATH-GLOB: TEXT  # REASON`, where TEXT contains the word and the text
around it. An entry without a reason, or one that allows nothing, is an error.

    check-words.py [PATH...]    prints one error per line; exits with status 1 if there are any
    check-words.py --all        also applies rules with many false positives
    check-words.py --summary    prints the number of errors by file, area and rule
    check-words.py --self-test  tests this script with planted errors
"""
import bisect
import collections
import fnmatch
import pathlib
import re
import sys
import tempfile
from typing import NamedTuple

sys.dont_write_bytecode = True

import sourcetext  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED = "scripts/words-allowed.txt"
FOLDERS = [".ci", "Examples", "Fuzz", "Sources", "Tests", "bench", "docs", "litmus", "scripts"]
# The page's texts in the language that the others are translated from.
PAGE_TEXTS = ("Sources/DavitPage/Files/strings/en.txt", "Sources/DavitPage/Files/people/strings/en.txt")


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern
    # Matches legitimate uses: a match of `pattern` inside a match of `unless` is ignored.
    unless: re.Pattern | None
    advice: str
    # Whether the pattern is case-sensitive; otherwise it is in lower case.
    is_cased: bool


def rule(name, pattern, advice, unless=None, is_cased=False):
    def spaced(text):
        text = text.replace(" ", r"\s+")
        # In a pattern, only letters after a backslash may remain capitals.
        return re.compile(text if is_cased else re.sub(r"(?<!\\)[A-Z]", lambda match: match.group().lower(), text))

    return Rule(name, spaced(pattern), spaced(unless) if unless else None, advice, is_cased)


PROXY = r"(?:proxy|proxies|NAT|nginx|Caddy|Apache|Traefik|HAProxy|gateways?|firewalls?|routers?|load balancers?|CDN|TLS|HTTPS)"
PARTICIPLE = r"(?:\w+(?:ed|ing)|read|sent|written|kept|found|made|done|given|known|built|taken|seen|held|put|set|being)"

RULES = [
    rule("stands", r"\b(?:stands|stood)\b|\b(?:can|could|may|might|must|shall|should|would|to|that|which|they|not|"
                   r"only) stand\b", "is, is stored, appears", r"\bstand(?:s|ing)? for\b|\bstood for\b|\bstand in for\b|\blong standing\b|"
         r"\bto stand out\b"),
    rule("whoever", r"\bwho(?:m|so)?ever\b", "the caller, a client that, anyone who"),
    rule("nobody", r"\b(?:nobody|somebody|everybody|anybody)\b(?!:)", "no one, unused, another client, each user",
         r"\b(?:user|account|name|uid|as) nobody\b"),
    rule("at once", r"\bat once\b", "immediately, or at the same time", r"\bat once (?:a|an|per|every|each)\b"),
    rule("beside", r"\bbesides?\b", "next to, in addition to, except"),
    rule("behind", r"\bbehind\b", "after, following, below",
         rf"\bbehind (?:[\w’'-]+ ){{0,4}}{PROXY}\b"
         r"|\b(?:left|leaves?|leaving|lag\w*|falls?|fallen|fell|runs?) (?:\w+ ){0,4}?behind\b"
         r"|\bbehind (?:the|a|this|that|its) (?:dialog|overlay|menu|sheet|header|toolbar|panel|window|cursor)\b"),
    rule("tells", r"\b(?:tells?|told|telling)\b", "notifies, reports, returns", r"\btell(?:s|ing)? (?:\w+ ){0,4}apart\b"),
    rule("wish", r"\bwish(?:es|ed|ing)?\b", "request, preference"),
    rule("litter", r"(?<!-)\blitter(?:s|ed|ing)?\b", "macOS metadata files"),
    rule("the like", r"\bthe like\b", "similar files, and so on"),
    rule("for good", r"\bfor good\b", "permanently",
         r"\bfor good (?:reasons?|measure|practice|style|quality|performance|throughput|values?|compression|connections?)\b"),
    rule("anew", r"\banew\b", "again"),
    rule("goes on", r"\b(?:goes|go|going|went|gone) on\b(?![-/])", "continues, resumes",
         r"\b(?:goes|go|going) on (?:the|a|an|disk|top|one|line|stdout|stderr)\b"),
    rule("comes back", r"\b(?:comes?|came|coming) back\b", "returns, is restored"),
    rule("is there", r"\b(?:is|are|was|were|be|been|being)(?: (?:not|no longer|already|still|always|also|only|all|really|n't))? "
                     r"there\b(?! (?:a|an|any(?! more| longer)|no(?! longer)|anything|something|nothing|more|to|another|enough|room)\b)",
         "exists, is missing, is present", r"\b(?:and|but|if|that|than|because|while|where|what|which|as) is there (?:is|are)\b"),
    rule("be had", r"\bbe(?:en)? had\b", "is available, is required"),
    rule("as it is", rf"\bas (?:it|they) (?:is|are|was|were)\b(?! {PARTICIPLE}\b| (?:not|no|also|in|for|on|a|an|the|by|with|to|at)\b)",
         "unchanged, unmodified", r"\bas \w+ as (?:it|they) \w+\b|\b(?:same|such) as (?:it|they) \w+\b"),
    rule("lest", r"\blest\b", "so that … does not"),
    rule("heed", r"\bheed(?:s|ed|ing)?\b", "respect, follow, obey"),
    rule("so many", r"\bso many\b", "this many, at most", r"\bso many (?:\S+ ){0,6}?that\b"),
    rule("has gone", r"\b(?:has|have|had) gone\b", "has disconnected, has been removed", r"\b(?:has|have|had) gone (?:wrong|through)\b"),
    rule("mend", r"\bmend(?:s|ed|ing)?\b", "fix, repair"),
    rule("own accord", r"\bof (?:its|their|his) own accord\b", "automatically"),
    rule("whence", r"\b(?:nought|naught|hither|thither|whence|wherefrom|whereupon|hitherto|forthwith|betimes)\b",
         "zero, from where, immediately"),
]
# Rules with many false positives, whose matches must be reviewed.
LOOSE_RULES = [
    rule("wants", r"\bwants\b", "requests, prefers, needs"),
    rule("says", r"\b(?:says|said|saying)\b", "specifies, contains, reports",
         r"\b(?:RFC(?: \d+)?|specification|documentation|manual|standard|§[\d.]+) (?:\w+ )?(?:says|said)\b"),
    rule("gives", r"\b(?:gives|gave)\b", "returns, provides", r"\bgives? up\b|\bgave up\b"),
    rule("whole", r"\bwhole(?=[.,;:]| (?:and|or|before|at|in|into|by|if|when)\b)", "completely, in one piece",
         r"\b(?:a|the|as a) whole\b"),
    rule("asked for", r"\basked for\b", "requested"),
    rule("aside", r"\baside\b", "separately", r"\baside from\b|\bset(?:s|ting)? aside\b"),
    rule("looks whether", r"\blook(?:s|ed|ing)? (?:whether|if)\b|\ba look\b", "checks whether"),
    rule("Who …", r"\bWho\b(?![^.?!\x01]{0,200}\?)", "name the client or the caller", is_cased=True),
    rule("What …", r"\bWhat\b(?![^.?!\x01]{0,200}\?)", "name the thing", is_cased=True),
]

NOTHING = "\x01"
# Fenced blocks, code, link targets, addresses and quotations.
MASKED = re.compile(
    r"(?ms)^[^\n\w]*```.*?```|``[^`\x01]+``|`[^`\x01]+`|(?<=\])\([^)\s]+\)|\bhttps?://[^\s\x01]+|“[^”\x01]{1,300}”")
QUOTED = re.compile(r"(?<![\w\"])\"[^\"\x01]{1,200}\"(?!\w)")
HUMAN = re.compile(r"[A-Za-z]{2,}[,.:;]? [a-z]{1,}")
MACHINE = re.compile(r"\s*(?:[<{\[]|SELECT\b|INSERT\b|UPDATE\b|DELETE\b|CREATE\b|DROP\b|ALTER\b|PRAGMA\b|WITH\b|BEGIN\b|REPLACE\b|"
                     r"FROM\b|WHERE\b|ORDER\b)")


def hidden(text):
    return "\n".join(NOTHING * len(line) for line in text.split("\n"))


class Prose:
    """A text of the length of a file, in which everything except prose is masked."""

    def __init__(self, text):
        self.text = text
        self.parts = []
        self.end = 0

    def show(self, start, text):
        self.parts += [hidden(self.text[self.end:start]), text]
        self.end = start + len(text)

    def comment(self, piece):
        between = self.text[self.end:piece.start]
        text = re.sub(r"^(?://+|#+!?|/\*+)", lambda match: " " * len(match.group()), piece.text)
        text = re.sub(r"(?m)^[ \t]*\*+(?!/)|\*+/$", lambda match: " " * len(match.group()), text)
        if self.parts and not between.strip():
            # Comments on consecutive lines are one text.
            self.parts += [between, text]
            self.end = piece.end
        else:
            self.show(piece.start, text)

    def literal(self, piece):
        shown = []
        for index, (offset, start) in enumerate(piece.offsets):
            end = piece.offsets[index + 1][0] - 1 if index + 1 < len(piece.offsets) else len(piece.text)
            text = re.sub(r"\\[nrt\"'0\\\n]", "  ", piece.text[offset:end])
            shown.append((start, text if len(text) == end - offset else piece.text[offset:end]))
        for start, text in shown:
            if start >= self.end:
                self.show(start, text)

    def finish(self):
        return "".join(self.parts) + hidden(self.text[self.end:])


def prose_of(path, text):
    """Returns the prose in a file; None if the file is not checked."""
    name = path.rsplit("/", 1)[-1]
    if name.endswith(".md"):
        shown = MASKED.sub(lambda match: hidden(match.group()), text)
        shown = re.sub(r"\n(?=[ \t]*\n)", NOTHING, shown)
    elif path in PAGE_TEXTS:
        shown = "\n".join(line if line.startswith("#") else hidden(key) + NOTHING * len(mark) + value
                          for line in text.split("\n") for key, mark, value in [line.partition("=")])
    else:
        split = {"swift": sourcetext.split_swift, "py": sourcetext.split_python, "sh": sourcetext.split_shell,
                 "js": sourcetext.split_javascript, "css": sourcetext.split_style, "h": sourcetext.split_c, "c": sourcetext.split_c,
                 "Makefile": sourcetext.split_shell, "run": sourcetext.split_shell}.get(name.rsplit(".", 1)[-1])
        if split is None:
            return None
        parts = split(text)
        strings = parts.strings if name.endswith((".swift", ".py")) else []
        if name.endswith(".swift"):
            strings = [piece for piece in strings if HUMAN.search(piece.text) and not MACHINE.match(piece.text)]
            if path.startswith("Tests/"):
                strings = [piece for piece in strings
                           if re.search(r"@(?:Test|Suite)\(\s*$", text[max(0, piece.start - 40):piece.start])]
        prose = Prose(text)
        for piece in sorted(parts.comments + strings):
            if piece.start < prose.end:
                continue
            (prose.literal if piece.offsets else prose.comment)(piece)
        shown = prose.finish()
    return shown


class Finding(NamedTuple):
    path: str
    line: int
    rule: Rule
    text: str
    around: str


class Squeezed:
    """A text for fast searching, in which each masked run is replaced by a single character."""

    def __init__(self, shown):
        parts, self.offsets, self.starts, length, position = [], [], [], 0, 0
        for match in re.finditer(f"{NOTHING}[{NOTHING}\\s]*", shown):
            part = shown[position:match.start()] + NOTHING
            self.starts.append(length)
            self.offsets.append(position)
            parts.append(part)
            length += len(part)
            position = match.end()
        self.starts.append(length)
        self.offsets.append(position)
        self.text = "".join(parts) + shown[position:]

    def offset(self, position):
        index = bisect.bisect_right(self.starts, position) - 1
        return self.offsets[index] + position - self.starts[index]


def check(path, text, rules):
    shown = prose_of(path, text)
    if shown is None:
        return []
    squeezed, starts = Squeezed(shown), None
    prose = MASKED.sub(lambda match: hidden(match.group()), squeezed.text)
    prose = QUOTED.sub(lambda match: hidden(match.group()), prose)
    lowered = prose.lower()
    if len(lowered) != len(prose):
        lowered = prose
    found = []
    for each in rules:
        searched = prose if each.is_cased else lowered
        matches = list(each.pattern.finditer(searched))
        if not matches:
            continue
        allowed = [match.span() for match in each.unless.finditer(searched)] if each.unless else []
        starts = starts or sourcetext.Lines(text)
        for match in matches:
            if any(start <= match.start() and match.end() <= end for start, end in allowed):
                continue
            offset, end = squeezed.offset(match.start()), squeezed.offset(match.end() - 1) + 1
            around = one_line(text[max(0, offset - 200):end + 200])
            begin = prose.rfind(NOTHING, 0, match.start()) + 1
            stop = prose.find(NOTHING, match.end())
            stop = stop if stop >= 0 else len(prose)
            before, after = prose[begin:match.start()], prose[match.end():stop]
            # Omit partial words at both ends.
            before = before if len(before) <= 50 else before[-50:].partition(" ")[2]
            after = after if len(after) <= 50 else after[:50].rpartition(" ")[0]
            sentence = one_line(f"{before}{prose[match.start():match.end()]}{after}").strip()
            found.append(Finding(path, starts.number(offset), each, sentence, around))
    return sorted(found, key=lambda finding: finding.line)


def one_line(text):
    return re.sub(r"\s*\n\s*(?:///?|#+|\*)?\s*|\s+", " ", text)


def files(root, only=()):
    chosen = [path for path in root.iterdir() if path.is_file()] if root.is_dir() else []
    for folder in FOLDERS:
        chosen += [path for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(chosen):
        name = path.relative_to(root).as_posix()
        if "__pycache__" in name or only and not any(name == part or name.startswith(part.rstrip("/") + "/") for part in only):
            continue
        if name.endswith((".swift", ".md", ".py", ".sh", ".js", ".css", ".h", ".c")) or name in ("Makefile", ".ci/run", *PAGE_TEXTS):
            yield name, path


def read_allowed(root):
    """Returns the entries as (line, glob, text), and the errors of the list."""
    entries, wrong = [], []
    path = root / ALLOWED
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry, _, reason = line.partition("  #")
        glob, mark, text = entry.strip().partition(": ")
        if not mark or not text.strip():
            wrong.append(f"{ALLOWED}:{number}: expected 'PATH-GLOB: TEXT  # REASON'")
        elif not reason.strip():
            wrong.append(f"{ALLOWED}:{number}: an entry without a reason")
        else:
            entries.append((number, glob, one_line(text.strip())))
    return entries, wrong


def run(root, rules, only=()):
    entries, wrong = read_allowed(root)
    used, found = set(), []
    for name, path in files(root, only):
        for finding in check(name, path.read_text(encoding="utf-8"), rules):
            matching = [number for number, glob, text in entries
                        if fnmatch.fnmatch(name, glob) and text.lower() in finding.around.lower()
                        and finding.rule.pattern.search(text if finding.rule.is_cased else text.lower())]
            used.update(matching)
            if not matching:
                found.append(finding)
    if not only:
        wrong += [f"{ALLOWED}:{number}: allows nothing; remove it" for number, _, _ in entries if number not in used]
    return found, wrong


def area(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("Sources", "Tests") and len(parts) > 2 else parts[0]


def summary(found):
    for title, key in (("file", lambda finding: finding.path), ("area", lambda finding: area(finding.path)),
                       ("rule", lambda finding: finding.rule.name)):
        print(f"by {title}:")
        for name, count in sorted(collections.Counter(map(key, found)).items(), key=lambda pair: (-pair[1], pair[0])):
            print(f"{count:6}  {name}")
    print(f"{len(found):6}  in total")


def self_test():
    failed = []

    def expect(title, path, text, wanted, rules=RULES, allowed="", wrong=0):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in ((path, text), (ALLOWED, allowed)):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            found, faults = run(root, rules)
        lines = [(finding.line, finding.rule.name) for finding in found]
        if lines != wanted or len(faults) != wrong:
            failed.append(f"{title}: expected {wanted}, found {lines}, {faults}")

    swift = "Sources/A/A.swift"
    expect("a comment", swift, "let a = 1\n/// Where it stands.\n", [(2, "stands")])
    expect("a comment over two lines", swift, "// Closes it at\n    // once.\n", [(1, "at once")])
    expect("a nested comment", swift, "/* one /* two */\n * whoever reads */\nlet whoever = 1", [(2, "whoever")])
    expect("a string", swift, 'let a = "one"\nlog("waits for \\(somebody) and nobody: \\(a)")\nlog("nobody \\(a) reads it")', [(3, "nobody")])
    expect("a string over lines", swift, 'let help = """\n    the server\n    goes on\n    """', [(3, "goes on")])
    expect("code and short strings", swift, 'let anew = wish(litter, "anew", key: "for-good")  // an upload\n', [])
    expect("code and quotations in comments", swift, '/// ``Litter``, `at once`, the message "do it at once" and “anew”.\n', [])
    expect("text for machines", swift, 'let a = "<p>whoever reads this</p>", b = "SELECT name FROM nobody"', [])
    expect("the words in other uses", swift,
           "// Runs as user nobody, behind a reverse proxy, behind another nginx; _DAV_ stands for it.\n"
           "// Is there a file? So many files that it fails, looked at once a minute, as soon as it is read, as they are written.\n"
           "// For good reason it is left behind. Tell them apart. The value 0 goes on the stack. What has gone wrong?\n", [])
    expect("the words as idioms", swift, "// The file is there. It stays as it is. It is not there\n// any more, who has gone.\n",
           [(1, "is there"), (1, "is there"), (1, "as it is"), (2, "has gone")])
    expect("tests: names only", "Tests/T/T.swift", '@Test("answers at once") func f() { send("the file is there") }', [(1, "at once")])
    expect("documentation", "docs/a.md", "Behind the name\n\n    davit\n\n```\nanew\n```\n| a | anew |\n[x](anew.md)\n",
           [(1, "behind"), (8, "anew")])
    expect("a paragraph ends", "README.md", "It is\n\nthere.\n", [])
    expect("Python", "scripts/a.py", '"""Says it anew."""\nx = "anew"  # for good\n', [(1, "anew"), (2, "for good")])
    expect("shell", "Tests/a.sh", "echo 'anew # anew' # anew\n", [(1, "anew")])
    expect("JavaScript", "Sources/DavitPage/Files/a.js", 'const a = `anew ${b /* anew */}` // whoever\nconst r = /[/"]anew/\n',
           [(1, "whoever"), (1, "anew")])
    expect("texts of the page", PAGE_TEXTS[0], "# texts\na.litter = Delete for good\nb = “{name}” is no longer there.\n",
           [(2, "for good"), (3, "is there")])
    expect("an allowed use", swift, "// It stands here.\n", [], allowed="Sources/*: It stands here  # a quotation\n")
    expect("an entry that allows nothing", swift, "// It is here.\n", [], allowed="Sources/*: It stands here  # a quotation\n", wrong=1)
    expect("an entry without a reason", swift, "// It stands here.\n", [(1, "stands")], allowed="Sources/*: It stands here\n", wrong=1)
    expect("rules for --all", swift, "/// What a client wants.\n", [(1, "wants"), (1, "What …")], RULES + LOOSE_RULES)
    for line in failed:
        print(f"self-test: {line}", file=sys.stderr)
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    options = {argument for argument in arguments if argument.startswith("--")}
    if options - {"--all", "--summary"}:
        print(__doc__, file=sys.stderr)
        return 64
    paths = [argument for argument in arguments if argument not in options]
    found, wrong = run(ROOT, RULES + (LOOSE_RULES if "--all" in options else []), paths)
    if "--summary" in options:
        summary(found)
    else:
        for finding in found:
            print(f"{finding.path}:{finding.line}: '{finding.rule.name}' ({finding.rule.advice}): {finding.text}",
                  file=sys.stderr)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if found or wrong else 0


sys.exit(main(sys.argv[1:]))
