import Davit
import DavitFileStore
import DavitSystem
import DavitTesting
import Testing

/// sync-collection of a complete server, over a socket and across restarts.
struct SyncServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share")
    }

    private func server(_ change: (inout WebDAVShare) -> Void = { _ in }) throws -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        var share = WebDAVShare(folder.path + "/share", stateFolder: folder.path + "/state")
        change(&share)
        return try WebServer(configuration: configuration) { $0.mount("/files", share) }
    }

    private func serve(_ server: WebServer, _ body: (ChangeEventClient) throws -> Void) throws {
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private static func body(_ token: String) -> String {
        "<D:sync-collection xmlns:D=\"DAV:\"><D:sync-token>\(token)</D:sync-token>"
            + "<D:sync-level>infinite</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>"
    }

    /// Returns the changes, as `+` and `-` with the href, and the new token.
    private static func sync(_ client: ChangeEventClient, _ token: String) throws -> (
        told: [String], token: String
    ) {
        let answer = try client.send("REPORT /files/", content: body(token))
        try #require(answer.status == 207, "\(answer.text)")
        var told: [String] = []
        for response in answer.text.split(separator: "<D:response>").dropFirst() {
            let href = response.split(separator: "<D:href>")[0].split(separator: "</D:href>")[0]
            told.append((response.contains("404 Not Found") ? "-" : "+") + href)
        }
        let rest = answer.text.split(separator: "<D:sync-token>")
        return (told.sorted(), String(rest.last?.split(separator: "</D:sync-token>").first ?? ""))
    }

    /// Changes made while the server is stopped are in the first response after a restart of the same
    /// `WebServer` object, and after a start of a new one.
    @Test func changesWhileStoppedAreReported() throws {
        var token = ""
        try serve(try server()) { client throws in
            #expect(try client.send("MKCOL /files/d").status == 201)
            #expect(try client.send("PUT /files/d/a", content: "1").status == 201)
            (_, token) = try Self.sync(client, "")
            #expect(try client.send("PUT /files/d/b", content: "1").status == 201)
            let next = try Self.sync(client, token)
            #expect(next.told == ["+/files/d/b"])
            token = next.token
        }
        let server = try server()
        for round in 1...3 {
            try SmallFiles.write("\(round)", to: folder.path + "/share/d/n\(round)")
            try serve(server) { client throws in
                let next = try Self.sync(client, token)
                #expect(next.told == ["+/files/d/n\(round)"])
                token = next.token
            }
        }
        #expect(throws: (any Error).self) { try SmallFiles.read(folder.path + "/state/journal.sqlite-wal") }
    }

    /// Without a sync-collection request, no journal file is created.
    @Test func unusedSyncCreatesNoJournal() throws {
        try serve(try server()) { client throws in
            #expect(try client.send("PUT /files/a", content: "1").status == 201)
            #expect(try client.send("PROPFIND /files/", ["Depth: 1"]).status == 207)
        }
        #expect(throws: (any Error).self) { try SmallFiles.read(folder.path + "/state/journal.sqlite") }
    }

    @Test func syncCanBeDisabled() throws {
        let server = try server { $0.answersSyncCollection = false }
        try serve(server) { client throws in
            let answer = try client.send("REPORT /files/", content: Self.body(""))
            #expect(answer.status == 403)
            #expect(answer.content.contains("<D:supported-report/>"))
        }
    }

    /// If the server is stopped during a comparison, it does not hang, and the comparison continues after the
    /// next start.
    @Test func shutdownDoesNotWaitForAComparison() throws {
        for folder in 0..<200 {
            let path = self.folder.path + "/share/\(folder)"
            _ = try ExclusiveFolder(path: path)
            for file in 0..<20 { try SmallFiles.write("", to: path + "/\(file)") }
        }
        let server = try server()
        try serve(server) { client throws in
            // The response for one folder does not wait until the others have been compared.
            let answer = try client.send("REPORT /files/7/", content: Self.body(""))
            #expect(answer.status == 207)
        }
        try serve(server) { client throws in
            // Each of the 200 folders contains 20 files and a lock file; the share itself also contains a
            // lock file.
            #expect(try Self.sync(client, "").told.count == 200 * 22 + 1)
        }
    }
}
