// Syntax tables: each rule is a class and a regular expression, tried in this order at each position. Every expression has a
// bounded number of attempts per position, so that a malicious file takes linear time.

// Classes: c comment, s string, n number, k keyword, t type or tag, a attribute or key, m directive,
// h heading, b link or code, i inserted, d deleted.

const quoted = (quote) => `${quote}(?:[^${quote}\\\\\\n]|\\\\[^])*${quote}?`
const double = ["s", quoted('"')]
const single = ["s", quoted("'")]
const triple = ["s", '"""[^]*?(?:"""|$(?![^]))']
const slashes = ["c", "\\/\\/.*"]
const block = ["c", "\\/\\*[^]*?(?:\\*\\/|$(?![^]))"]
const hash = ["c", "#.*"]
const number = ["n", "\\b(?:0[xX][\\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][-+]?\\d+)?)\\w*"]
const decorator = ["m", "@[A-Za-z_][\\w.]*"]
const directive = ["m", "^[ \\t]*#[ \\t]*\\w+"]

// Lists of words, separated by spaces. Literals do not span lines, because indentation is removed before the file is sent.
const lines = (...texts) => texts.join(" ")

const c = lines(
    "auto break case char const continue default do double else enum extern float for goto if inline int long",
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool",
    "true false nullptr NULL",
)
const cpp = lines(
    c, "alignas catch class concept consteval constexpr co_await co_return co_yield decltype delete explicit",
    "export final friend mutable namespace new noexcept operator override private protected public requires static_assert",
    "template this throw try typename using virtual",
)

const markup = [
    ["c", "<!--[^]*?(?:-->|$(?![^]))"],
    ["m", "<[!?][^>]*>?"],
    // A whole tag, then its parts.
    [[
        ["s", "\"[^\"]*\"?|'[^']*'?"],
        ["t", "<\\/?[^\\s>\\/]*|\\/?>"],
        ["a", "[^\\s=\"'>\\/]+"],
    ], "<\\/?[A-Za-z](?:\"[^\"]*\"|'[^']*'|[^'\"<>])*>?"],
    ["n", "&#?\\w{1,32};"],
]

