#if YAML
import Davit
import DavitCommand
import DavitSystem
import DavitTesting
import Testing

/// What `davit config check` finds in addition to mistakes in the file itself.
@Suite(.timeLimit(.minutes(5)))
struct StartChecksTests {
    private let file: ConfigurationFolder
    private let root: String

    init() throws {
        file = try ConfigurationFolder()
        root = try ExclusiveFolder.canonical(file.folder.path)
        _ = try ExclusiveFolder(path: root + "/share")
    }

    /// Settings in addition to a folder and a state folder, with the place and a part of what is reported; nil for nothing.
    /// `ROOT` is the folder that contains the share and the file.
    static let cases: [(settings: String, report: String?)] = [
        ("", nil),
        ("read-only: true\nmax-depth: 5", nil),
        (
            "host: 0.0.0.0",
            " without accounts, anyone who can reach 0.0.0.0 could access the folder. Add --user"
        ),
        ("host: 0.0.0.0\nuser-file: ROOT/users", nil),
        ("user-file: ROOT/none", " cannot read user file ROOT/none: "),
        ("access-log: ROOT/share/log", "3:13: access-log: ROOT/share/log is inside the shared folder"),
        ("audit-log: ROOT/share/log", "3:12: audit-log: ROOT/share/log is inside the shared folder"),
        ("audit-log: ROOT/log", nil),
        ("record: ROOT/share/new", " recording folder ROOT/share/new is inside the shared folder"),
        ("check-uploads: /nonexistent -q", "3:16: check-uploads: cannot execute /nonexistent: "),
        ("check-uploads: /etc", "3:16: check-uploads: cannot execute /etc: access: Is a directory"),
        ("event-command: /nonexistent", "3:16: event-command: cannot execute /nonexistent: "),
        ("event-command: /bin/sh -x", nil),
        ("mounts: [{path: /m, folder: ROOT/none}]", " folder ROOT/none does not exist. Create it"),
        ("rules: [{who: everyone, path: /, rights: view}]", nil),
        ("user-file: ROOT/users\nrules: [{who: 'user:anna', path: /, rights: view}]", nil),
        (
            "trusted-proxy: 127.0.0.1\nremote-user: Remote-User\nrules: [{who: 'user:x', path: /, rights: view}]",
            nil
        ),
    ]

    @Test(arguments: cases.indices)
    func problemsBeforeTheStartAreFound(index: Int) throws {
        let (settings, report) = Self.cases[index]
        let text = "folder: ROOT/share\nstate-dir: ROOT/state\n\(settings)\n"
        try file.write("anna:secret\n", to: "users")
        try file.write(text.replacing("ROOT", with: root))
        guard let report else {
            #expect(try file.run() == "\(file.path) is valid\n")
            return
        }
        let error = #expect(throws: CommandFailure.self) { try file.run() }
        guard case .configuration(let lines)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(lines.count == 1, "\(lines)")
        let expected = file.path + ":" + report.replacing("ROOT", with: root)
        #expect(lines.first?.hasPrefix(expected) == true, "\(lines)")
        // Nothing was created.
        let names = try #require(try PrivateFolder.names(in: root)).filter { !$0.hasPrefix(".") }
        #expect(Set(names) == ["davit.yaml", "share", "users"])
    }

