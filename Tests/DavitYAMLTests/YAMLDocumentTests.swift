#if YAML
import DavitYAML
import Testing

struct YAMLDocumentTests {
    /// Returns a node in flow style, with quotes around scalars that are not plain.
    static func text(_ node: YAMLNode?) -> String {
        guard let node else { return "-" }
        switch node.content {
        case .scalar(let text, let isPlain): return isPlain ? text : "'\(text)'"
        case .sequence(let items): return "[" + items.map { text($0) }.joined(separator: ",") + "]"
        case .mapping(let members):
            return "{" + members.map { "\($0.key):\(text($0.value))" }.joined(separator: ",") + "}"
        case .invalid: return "!"
        }
    }

    static let trees: [(file: String, tree: String)] = [
        ("", "-"), ("# only a comment\n", "-"), ("---\n...\n", ""), ("a: 1", "{a:1}"),
        // Scalars keep their spelling, whatever YAML 1.1 means by it.
        ("a: no\nb: 1.10\nc: 0o17\nd: ~\ne:\nf: 12:30:45", "{a:no,b:1.10,c:0o17,d:~,e:,f:12:30:45}"),
        ("a: 'no'\nb: \"x\\ty\"\nc: |\n  one\n  two\n", "{a:'no',b:'x\ty',c:'one\ntwo\n'}"),
        ("- a\n- [b, {c: d}]\n-\n  - e\n", "[a,[b,{c:d}],[e]]"), ("{a: {b: []}, c: {}}", "{a:{b:[]},c:{}}"),
        ("\u{FEFF}a: ä", "{a:ä}"), ("a: 1\r\nb: 2\r\n", "{a:1,b:2}"), ("%YAML 1.1\n---\na: 1\n", "{a:1}"),
    ]

    @Test(arguments: trees)
    func filesBecomeTrees(file: String, tree: String) {
        let document = YAMLDocument(parsing: Array(file.utf8))
        #expect(Self.text(document.root) == tree)
        #expect(document.problems == [])
    }

    static let wrong: [(file: String, line: Int, column: Int, words: String)] = [
        ("a: &x 1\nb: *x\n", 1, 4, "anchors"), ("a: 1\nb: *x\n", 2, 4, "aliases"),
        ("a: !!str 1", 1, 4, "tags"), ("a: !x {b: c}", 1, 4, "tags"), ("a: 1\nb: 2\na: 3", 3, 1, "twice"),
        ("a: 1\n'a': 3", 2, 1, "twice"), ("? [a]\n: b\n", 1, 3, "expected a key"),
        ("a: 1\n---\nb: 2\n", 2, 1, "second document"), ("a: [1\nb: 2", 2, 2, "not valid YAML"),
        ("a: b: c", 1, 5, "not valid YAML"), ("\ta: 1", 1, 1, "not valid YAML"),
        ("a: \"x", 1, 6, "not valid YAML"), ("a: 1\n b: 2", 2, 3, "not valid YAML"),
        ("%YAML 2.0\n---\na: 1\n", 1, 1, "not valid YAML"),
    ]

    @Test(arguments: wrong)
    func mistakesHaveAPosition(file: String, line: Int, column: Int, words: String) {
        let problems = YAMLDocument(parsing: Array(file.utf8)).problems
        #expect(problems.first?.position == YAMLPosition(line: line, column: column), "\(problems)")
        #expect(problems.first?.message.contains(words) == true, "\(problems)")
    }

    @Test func allMistakesAreReported() {
        let file = "a: &x 1\nb: *x\na: 2\nc: !t 1\n"
        let problems = YAMLDocument(parsing: Array(file.utf8)).problems
        #expect(problems.map(\.position?.line) == [1, 2, 3, 4])
    }

    @Test func invalidBytesAreRefused() {
        #expect(YAMLDocument(parsing: [0x61, 0x3A, 0x20, 0xFF]).problems.map(\.position) == [nil])
        #expect(YAMLDocument(parsing: Array("a: \u{1}".utf8)).problems.count == 1)
    }

    @Test func sizeIsLimited() {
        let file = [UInt8](repeating: UInt8(ascii: "#"), count: YAMLLimits.fileBytes)
        #expect(YAMLDocument(parsing: file).problems == [])
        #expect(YAMLDocument(parsing: file + [UInt8(ascii: "#")]).problems.count == 1)
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func depthIsLimited(opening: String) {
        // Deep enough to overflow a stack of calls.
        let file = String(repeating: opening, count: 200_000)
        let problems = YAMLDocument(parsing: Array(file.utf8)).problems
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains("nested too deeply") == true, "\(problems)")
    }

    @Test func deepestListIsAccepted() {
        let depth = YAMLLimits.depth
        let file = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(YAMLDocument(parsing: Array(file.utf8)).problems == [])
        #expect(YAMLDocument(parsing: Array("[\(file)]".utf8)).problems.count == 1)
    }

    @Test func numberOfValuesIsLimited() {
        let file = "[" + String(repeating: "1,", count: YAMLLimits.nodes) + "]"
        let problems = YAMLDocument(parsing: Array(file.utf8)).problems
        #expect(problems.first?.message.contains("too many values") == true)
    }

    @Test func numberOfProblemsIsLimited() {
        let file = String(repeating: "a: 1\n", count: 1_000)
        #expect(YAMLDocument(parsing: Array(file.utf8)).problems.count == YAMLLimits.problems)
    }
}
#endif
