import DavitPage
import Testing

/// The page's files as they are sent: without indentation, empty lines, and lines that are comments.
struct CompactTextTests {
    static let files: [(name: String, source: String, sent: String)] = [
        ("a.js", "// a\n\nconst a = 1 // b\n    let b\n", "const a = 1 // b\nlet b\n"),
        ("a.js", "f(\n    /// a\n    \"// a\", /* b */\n    `  // a`)", "f(\n\"// a\", /* b */\n`  // a`)\n"),
        ("a.js", "a\n    .b\n\n\n    / c\n", "a\n.b\n/ c\n"),
        ("a.js", "", ""), ("a.js", "\n   \n", ""), ("a.js", "// only", ""),
        ("b/a.css", "/* a */\n.a, .b > c {\n    color: red;\n}\n", ".a, .b > c {\ncolor: red;\n}\n"),
        ("a.css", ".a { content: \"  /* x */ ;  \"; }\n", ".a { content: \"  /* x */ ;  \"; }\n"),
        ("a.svg", "<svg>\n  <path d=\"M0 0\"/>\n</svg>\n", "<svg>\n<path d=\"M0 0\"/>\n</svg>\n"),
        (
            "strings/en.txt", "# core\ncore.a = b  # c\n\nserver.a = d\nserver = e\n",
            "core.a = b  # c\nserver = e\n"
        ),
        ("a/strings/en.txt", "# a\na.b = c\n", "a.b = c\n"),
        ("a.bin", "  a\n\n", "  a\n\n"),
    ]

    @Test(arguments: files)
    func onlyIndentationEmptyLinesAndCommentsAreRemoved(file: (name: String, source: String, sent: String)) {
        let sent = CompactText.of(Array(file.source.utf8), named: file.name)
        #expect(String(decoding: sent, as: UTF8.self) == file.sent)
    }

    /// The total size of all files that a browser can load in one language.
    @Test func pageIsAtMost148KiBLong() throws {
        var common = 0
        var languages: [String: Int] = [:]
        for name in PageFiles.shared.names {
            let sent = try #require(PageFiles.shared.bytes(of: name))
            let count = min(PageFiles.shared.codedBytes(of: name)?.count ?? sent.count, sent.count)
            if let language = name.firstRange(of: "strings/") {
                languages[String(name[language.upperBound...]), default: 0] += count
            } else {
                common += count
            }
        }
        #expect(common + (languages.values.max() ?? 0) <= 148 << 10)
    }
}