    /// Such a rule has no effect, and does not prevent a start. Users may also be in a database.
    @Test func ruleForAnUnknownUserIsAWarning() throws {
        try file.write("anna:secret\n", to: "users")
        let rules = "rules: [{who: 'user:nope', path: /, rights: view}]"
        try file.write("folder: \(root)/share\nuser-file: \(root)/users\n\(rules)\n")
        let warning = "warning: rules: unknown user:nope: there is no such account in 'users' or 'user-file'"
        #expect(
            try file.run("check", ["--state-dir", root + "/state"])
                == "\(file.path):3:1: \(warning)\n\(file.path) is valid\n")
        let account = AccountOptions(
            .addAccount("nope", rights: .all), folder: root + "/share", stateFolder: root + "/a")
        _ = try AccountCommand(options: account).text(password: Array("secret".utf8))
        _ = try ExclusiveFolder(path: root + "/other")
        try file.write(
            """
            shares:
              - {path: /a, folder: \(root)/share, state-dir: \(root)/a}
              - {path: /b, folder: \(root)/other, state-dir: \(root)/b, \(rules)}

            """)
        #expect(try file.run() == "\(file.path) is valid\n")
    }

    @Test func missingFoldersOfAllSharesAreReported() throws {
        try file.write("shares: [{path: /a, folder: \(root)/x}, {path: /b, folder: \(root)/y}]\n")
        let error = #expect(throws: CommandFailure.self) { try file.run() }
        for name in ["x", "y"] {
            #expect(error?.message.contains("folder \(root)/\(name) does not exist") == true)
        }
    }

    #if TLS
    @Test func missingCertificatesAreReportedWithTheirOption() throws {
        try file.write("folder: \(root)/share\nstate-dir: \(root)/state\ntls-cert: /x\ntls-key: /y\n")
        let error = #expect(throws: CommandFailure.self) { try file.run() }
        #expect(
            error?.message.hasPrefix("\(file.path):3:11: tls-cert: /x: cannot read file: ") == true,
            "\(String(describing: error))")
        // The server names the option, too.
        let options = try file.options()
        let failure = #expect(throws: CommandFailure.self) { try ServeCommand(options: options).makeServer() }
        #expect(failure?.message.hasPrefix("--tls-cert: /x: cannot read file: ") == true)
    }
    #endif

    /// The accounts are in the state folder with which the server is started.
    @Test func optionsOfTheServerAreConsidered() throws {
        try file.write("folder: \(root)/share\nhost: 0.0.0.0\n")
        let account = AccountOptions(
            .addAccount("anna", rights: .all), folder: root + "/share", stateFolder: root + "/state")
        _ = try AccountCommand(options: account).text(password: Array("secret".utf8))
        #expect(try file.run("check", ["--state-dir", root + "/state"]) == "\(file.path) is valid\n")
        #expect(throws: CommandFailure.self) { try file.run("check", ["--state-dir", root + "/other"]) }
        #expect(try file.run("show", ["--port=81"]).contains("port: 81  # command line\n"))
        #expect(throws: UsageError.self) { try file.run("check", ["--config", "x"]) }
        #expect(throws: UsageError.self) { try Arguments.parse(["config", "defaults", "--port", "1"]) }
    }

    private func failure(_ configure: (inout ServeOptions) -> Void) -> CommandFailure? {
        var options = ServeOptions(folder: root + "/share")
        options.stateFolder = root + "/state"
        options.port = 0
        configure(&options)
        return #expect(throws: CommandFailure.self) { try ServeCommand(options: options).makeServer() }
    }

    /// Restricting the permissions of a device would affect all programs.
    @Test func deviceAsUserFileIsRefusedWithoutChmod() {
        let failure = failure { $0.userFile = "/dev/null" }
        #expect(failure?.message.contains("/dev/null: it is not a regular file") == true)
        #expect(failure?.advice?.contains("chmod") == false)
    }

    @Test func accountThatIsGivenTwiceIsNamed() {
        let failure = failure {
            $0.users = [.init(name: "anna", password: "x"), .init(name: "anna", password: "y")]
        }
        #expect(failure == .accountGivenTwice(name: "anna"))
    }

    @Test func fileAsStateFolderIsNamed() throws {
        try file.write("", to: "users")
        let failure = failure { $0.stateFolder = root + "/users" }
        #expect(failure == .stateFolderNotWritable(root + "/users", reason: "mkdir: Not a directory"))
    }

    /// The log is refused before it is created.
    @Test(arguments: [false, true]) func logInTheShareIsNotCreated(isLinked: Bool) throws {
        if isLinked { try #require(ShellCommand.run("ln -s share/log '\(root)/link'")?.status == 0) }
        let path = root + (isLinked ? "/link" : "/share/log")
        var options = ServeOptions(folder: root + "/share")
        options.stateFolder = root + "/state"
        options.port = 0
        options.audit.path = path
        let failure = #expect(throws: CommandFailure.self) { try ServeCommand(options: options).makeServer() }
        #expect(
            failure
                == .logInShare(option: "--audit-log", path, share: root + "/share"))
        #expect(try !ExclusiveFolder.hasEntry(at: root + "/share/log"))
    }
}
#endif