/// Grammars by name: `rules`; `words`, the keywords; `capitals` if capitalized names are types.
export const languages = {
    js: {
        rules: [
            slashes, block, double, single, ["s", quoted("`").replace("\\n", "")], number, decorator,
            ["s", "(?<=[=(,:;!&|?{}[+] ?|^|return )\\/(?![*\\/ ])(?:[^\\/\\\\[\\n]|\\\\.|\\[(?:[^\\]\\\\\\n]|\\\\.){0,200}\\]){1,999}\\/[a-z]*"],
        ],
        words: lines(
            "abstract any as async await boolean break case catch class const continue debugger declare default delete",
            "do else enum export extends false finally for from function get if implements import in infer instanceof",
            "interface is keyof let module namespace never new null number object of override private protected public",
            "readonly return satisfies set static string super switch symbol this throw true try type typeof undefined",
            "unknown using var void while with yield",
        ),
        capitals: true,
    },
    json: { rules: [["a", '"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s{0,8}:)'], double, number, slashes, block], words: "true false null" },
    markup: { rules: markup, words: "" },
    css: {
        rules: [
            block, double, single, ["m", "@[\\w-]+"], ["n", "#[\\da-fA-F]{3,8}\\b|-?\\b\\d[\\d.]*(?:%|[a-z]+)?"],
            ["a", "(?<![\\w-])(?:--)?[a-z][\\w-]{0,60}(?=\\s{0,4}:[^:])"], ["t", "[.#][A-Za-z_][\\w-]*"],
        ],
        words: "important inherit initial none auto var calc",
    },
    swift: {
        rules: [slashes, block, triple, double, number, decorator, ["m", "#\\w+"]],
        words: lines(
            "actor any as associatedtype async await borrowing break case catch class consuming continue convenience",
            "default defer deinit didSet do dynamic else enum extension fallthrough false fileprivate final for func get",
            "guard if import in indirect infix init inout internal is isolated lazy let mutating nil nonisolated open",
            "operator optional override package postfix prefix private protocol public repeat required rethrows return",
            "self sending set some static struct subscript super switch throw throws true try typealias unowned unsafe",
            "var weak where while willSet yield",
        ),
        capitals: true,
    },
    c: { rules: [slashes, block, directive, double, single, number], words: cpp, capitals: true },
    objc: {
        rules: [slashes, block, directive, ["s", `@?${quoted('"')}`], single, number, ["k", "@[a-z]\\w*"]],
        words: lines(
            cpp, "id instancetype self super YES NO nil BOOL SEL IMP nonatomic strong weak copy assign readonly",
            "readwrite nullable nonnull",
        ),
        capitals: true,
    },
    python: {
        rules: [
            hash, ["s", "\\b[rbfuRBFU]{0,2}(?:\"\"\"[^]*?(?:\"\"\"|$(?![^]))|'''[^]*?(?:'''|$(?![^])))|(?:\"\"\"[^]*?(?:\"\"\"|$(?![^]))|'''[^]*?(?:'''|$(?![^])))"],
            double, single, number, decorator,
        ],
        words: lines(
            "and as assert async await break case class continue def del elif else except False finally for from global",
            "if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
        ),
        capitals: true,
    },
    shell: {
        rules: [["c", "(?<=^|\\s)#.*"], ["s", '"(?:[^"\\\\]|\\\\[^])*"?'], ["s", "'[^']*'?"], ["a", "\\$(?:\\w+|\\{[^}\\n]*\\}?|[?#@*!$-])"], number],
        words: lines(
            "alias break case continue declare do done elif else esac eval exec exit export fi for function if in local",
            "readonly return select set shift source then time trap unset until while",
        ),
    },
    go: {
        rules: [slashes, block, double, single, ["s", "`[^`]*`?"], number],
        words: lines(
            "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go",
            "goto if import int int64 interface iota map nil package range return rune select string struct switch true",
            "type uint64 var",
        ),
        capitals: true,
    },
    rust: {
        rules: [slashes, block, ["s", '\\br#*"[^]*?"#*'], ["s", '"(?:[^"\\\\]|\\\\[^])*"?'], ["s", "'(?:[^'\\\\\\n]|\\\\.[^'\\n]{0,10})'"], ["a", "'[a-z_]\\w*"], number, ["m", "#!?\\[[^\\]\\n]*\\]?|\\b\\w+!"]],
        words: lines(
            "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod",
            "move mut pub ref return self Self static struct super trait true type unsafe use where while i8 i16 i32 i64",
            "i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char str",
        ),
        capitals: true,
    },
    java: {
        rules: [slashes, block, triple, double, single, number, decorator],
        words: lines(
            "abstract as assert boolean break by byte case catch char class companion const continue data default do",
            "double else enum extends false final finally float for fun if implements import in inline instanceof int",
            "interface internal is lateinit long native new null object open override package private protected public",
            "record return sealed short static strictfp super suspend switch synchronized this throw throws transient",
            "true try typealias val var vararg void volatile when while yield",
        ),
        capitals: true,
    },
    yaml: {
        rules: [["c", "(?<=^|\\s)#.*"], ["a", "^[ \\t]*(?:- +)*[^\\s#:\"'\\[{&*!|>%@-][^\\n#:]*(?=:(?:\\s|$))"], double, ["s", "'[^'\\n]*'?"], ["m", "^(?:---|\\.\\.\\.)|[&*!][\\w./-]+"], number],
        words: "true false null yes no on off",
    },
    toml: {
        rules: [["t", "^[ \\t]*\\[[^\\n]*"], ["c", "^[ \\t]*[#;].*|[ \\t]#.*"], ["a", "^[ \\t]*[^\\s=:#;\\[\"'][^\\n=:]*(?=[=:])"], triple, double, ["s", "'[^'\\n]*'?"], number],
        words: "true false yes no on off null inf nan",
    },
    sql: {
        rules: [["c", "--.*"], block, ["s", "'(?:[^']|'')*'?"], double, ["a", "`[^`\\n]*`?|[@:$]\\w+"], number],
        words: lines(
            "add all alter and as asc begin between by case cast check collate column commit constraint create cross",
            "database default delete desc distinct drop else end except exists explain foreign from full function grant",
            "group having if in index inner insert intersect into is join key left like limit natural not null offset on",
            "or order outer pragma primary procedure recursive references replace returning revoke right rollback row",
            "select set table temp then to transaction trigger union unique update using values view when where window",
            "with without bigint blob boolean char date decimal float int integer numeric real smallint text timestamp",
            "varchar",
        ),
        ignoresCase: true,
    },
    diff: {
        rules: [["m", "^(?:diff|index|---|\\+\\+\\+|===|Index:|rename|similarity|new file|deleted file).*"], ["h", "^@@.*"], ["i", "^\\+.*"], ["d", "^-.*"]],
        words: "",
    },
    markdown: {
        rules: [
            ["b", "^ {0,3}(?:`{3}|~{3})[^]*?(?:^ {0,3}(?:`{3}|~{3})|$(?![^]))"],
            ["h", "^ {0,3}#{1,6}(?: .*|$)"], ["m", "^ {0,3}(?:>|[-*+] |\\d{1,9}[.)] )"], ["b", "`[^`\\n]+`"],
            ["s", "!?\\[[^\\]\\n]{0,300}\\]\\([^)\\n]{0,999}\\)"], ["k", "\\*\\*[^*\\n]{1,999}\\*\\*|__[^_\\n]{1,999}__"],
        ],
        words: "",
    },
    make: { rules: [hash, ["a", "\\$[({][^)}\\n]*[)}]?|\\$."], ["t", "^[\\w.%/ -]+(?=:)"], double, single], words: "ifeq ifneq ifdef ifndef else endif include define endef export" },
}

