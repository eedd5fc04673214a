import Davit
import DavitCommand
import DavitControl
import DavitSystem
import DavitTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

struct CheckCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    private var options: CheckOptions { CheckOptions(folder: share, stateFolder: state) }

    private var sound: CheckCommand.Report {
        CheckCommand.Report(share: share, stateFolder: state, findings: [])
    }

    /// Runs `body` while a server shares the folder.
    private func withServer(stateFolder: String? = nil, _ body: () throws -> Void) throws {
        var configuration = Configuration()
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        let server = try WebServer(
            WebDAVShare(share, stateFolder: stateFolder ?? state), configuration: configuration)
        _ = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body()
    }

    private func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
    }

    private func size(of path: String) -> Int? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    private var socket: String { state + "/" + ControlServer.fileName }

    /// Damages the SQLite database of the state.
    private func damage() throws {
        guard let file = unsafe fopen(state + "/state.sqlite", "r+b") else {
            Issue.record("cannot open the state database")
            return
        }
        defer { unsafe _ = fclose(file) }
        let spoilt = [UInt8](repeating: 0xA5, count: 32)
        // Overwrite the beginning of the second and third page; the first page contains the schema.
        for page in 1..<3 {
            unsafe _ = fseek(file, page * 4096, SEEK_SET)
            unsafe _ = fwrite(spoilt, 1, spoilt.count, file)
        }
    }

    // MARK: With a server

    @Test func checkUsesTheRunningServer() throws {
        try withServer { () throws in
            #expect(kind(of: socket) == S_IFSOCK | 0o600)
            #expect(try CheckCommand(options: options).report() == sound)
        }
        #expect(kind(of: socket) == nil)
    }

    @Test func socketOfAKilledServerIsReplaced() throws {
        try withServer {}
        do { _ = try LocalListener(folder: state, name: ControlServer.fileName) }
        #expect(kind(of: socket) != nil)
        // No process holds the lock: the check opens the state itself.
        #expect(try CheckCommand(options: options).report() == sound)
        try withServer { () throws in
            #expect(try ControlClient.ask(.check, in: state) == .lines([]))
        }
        #expect(kind(of: socket) == nil)
    }

    /// The path is too long for the address of a socket.
    #if os(Linux)
    @Test func longStateFolderPathsHaveASocket() throws {
        let deep = state + "/" + String(repeating: "d", count: 200)
        try withServer(stateFolder: deep) { () throws in
            #expect(try ControlClient.ask(.check, in: deep) == .lines([]))
        }
    }
    #endif

    @Test func shareIsServedWithoutASocket() throws {
        // A folder cannot be replaced by the socket.
        _ = try ExclusiveFolder(path: socket)
        try withServer { () throws in
            let failure = #expect(throws: CommandFailure.self) { try CheckCommand(options: options).report() }
            guard case .serverSilent(state, getpid(), _)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    // MARK: Without a server

    @Test func stateIsCheckedWithoutAServer() throws {
        try withServer {}
        #expect(try CheckCommand(options: options).report() == sound)
        // The check has released the state folder, so a server can open it.
        try withServer {}
    }

    /// The server object is still referenced. Other processes may have changed the database in the
    /// meantime, and releasing the object must not overwrite their changes with the contents of the
    /// write-ahead log.
    @Test func stoppedServerWritesNothing() throws {
        var configuration = Configuration()
        configuration.port = 0
        configuration.logLevel = .error
        let server = try WebServer(
            WebDAVShare(share, stateFolder: state), configuration: configuration)
        let client = ChangeEventClient(address: try #require(try server.start().first))
        let update = """
            <propertyupdate xmlns="DAV:"><set><prop><a xmlns="">1</a></prop></set></propertyupdate>
            """
        #expect(try client.send("PROPPATCH /", content: update).status == 207)
        #expect(size(of: state + "/state.sqlite-wal") ?? 0 > 0)
        server.shutdown()
        server.waitUntilStopped()
        #expect(size(of: state + "/state.sqlite-wal") ?? 0 == 0)
        withExtendedLifetime(server) {}
    }

    /// Names are checked with and without a server, because they do not depend on the state.
    @Test func namesThatSomeClientsCannotUseAreListed() throws {
        for name in ["a:b", "fine", "Fine", "con.txt", "dir", "dir/x ", "dir/\u{1B}[2J", "dir/\u{202E}x"] {
            let path = share + "/" + name
            #expect(unsafe (name == "dir" ? mkdir(path, 0o755) : close(creat(path, 0o644))) == 0)
        }
        let notUTF8 = (share + "/f").utf8CString.dropLast() + [CChar(bitPattern: 0xFF), 0]
        #expect(unsafe close(creat(Array(notUTF8), 0o644)) == 0)
        #expect(unsafe symlink(".", share + "/link") == 0)
        let names = [
            "/a:b: Windows does not allow :", "/con.txt: CON is a reserved device name on Windows",
            "/f\u{FFFD}: not valid UTF-8", "/fine: same name as Fine on Windows and macOS",
            #"/dir/\x1B[2J: Windows does not allow control characters"#,
            "/dir/x : Windows removes the trailing space",
        ]
        var expected = sound
        expected.names = names
        try withServer { () throws in #expect(try CheckCommand(options: options).report() == expected) }
        let report = try CheckCommand(options: options).report()
        #expect(report == expected)
        #expect(
            report.text.hasPrefix(
                "state of \(share): ok\nnames in \(share) that some clients cannot use:\n  /a:b: "))
    }

    @Test func atMostAThousandNamesAreListed() throws {
        for number in 0..<1_003 { #expect(unsafe close(creat("\(share)/\(number)?", 0o644)) == 0) }
        try withServer {}
        let report = try CheckCommand(options: options).report()
        #expect(report.names.count == 1_000)
        #expect(report.text.hasSuffix("\n  and 3 more\n"))
    }

    @Test func damagedStateIsReported() throws {
        try withServer {}
        try damage()
        let report = try CheckCommand(options: options).report()
        #expect(!report.findings.isEmpty)
        #expect(report.text.hasPrefix("state of \(share): damaged\n  "))
        #expect(report.text.split(separator: "\n").count >= 1 + report.findings.count)
    }

    @Test func soundStateIsReported() {
        #expect(sound.text == "state of \(share): ok\n")
    }

    @Test func checkCreatesNothing() throws {
        #expect(throws: CommandFailure.noState(state, share: share)) {
            try CheckCommand(options: options).report()
        }
        #expect(kind(of: state) == nil)
        do { _ = try ExclusiveFolder(path: state) }
        #expect(throws: CommandFailure.noState(state, share: share)) {
            try CheckCommand(options: options).report()
        }
        #expect(kind(of: state + "/state.sqlite") == nil)
    }

    @Test func missingFolderIsReportedWithItsPath() {
        let missing = CheckOptions(folder: share + "/none", stateFolder: state)
        #expect(throws: CommandFailure.folderMissing(missing.folder)) {
            try CheckCommand(options: missing).report()
        }
    }

    @Test func silentServerIsReportedWithItsProcessID() throws {
        try withServer {}
        let holder = try ExclusiveFolder(path: state)
        #expect(
            throws: CommandFailure.serverSilent(
                state, process: getpid(), reason: "the server does not accept connections")
        ) { try CheckCommand(options: options).report() }
        withExtendedLifetime(holder) {}
    }
}
