import DavitLogging
import DavitSystem
import Synchronization
import Testing

struct LogTests {
    /// Collects lines.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        func append(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }

        /// The collected lines without their time.
        var all: [String] { lines.withLock { $0.map { String($0.drop { $0 != " " }.dropFirst()) } } }
        var first: String? { lines.withLock { $0.first } }
    }

    static let values: [(value: String, text: String)] = [
        ("plain", "plain"), ("two words", "\"two words\""), ("", "\"\""), ("a\"b", "\"a\\x22b\""),
        ("line\r\nforged", "\"line\\x0d\\x0aforged\""), ("\u{1B}[2J", "\"\\x1b[2J\""), ("ä", "\\xc3\\xa4"),
        ("back\\slash", "back\\x5cslash"),
    ]

    @Test(arguments: values)
    func valuesCannotForgeLines(value: String, text: String) {
        let lines = Lines()
        let log = Log(level: .debug) { lines.append($0) }
        log.warning("something", ["key": value])
        #expect(lines.all == ["warning something key=\(text)\n"])
    }

    @Test func disabledLevelEvaluatesNothing() {
        let lines = Lines()
        let log = Log(level: .warning) { lines.append($0) }
        func unused() -> String {
            Issue.record("metadata evaluated although the level is disabled")
            return ""
        }
        log.info("something", ["key": unused()])
        log.text(.access, "line".utf8)
        #expect(lines.all.isEmpty)
        log.error("broken")
        #expect(lines.all == ["error broken\n"])
    }

    @Test func composedTextIsEscapedOnce() {
        let lines = Lines()
        let log = Log(level: .access) { lines.append($0) }
        log.text(.access, #""GET /a\x22b""#.utf8)
        log.text(.access, "a\nb\u{1B}[31m\u{E9}".utf8)
        #expect(
            lines.all == ["access \"GET /a\\x22b\"\n", "access a\\x0ab\\x1b[31m\\xc3\\xa9\n"])
    }

    // There are five usual levels, and one for responses (W073 in docs/coming-from-gcdwebserver.md).
    @Test func everyLevelIncludesThePrecedingOnes() {
        #expect(Log.Level.allCases == [.error, .warning, .info, .access, .verbose, .debug])
        let lines = Lines()
        let log = Log(level: .verbose) { lines.append($0) }
        log.error("a")
        log.warning("b")
        log.info("c")
        log.text(.access, "d".utf8)
        log.verbose("e")
        log.debug("f")
        #expect(lines.all == ["error a\n", "warning b\n", "info c\n", "access d\n", "verbose e\n"])
        #expect(Log(level: .access).isOn(.info))
        #expect(!Log(level: .info).isOn(.access))
    }

    @Test func lineBeginsWithTheTime() throws {
        let lines = Lines()
        Log(level: .info) { lines.append($0) }.info("now")
        let line = try #require(lines.first)
        let pattern = try Regex(
            "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z info now\n")
        #expect(line.wholeMatch(of: pattern) != nil)
    }

    // The sink can be replaced (W074 in docs/coming-from-gcdwebserver.md).
    @Test func customSinkReceivesUnescapedParts() throws {
        let entries = Mutex<[LogEntry]>([])
        let log = Log(level: .info, sink: .custom { entry in entries.withLock { $0.append(entry) } })
        log.warning("some\tthing", ["path": "/a b\n", "count": "3"])
        log.text(.access, "line \\x0a".utf8)
        log.text(.info, "GET\u{1B}".utf8)
        let all = entries.withLock { $0 }
        let first = try #require(all.first)
        #expect(first.level == .warning && first.message == "some\tthing")
        #expect(first.metadata == [.init(key: "path", value: "/a b\n"), .init(key: "count", value: "3")])
        #expect(first.text == #"some\x09thing path="/a b\x0a" count=3"#)
        #expect(all.count == 2 && all.last?.text == #"GET\x1b"#)
    }

    // sd-daemon(3): the line starts with a priority, and the journal adds the time.
    @Test(arguments: [
        (Log.Level.error, "<3>"), (.warning, "<4>"), (.info, "<6>"), (.access, "<6>"), (.verbose, "<7>"),
        (.debug, "<7>"),
    ])
    func journalLineBeginsWithItsPriority(level: Log.Level, prefix: String) {
        let entry = LogEntry(level: level, message: "said", metadata: [.init(key: "by", value: "a\n<1>b")])
        #expect(String(decoding: entry.journalLine, as: UTF8.self) == prefix + "said by=\"a\\x0a<1>b\"\n")
    }

    @Test(arguments: [
        ("8:1234", true), ("8:1235", false), ("9:1234", false), ("8", false), ("", false),
        ("8:1234:5", false),
        (":", false), ("8:", false), ("-8:1234", false), ("0x8:1234", false), (" 8:1234", false),
    ])
    func journalIsRecognizedByItsStream(stream: String, isJournal: Bool) {
        #expect(Journal.names(stream, device: 8, inode: 1234) == isJournal)
    }
}
