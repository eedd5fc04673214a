import DavitSystem
import Synchronization
import Testing

struct LogTests {
    /// Collects lines.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        func append(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }

        /// Without the time in front.
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

    @Test func aLevelThatIsOffCostsNothing() {
        let lines = Lines()
        let log = Log(level: .warning) { lines.append($0) }
        func unused() -> String {
            Issue.record("computed although the level is off")
            return ""
        }
        log.info("something", ["key": unused()])
        log.text(.access, "line".utf8)
        #expect(lines.all.isEmpty)
        log.error("broken")
        #expect(lines.all == ["error broken\n"])
    }

    @Test func aComposedTextKeepsItsEscapesAndCannotForgeALine() {
        let lines = Lines()
        let log = Log(level: .access) { lines.append($0) }
        log.text(.access, #""GET /a\x22b""#.utf8)
        log.text(.access, "a\nb\u{1B}[31m\u{E9}".utf8)
        #expect(
            lines.all == ["access \"GET /a\\x22b\"\n", "access a\\x0ab\\x1b[31m\\xc3\\xa9\n"])
    }

    @Test func accessIsALevelBetweenInfoAndDebug() {
        #expect(Log.Level.allCases == [.error, .warning, .info, .access, .debug])
        #expect(Log(level: .access).isOn(.info))
        #expect(!Log(level: .info).isOn(.access))
    }

    @Test func aLineBeginsWithTheTime() throws {
        let lines = Lines()
        Log(level: .info) { lines.append($0) }.info("now")
        let line = try #require(lines.first)
        let pattern = try Regex(
            "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z info now\n")
        #expect(line.wholeMatch(of: pattern) != nil)
    }
}