const endings = {
    js: "js mjs cjs jsx ts mts cts tsx", json: "json jsonc json5 geojson webmanifest map ipynb",
    markup: "html htm xhtml xml svg xsl xslt plist rss atom xsd vue svelte storyboard xib", css: "css scss less",
    swift: "swift", c: "c h cc cpp cxx hpp hh hxx ino cs", objc: "m mm", python: "py pyi pyw", shell: "sh bash zsh fish ksh",
    go: "go mod", rust: "rs", java: "java kt kts scala groovy gradle dart", yaml: "yaml yml",
    toml: "toml ini cfg conf properties env service desktop editorconfig gitconfig", sql: "sql", diff: "diff patch",
    markdown: "md markdown mdown mkd", make: "mk",
    // Plain text.
    "": "txt text log csv tsv srt vtt nfo tex bib ics vcf rst adoc org asc pem crt lock gitignore dockerignore lua rb php pl r jl hs erl ex exs clj bat ps1 cmake vim el tf proto graphql",
}
const names = { makefile: "make", gnumakefile: "make", dockerfile: "shell", "cmakelists.txt": "shell", license: "", readme: "", copying: "", authors: "", changelog: "" }
const others = { javascript: "js", typescript: "js", html: "markup", cpp: "c", "c++": "c", "objective-c": "objc", kotlin: "java", bash: "shell", console: "shell", golang: "go", python3: "python" }
const byEnding = new Map(Object.entries(endings).flatMap(([name, list]) => list.split(" ").map((ending) => [ending, name])))

/// Returns the language of a file by its name.
/// @returns the name of the grammar, "" for plain text, undefined if unknown.
export function languageOf(name) {
    const lower = name.toLowerCase()
    if (Object.hasOwn(names, lower)) return names[lower]
    const dot = lower.lastIndexOf(".")
    return dot < 0 ? undefined : byEnding.get(lower.slice(dot + 1))
}

/// Returns the language of a fenced Markdown block by its info string; "" if unknown.
export function languageNamed(word) {
    const lower = word.toLowerCase()
    if (Object.hasOwn(languages, lower)) return lower
    return (Object.hasOwn(others, lower) ? others[lower] : byEnding.get(lower)) ?? ""
}
