import DavitPage
import Testing

/// Compacting of the page's files: removes only insignificant text.
struct CompactTextTests {
    private static func compact(_ text: String, _ name: String) -> String {
        String(decoding: MinifiedText.of(Array(text.utf8), named: name), as: UTF8.self)
    }

    static let scripts: [(String, String)] = [
        ("// a\n\nconst a = 1 // b\n    let b\n", "const a=1\nlet b\n"),
        ("f(\n  {\n    a,\n    b,\n  },\n)\n{ a\n}\n", "f({a,b,},)\n{a}\n"),
        ("f(a, /* b */ c)\n/* d\n   e */ g()\n", "f(a,c)\ng()\n"),
        ("a /* x\n */ b\n", "a\nb\n"),
        ("import { a } from \"./a.js\"\n", "import{a}from\"./a.js\"\n"),
        ("const a = \"x  // y\"\n", "const a=\"x  // y\"\n"),
        ("const a = 'it\\'s  /* no */'\n", "const a='it\\'s  /* no */'\n"),
        (
            "a = `  x // y\n   z ${ b + `  q ${ { c : 1 } }  ` }  w`\n",
            "a=`  x // y\n   z ${b+`  q ${{c:1}}  `}  w`\n"
        ),
        ("const a = /[/\"  ]  \\/ \" /g\n", "const a=/[/\"  ]  \\/ \" /g\n"),
        ("return /  '/.test(a)\n", "return /  '/.test(a)\n"),
        ("const a = b / c / d // e\n", "const a=b / c / d\n"),
        ("(a) / b + \"  /  \"\n", "(a)/ b+\"  /  \"\n"),
        ("a + +b - -c + ++d\n", "a+ +b- -c+ ++d\n"),
        ("if (a) return\nb\n", "if(a)return\nb\n"),
        ("#a = 1\n static #b\n", "#a=1\nstatic #b\n"),
        ("a in b, typeof c\n", "a in b,typeof c\n"),
        ("a ^ b % `c`\n", "a^b%`c`\n"),
        ("a\n    .b\n    ?.c\n", "a.b?.c\n"), ("1\n    .a\n", "1\n.a\n"),
        ("a =\n    b\n    && c\n    ? d\n    : e\n", "a=b&&c?d:e\n"), ("case 1:\n    a\n", "case 1:a\n"),
        ("a++\nb\n!c\n*d\n", "a++\nb\n!c\n*d\n"),
        ("a ? .5 : c ?? d\n", "a?.5:c??d\n"),
        ("case \"a\": b\n", "case\"a\":b\n"),
        ("", ""), ("\n\n", ""), ("// only", ""), ("'open", "'open\n"), ("`open ${", "`open ${\n"),
        ("/* open", ""),
    ]

    @Test(arguments: scripts)
    func scriptsKeepWhatTheySay(row: (script: String, result: String)) {
        #expect(Self.compact(row.script, "a.js") == row.result)
    }

    static let styles: [(String, String)] = [
        ("/* a */\n.a, .b > c { color: red; margin: 0 1px }\n", ".a,.b>c{color:red;margin:0 1px}\n"),
        (".a :hover { content: \"  /* x */ ;  \"; }\n", ".a :hover{content:\"  /* x */ ;  \";}\n"),
        (
            "@media (min-width: 2px) and (a) {\n  .a { width: calc(1px + 2px); }\n}\n",
            "@media (min-width:2px) and (a){.a{width:calc(1px + 2px);}}\n"
        ),
        (".a/* x */.b { }\n.c { }", ".a .b{}\n.c{}\n"),
        (".a { content: '\\'  ' }", ".a{content:'\\'  '}\n"),
    ]

    @Test(arguments: styles)
    func stylesKeepWhatTheySay(row: (style: String, result: String)) {
        #expect(Self.compact(row.style, "a.css") == row.result)
    }

    @Test func textsOfTheServerStayThere() {
        let file = "# core\ncore.a = b  # c\n\nserver.a = d\nserver = e\n"
        #expect(Self.compact(file, "strings/en.txt") == "core.a = b  # c\nserver = e\n")
        #expect(
            Self.compact("<svg>\n  <path d=\"M0 0\"/>\n</svg>\n", "a.svg")
                == "<svg>\n<path d=\"M0 0\"/>\n</svg>\n")
        #expect(Self.compact("  a\n\n", "a.bin") == "  a\n\n")
    }

    /// Compacting is idempotent; a missed end of a literal would break that.
    @Test func filesAreCompact() throws {
        for name in PageFiles.shared.names {
            let sent = try #require(PageFiles.shared.bytes(of: name))
            #expect(MinifiedText.of(sent, named: name) == sent, "\(name)")
        }
    }

    /// The total size of everything that a reader of one language can load.
    @Test func thePageWeighsLittle() throws {
        var common = 0
        var language = 0
        for name in PageFiles.shared.names {
            let sent = try #require(PageFiles.shared.bytes(of: name))
            let count = min(PageFiles.shared.codedBytes(of: name)?.count ?? sent.count, sent.count)
            if name.hasPrefix("strings/") { language = max(language, count) } else { common += count }
        }
        #expect(common + language <= 126 << 10)
    }
}
