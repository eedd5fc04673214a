import DavitStore
import Testing

/// Names that Windows cannot store, and names that are equal on some file systems.
struct NameIssueTests {
    static let names: [(name: String, issue: NameIssue?)] = [
        ("a.txt", nil), (".hidden", nil), ("a b", nil), ("ä", nil), ("日本語.txt", nil), ("a;b,c=[d]'", nil),
        ("~$a.docx", nil), (" a", nil), ("a/", nil),
        ("a:b", .reserved(":")), ("a?", .reserved("?")), ("*", .reserved("*")), ("a|b", .reserved("|")),
        ("a\"b", .reserved("\"")), ("<a", .reserved("<")), ("a>", .reserved(">")),
        (#"a\b"#, .reserved(#"\"#)),
        ("a\nb", .control), ("\u{1}", .control), ("a\u{7F}", .control), ("a\tb", .control),
        ("a.", .ending(".")), ("a ", .ending(" ")), ("a..", .ending(".")), ("a. ", .ending(" ")),
        ("con", .device("CON")), ("CON", .device("CON")), ("Aux.txt", .device("AUX")),
        ("nul.tar.gz", .device("NUL")), ("com1", .device("COM1")), ("LPT9.log", .device("LPT9")),
        ("prn .txt", .device("PRN")), ("COM²", .device("COM²")), ("conin$", .device("CONIN$")),
        ("com0", nil), ("com10", nil), ("console", nil), ("nulls", nil), ("a.con", nil), ("COM", nil),
    ]

    @Test(arguments: names)
    func issuesOfNamesAreFound(_ row: (name: String, issue: NameIssue?)) {
        #expect(NameIssue.issue(with: Array(row.name.utf8)) == row.issue)
    }

    @Test(arguments: [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func namesThatAreNotUTF8AreAnIssue(_ name: [UInt8]) {
        #expect(NameIssue.issue(with: name) == .notUTF8)
        #expect(NameIssue.issues(among: [name, name]).isEmpty)
    }

    struct Group: Sendable {
        var names: [String]
        var found: [String: NameIssue] = [:]
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static let groups: [Group] = [
        Group(names: []), Group(names: ["a", "b", "ab"]),
        Group(names: ["readme", "README"], found: ["readme": .differsOnlyInCase(as: bytes("README"))]),
        Group(
            names: ["a", "A", "b", "B", "c"],
            found: ["a": .differsOnlyInCase(as: bytes("A")), "b": .differsOnlyInCase(as: bytes("B"))]),
        Group(names: ["é", "É"], found: ["é": .differsOnlyInCase(as: bytes("É"))]),
        Group(
            names: ["\u{E9}", "e\u{301}"],
            found: ["\u{E9}": .differsOnlyInNormalization(as: bytes("e\u{301}"))]),
        // The Kelvin sign is canonically equivalent to K.
        Group(names: ["K", "\u{212A}"], found: ["\u{212A}": .differsOnlyInNormalization(as: bytes("K"))]),
        // File systems treat ß and ligatures as separate letters, not as spellings of ss or other letters.
        Group(
            names: ["straße", "strasse", "STRASSE"],
            found: ["strasse": .differsOnlyInCase(as: bytes("STRASSE"))]
        ),
        Group(names: ["ﬁ", "fi"]),
        Group(
            names: ["a", "A", "\u{E5}", "A\u{30A}"],
            found: [
                "a": .differsOnlyInCase(as: bytes("A")), "\u{E5}": .differsOnlyInCase(as: bytes("A\u{30A}")),
            ]),
    ]

    @Test(arguments: groups)
    func namesThatSomeSystemsTreatAsEqualAreFound(_ group: Group) {
        for names in [group.names, group.names.reversed()] {
            let found = NameIssue.issues(among: names.map(Self.bytes))
            // Compare bytes: canonically equivalent strings are equal in Swift.
            #expect(
                Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.issue) })
                    == Dictionary(uniqueKeysWithValues: group.found.map { (Self.bytes($0.key), $0.value) }))
        }
    }
}
