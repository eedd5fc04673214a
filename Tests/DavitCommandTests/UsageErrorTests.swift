import DavitCommand
import Testing

/// The messages for invalid command lines, and the suggestions that follow them.
struct UsageErrorTests {
    /// Returns the error of a command line.
    private static func error(of line: [String]) throws -> UsageError {
        try #require(throws: UsageError.self) { try Arguments.parse(line) }
    }

    private static func advice(for line: [String]) throws -> String {
        let command = try #require(Subcommand(rawValue: line[0]))
        return try error(of: line).advice(for: command, words: line)
    }

    static let withActions: [(command: Subcommand, actions: [String])] = [
        (.config, ["check FILE", "show FILE", "defaults", "schema"]),
        (.account, ["list FOLDER", "add FOLDER NAME", "enable|disable|remove FOLDER NAME"]),
        (.appPassword, ["list FOLDER", "add FOLDER NAME DEVICE", "revoke FOLDER NAME ID"]),
        (.group, ["list FOLDER", "add|remove FOLDER GROUP", "join|leave FOLDER GROUP NAME"]),
        (.access, ["list FOLDER", "explain FOLDER NAME PATH", "check FOLDER"]),
        (.locks, ["list FOLDER", "break FOLDER LOCK"]), (.uploads, ["list FOLDER", "cancel FOLDER UPLOAD"]),
        (.trash, ["list FOLDER", "restore FOLDER ENTRY...", "empty FOLDER"]),
        (.ban, ["list FOLDER", "add FOLDER ADDRESS", "remove FOLDER ADDRESS"]),
    ]

    @Test(arguments: withActions)
    func missingActionIsRefusedWithTheUsage(command: Subcommand, actions: [String]) throws {
        let name = command.rawValue
        #expect(try Self.error(of: [name]) == .missingAction)
        let advice = try Self.advice(for: [name])
        #expect(advice.hasPrefix("usage: davit \(name) "))
        for action in actions { #expect(advice.contains("davit \(name) \(action)")) }
        #expect(advice.hasSuffix("\nSee 'davit \(name) --help'."))
    }

    static let forms: [(line: [String], form: String)] = [
        (["import"], "import FOLDER --database URL --blobs PLACE [OPTION...]"),
        (["trash", "restore"], "trash restore FOLDER ENTRY... [--state-dir FOLDER]"),
        (["uploads", "cancel"], "uploads cancel FOLDER UPLOAD [--state-dir FOLDER]"),
        (["ban", "add"], "ban add FOLDER ADDRESS [--minutes N] [--state-dir FOLDER]"),
        (
            ["ban", "--state-dir", "/s", "add", "/srv"],
            "ban add FOLDER ADDRESS [--minutes N] [--state-dir FOLDER]"
        ),
        (["account", "disable", "/srv"], "account enable|disable|remove FOLDER NAME"),
        // A form that is on two lines in the help.
        (
            ["access", "explain", "/srv"],
            "access explain FOLDER NAME PATH [--app-password ID] [--group GROUP]..."
        ),
        (["config", "check"], "config check FILE [OPTION...]"),
        (["stub", "verify", "GET"], "stub verify METHOD PATH [OPTION...] [--to URL]"),
        // These have no arguments whose spaces need quotes.
        (["nodes", "x"], "nodes --database URL [--json]"), (["config", "defaults", "x"], "config defaults"),
        (["stub", "reset", "x"], "stub reset [--to URL]"),
    ]

    @Test(arguments: forms)
    func adviceIsTheFormWithTheSameAction(line: [String], form: String) throws {
        #expect(try Self.advice(for: line) == "usage: davit \(form)")
    }

    static let needQuotes: [(line: [String], form: String)] = [
        (["password", "anna", "b"], "password [NAME] [--digest] [--realm TEXT]"),
        (["account", "link", "/srv", "anna", "b"], "account link FOLDER NAME [--hours N]"),
        (["locks", "break", "/srv", "/a", "b"], "locks break FOLDER LOCK [--state-dir FOLDER]"),
    ]

    @Test(arguments: needQuotes)
    func unexpectedArgumentMayBePartOfAName(line: [String], form: String) throws {
        #expect(try Self.advice(for: line) == "A name with spaces needs quotes.\nusage: davit \(form)")
    }

    @Test func unknownActionIsAnsweredWithTheUsage() throws {
        let advice = try Self.advice(for: ["trash", "purge", "/srv"])
        #expect(advice.hasPrefix("usage: davit trash list FOLDER"))
    }

    @Test(arguments: [
        (["nodes"], "nodes requires --database"),
        (["import", "/srv"], "import requires --database and --blobs"),
        (["export", "/srv"], "export requires --database and --blobs"),
    ])
    func missingDatabaseIsReported(line: [String], message: String) throws {
        #expect(try Self.error(of: line).message == message)
    }

    @Test func eachLineOfAdviceIsIndented() {
        #expect(
            ErrorText.of(.missingAction, in: .locks, words: ["locks"]) == """
                davit: missing action
                       usage: davit locks list FOLDER [--state-dir FOLDER]
                              davit locks break FOLDER LOCK [--state-dir FOLDER]
                       See 'davit locks --help'.

                """)
    }
}
