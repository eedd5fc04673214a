import Davit
import DavitHTTP
import DavitLogging
import DavitMetrics
import DavitSystem
import DavitTesting
import Testing

/// Programs that a server runs for uploads and changes.
@Suite(.timeLimit(.minutes(15)))
struct EventServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
    }

    private func server(
        _ receivers: [Configuration.Events.Receiver] = [], check: UploadProgram? = nil
    ) throws -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.logSink = .custom { _ in }
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.collectsMetrics = true
        if !receivers.isEmpty { configuration.events = .init(receivers) }
        var share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        share.uploadProgram = check
        return try WebServer(share, configuration: configuration)
    }

    private func shell(_ script: String) -> Configuration.Events.Receiver {
        .command("/bin/sh", arguments: ["-c", script])
    }

    @Test func commandsReceiveEventsAlsoAfterARestart() async throws {
        // A FIFO for each event: opening it waits for the program.
        let names = ["create-folder", "delete"].map { "\(folder.path)/\($0)" }
        let mkfifo = ChildProcess("/usr/bin/env", arguments: ["mkfifo"] + names, seconds: 3_600)
        #expect(try mkfifo.run { _ in true }.status == 0)
        // The first server cannot deliver its event: the program ends with EX_TEMPFAIL.
        let script = "[ -e \(folder.path)/up ] || exit 75; cat >\(folder.path)/$DAVIT_OP"
        do {
            let server = try server([shell(script)])
            let client = ChangeEventClient(address: try #require(try server.start().first))
            #expect(try client.send("MKCOL /first").status == 201)
            #expect(await server.metrics().contains { $0.name == "davit_events_waiting" })
            server.shutdown()
            await server.waitUntilStopped()
        }
        try SmallFiles.write("", to: folder.path + "/up")
        let server = try server([shell(script)])
        let client = ChangeEventClient(address: try #require(try server.start().first))
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        #expect(try client.send("DELETE /first").status == 204)
        for (operation, sequence) in [("create-folder", 1), ("delete", 2)] as [(String, Int64)] {
            // Reads until the program has closed the FIFO.
            let content = try SmallFile(reading: "\(folder.path)/\(operation)").bytes
            let line = try #require(AuditLine(parsing: content))
            #expect(line.text("op") == operation)
            #expect(line.text("path") == "/first")
            #expect(line.text("share")?.hasSuffix("/share") == true)
            #expect(line.number("sequence") == sequence)
        }
    }

    @Test func programsExamineUploads() throws {
        let script = """
            [ "$DAVIT_PATH" = /a ] && [ "$DAVIT_FILE" = \(folder.path)/share/a ] && [ "$DAVIT_LENGTH" = 5 ] \\
                && [ "$DAVIT_FROM" = 127.0.0.1 ] && [ -z "$DAVIT_USER" ] || exit 2
            grep -q virus && exit 1; exit 0
            """
        for (content, policy, status) in [
            ("clean", .refuse, 201), ("virus", .refuse, 403), ("other text", .refuse, 503),
            ("other text", .accept, 201),
        ] as [(String, UploadProgram.FailurePolicy, Int)] {
            var program = UploadProgram("/bin/sh", arguments: ["-c", script])
            program.failurePolicy = policy
            program.seconds = 3_600
            let server = try server(check: program)
            let client = ChangeEventClient(address: try #require(try server.start().first))
            defer {
                server.shutdown()
                server.waitUntilStopped()
            }
            let response = try client.send("PUT /a", content: content)
            #expect(response.status == status, "\(content) \(policy)")
            #expect(try client.send("DELETE /a").status == (status == 201 ? 204 : 404))
        }
    }

    @Test func missingProgramsAreReported() throws {
        for make in [
            { try self.server([.command("/nonexistent")]) },
            { try self.server(check: UploadProgram("/nonexistent")) },
        ] {
            let error = #expect(throws: ServerError.self) { try make() }
            guard case .programNotUsable("/nonexistent", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.code == .noEntry)
        }
        let error = #expect(throws: ServerError.self) {
            try server([.command("/bin/true"), .command("/bin/true")])
        }
        guard case .eventsNotUsable? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
