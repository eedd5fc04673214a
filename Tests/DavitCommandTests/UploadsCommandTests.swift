import Davit
import DavitCommand
import DavitControl
import DavitSystem
import DavitTesting
import Testing

/// `davit uploads`, with and without a server.
struct UploadsCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    /// Runs `body` while a server shares the folder.
    private func withServer(
        hasTrash: Bool = false, auditLog: String? = nil, _ body: (ChangeEventClient) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.audit = auditLog.map { .init(.file($0)) }
        var mount = WebDAVShare(share, stateFolder: state)
        mount.trash = hasTrash ? TrashLimits() : nil
        let server = try WebServer(mount, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func command(_ action: UploadsOptions.Action) -> UploadsCommand {
        UploadsCommand(options: UploadsOptions(action, folder: share, stateFolder: state))
    }

    /// Creates an upload of eight bytes and sends the first three.
    /// - Returns: its URL.
    private func begin(_ client: ChangeEventClient, _ target: String) throws -> String {
        let answer = try client.send(
            "PUT \(target)", ["Upload-Complete: ?0", "Upload-Length: 8"], content: "one")
        #expect(answer.status == 201)
        return try #require(answer["Location"])
    }

    /// The names in the shared folder, including hidden ones.
    private func names() -> [String] { SmallFiles.names(share) }

    @Test func uploadsAreListedAndCancelledByTheRunningServer() throws {
        try withServer { client throws in
            #expect(try command(.list).text() == "no uploads\n")
            let second = try begin(client, "/b")
            let first = try begin(client, "/a%1B%0Ab")
            #expect(try client.send("PUT /c", content: "complete").status == 201)
            let uploads = try command(.list).uploads()
            #expect(uploads.map(\.path) == [Array("a\u{1B}\nb".utf8), Array("b".utf8)])
            #expect(uploads.map(\.received) == [3, 3])
            #expect(uploads.map(\.length) == [8, 8])
            #expect(uploads.allSatisfy { ListedUpload(line: $0.line) == $0 })
            let text = try command(.list).text()
            #expect(
                text.hasPrefix("/a\\x1B\\x0Ab\n  address: 127.0.0.1\n  received: 3 of 8 bytes\n  expires 20"))
            #expect(text.hasSuffix("  ID: \(uploads[1].id)\n"))

            #expect(
                try command(.cancel(id: uploads[0].id)).text() == "cancelled upload: /a\\x1B\\x0Ab\n")
            #expect(try client.send("HEAD \(first)").status == 404)
            #expect(try client.send("HEAD \(second)").status == 204)
            #expect(try command(.list).uploads().map(\.id) == [uploads[1].id])
            // The bytes of the other upload are hidden in the folder of its target.
            #expect(names().count == 2)
        }
    }

    @Test func uploadsAreListedAndCancelledWithoutAServer() throws {
        var url = ""
        try withServer { client throws in url = try begin(client, "/a") }
        let upload = try #require(try command(.list).uploads().first)
        #expect(try command(.cancel(id: upload.id)).text() == "cancelled upload: /a\n")
        #expect(names().isEmpty)
        #expect(throws: CommandFailure.noUpload(upload.id, folder: share)) {
            try command(.cancel(id: upload.id)).text()
        }
        try withServer { client throws in #expect(try client.send("HEAD \(url)").status == 404) }
    }

    @Test func cancelledUploadIsInTheAuditLog() throws {
        let log = folder.path + "/audit"
        try withServer(auditLog: log) { client throws in
            _ = try begin(client, "/a")
            let upload = try #require(try command(.list).uploads().first)
            _ = try command(.cancel(id: upload.id)).text()
        }
        let lines = String(decoding: try SmallFiles.read(log), as: UTF8.self).split(separator: "\n")
        try #require(lines.count == 1)
        #expect(lines[0].contains(#""op":"cancel-upload""#) && lines[0].contains(#""path":"/a""#))
        #expect(lines[0].contains(#""bytes":3"#) && lines[0].contains("a command of user"))
    }

    /// They return with their folder.
    @Test func uploadsInTheTrashAreNotListed() throws {
        try withServer(hasTrash: true) { client throws in
            #expect(try client.send("MKCOL /d").status == 201)
            _ = try begin(client, "/d/a")
            let upload = try #require(try command(.list).uploads().first)
            #expect(try client.send("DELETE /d").status == 204)
            #expect(try command(.list).text() == "no uploads\n")
            #expect(throws: CommandFailure.noUpload(upload.id, folder: share)) {
                try command(.cancel(id: upload.id)).text()
            }
            #expect(
                try TrashCommand(
                    options: TrashOptions(action: .restore(["d"]), folder: share, stateFolder: state)
                ).report() == "restored /d\n")
            #expect(try command(.list).uploads() == [upload])
        }
    }

    /// The bytes are gone, so only the row is removed.
    @Test func uploadWhoseBytesAreGoneIsCancelled() throws {
        var url = ""
        try withServer { client throws in url = try begin(client, "/a") }
        let upload = try #require(try command(.list).uploads().first)
        for name in names() { try SmallFiles.delete(share + "/" + name) }
        #expect(try command(.cancel(id: upload.id)).text() == "cancelled upload: /a\n")
        #expect(try command(.list).text() == "no uploads\n")
        try withServer { client throws in #expect(try client.send("HEAD \(url)").status == 404) }
    }

    /// The uploads do not fit into one response of the server.
    @Test func manyUploadsAreAllListed() throws {
        try withServer { client throws in
            for number in 0..<120 { _ = try begin(client, "/\(number)") }
            #expect(try Set(command(.list).uploads().map(\.path)).count == 120)
        }
        #expect(try command(.list).uploads().count == 120)
    }

    @Test(arguments: [
        "", "=a", "=a =b - - 1 - x", "=a =b - - x - 1", "a =b - - 1 - 1", "=a b - - 1 - 1",
        "=a =b - - 01 - 1",
        "=a =b - - 1 - 1 2",
    ])
    func malformedLinesAreRefused(line: String) { #expect(ListedUpload(line: line) == nil) }

    static let words: [(words: [String], invocation: Invocation)] = [
        (["list", "/srv"], .uploads(UploadsOptions(.list, folder: "/srv"))),
        (
            ["cancel", "--state-dir", "/s", "/srv", "x"],
            .uploads(UploadsOptions(.cancel(id: "x"), folder: "/srv", stateFolder: "/s"))
        ),
        (["--help"], .help(.uploads)),
    ]

    @Test(arguments: words)
    func commandLinesAreParsed(words: [String], invocation: Invocation) throws {
        #expect(try Arguments.parse(["uploads"] + words) == invocation)
    }

    static let wrong: [(words: [String], error: UsageError)] = [
        (["list"], .missingFolder), (["cancel", "/srv"], .missingArgument("UPLOAD")),
        (["lst", "/srv"], .unknownCommand("uploads lst", nearest: "uploads list")),
        (["list", "/srv", "/other"], .unexpectedArgument("/other")),
        (["cancel", "/srv", "a", "b"], .unexpectedArgument("b")),
        (["list", "/srv", "--state-di"], .unknownOption("--state-di", nearest: "--state-dir")),
    ]

    @Test(arguments: wrong)
    func invalidCommandLinesAreRefused(words: [String], error: UsageError) {
        #expect(throws: error) { try Arguments.parse(["uploads"] + words) }
    }
}
