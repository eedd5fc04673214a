import DavitCommand
import DavitLogging
import DavitSystem
import DavitTesting
import Testing

struct LogCommandTests {
    @Test func argumentsAreParsed() throws {
        var options = LogOptions(path: "/a")
        options.file = "/log"
        #expect(try Arguments.parse(["log", "/a", "--audit-log", "/log"]) == .log(options))
        (options.limit, options.isJSON) = (5, true)
        #expect(
            try Arguments.parse(["log", "--limit=5", "--json", "--audit-log=/log", "/a"]) == .log(options))
        #expect(try Arguments.parse(["log", "/a", "--help"]) == .help(.log))
    }

    static let refused: [(words: [String], error: UsageError)] = [
        (["--audit-log", "/log"], .missingLogPath), (["/a", "b"], .unexpectedArgument("b")),
        (["/a", "--limt", "1"], .unknownOption("--limt", nearest: "--limit")),
        (["/a", "--limit", "0"], .badNumber("0", option: "--limit", range: 1...1_000_000)),
        (["/a", "--json=1"], .unwantedValue(option: "--json")),
    ]

    @Test(arguments: refused)
    func invalidArgumentsAreRefused(words: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["log"] + words) }
    }

    static let lines: [(json: String, text: String)] = [
        (
            #"{"time":"2026-01-02T03:04:05.678Z","op":"upload","result":"done","method":"PUT","user":"anna","#
                + #""via":"account","from":"192.0.2.1","path":"/a","bytes":3}"#,
            "2026-01-02T03:04:05.678Z upload /a 3 bytes by anna from 192.0.2.1"
        ),
        (
            #"{"time":"T","op":"delete","result":"partial","user":"anna","via":"app-password","credential":"k","#
                + #""path":"/a\u001b","trash":"abc","member_count":2,"members":["/a/b","/a/c"]}"#,
            "T delete (in part) /a\\x1B with 2 members by anna (app-password k) trash abc"
        ),
        (
            #"{"time":"T","op":"move","result":"refused","status":403,"via":"anonymous","from":"::1","path":"/a","#
                + #""to":"/b"}"#,
            "T move (refused with 403) /a to /b by an anonymous client from ::1"
        ),
    ]

    @Test(arguments: lines)
    func recordsArePrintedForPeople(json: String, text: String) throws {
        let line = try #require(AuditLine(parsing: Array(json.utf8)))
        #expect(line.text == text + "\n")
        #expect(line.json == json + "\n")
    }

    @Test func configurationNamesTheLog() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/audit"
        try SmallFile.write(Array(Self.lines[0].json.utf8), to: file, mode: 0o600)
        for path in ["/a", "a", "//a/"] {
            guard
                case .log(let options) = try Arguments.parse(
                    ["log", path], environment: ["DAVIT_AUDIT_LOG": file])
            else {
                Issue.record("not parsed")
                return
            }
            var found = 0
            #expect(try LogCommand(options: options).forEachRecord { _ in found += 1 })
            #expect(found == 1)
        }
        #expect(throws: CommandFailure.noAuditLog) {
            try LogCommand(options: LogOptions(path: "/a")).forEachRecord { _ in }
        }
    }

    /// An empty file has no records; other files are not audit logs.
    @Test func otherFilesAreRefused() throws {
        let folder = try TemporaryFolder()
        var options = LogOptions(path: "/a")
        options.file = folder.path + "/file"
        for (text, isLog) in [
            ("", true), (Self.lines[0].json, true), ("some text\n", false), ("{}\n", false),
        ] {
            try SmallFile.write(Array(text.utf8), to: folder.path + "/file", mode: 0o600)
            if isLog {
                #expect(try LogCommand(options: options).forEachRecord { _ in })
            } else {
                #expect(throws: CommandFailure.notAnAuditLog(folder.path + "/file")) {
                    try LogCommand(options: options).forEachRecord { _ in }
                }
            }
        }
        options.file = "syslog"
        #expect(throws: CommandFailure.auditLogNotInFile("syslog")) {
            try LogCommand(options: options).forEachRecord { _ in }
        }
    }

    @Test func journalCannotBeSearched() throws {
        guard
            case .log(let options) = try Arguments.parse(
                ["log", "/a"], environment: ["DAVIT_AUDIT_LOG": "journald"])
        else {
            Issue.record("not parsed")
            return
        }
        #expect(throws: CommandFailure.auditLogNotInFile("journald")) {
            try LogCommand(options: options).forEachRecord { _ in }
        }
    }
}
