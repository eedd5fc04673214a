import Davit
import DavitCommand
import DavitSystem
import DavitTesting
import Testing

/// `davit trash`, with and without a server.
struct TrashCommandTests {
    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    private func serve(_ body: (ChangeEventClient) throws -> Void) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        var share = WebDAVShare(share, stateFolder: state)
        share.trash = TrashLimits()
        let server = try WebServer(share, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func trash(_ action: TrashOptions.Action) throws -> String {
        try TrashCommand(options: TrashOptions(action: action, folder: share, stateFolder: state)).report()
    }

    /// Returns the lines of the table, without IDs and times.
    private func listed() throws -> [String] {
        try trash(.list).split(separator: "\n").dropFirst().map { line in
            line.split(separator: " ", omittingEmptySubsequences: true).dropFirst(3).joined(separator: " ")
        }
    }

    private func prepare(_ client: ChangeEventClient) throws {
        #expect(try client.send("MKCOL /d").status == 201)
        for name in ["d/a", "d/b", "c%20c"] {
            #expect(try client.send("PUT /\(name)", content: "content").status == 201)
        }
        #expect(try client.send("PUT /d/b", content: "new").status == 204)
        for name in ["d/a", "c%20c", "d"] { #expect(try client.send("DELETE /\(name)").status == 204) }
    }

    private func check() throws {
        let rows = try listed()
        #expect(
            Array(rows.dropFirst()) == [
                "7 deleted - /c c", "7 deleted - /d/a", "7 overwritten - /d/b",
            ])
        #expect(rows.first?.hasSuffix(" deleted - /d/") == true)
        #expect(try trash(.restore(["d/a", "/c c"])) == "restored /d/a\nrestored /c c\n")
        #expect(SmallFiles.names(share + "/d") == ["a"])
        #expect(try trash(.restore(["d"])) == "restored /d as /d (1)\n")
        let id = try #require(try trash(.list).split(separator: "\n").last?.split(separator: " ").first)
        #expect(try trash(.restore([String(id)])) == "restored /d/b\n")
        #expect(throws: CommandFailure.other("d is not in the trash")) { try trash(.restore(["d"])) }
        #expect(try trash(.list) == "the trash of \(share) is empty\n")
        #expect(try trash(.empty(olderThanDays: 0)) == "deleted 0 entries\n")
    }

    @Test func trashIsManagedByTheRunningServer() throws {
        try serve { client throws in
            try prepare(client)
            try check()
            #expect(try client.send("DELETE /d").status == 204)
            #expect(try trash(.empty(olderThanDays: 1)) == "deleted 0 entries\n")
            #expect(try trash(.empty(olderThanDays: 0)) == "deleted 1 entry\n")
            #expect(SmallFiles.names(share + "/.davit-trashofthisshare") == [])
        }
    }

    @Test func trashIsManagedWithoutAServer() throws {
        try serve { client throws in try prepare(client) }
        try check()
        try serve { client throws in
            #expect(try client.send("GET /d%20(1)/b").content == "new")
            #expect(try client.send("GET /d/b").content == "content")
        }
    }

    @Test func restoreFailuresAreReported() throws {
        try serve { client throws in
            try prepare(client)
            #expect(try client.send("PUT /d", content: "in the way").status == 201)
            #expect(
                throws: CommandFailure.other(
                    "cannot restore /d/a: a parent folder has been replaced by a file")
            ) {
                try trash(.restore(["d/a"]))
            }
        }
        var other = TrashOptions(action: .list, folder: share, stateFolder: folder.path + "/none")
        #expect(throws: CommandFailure.noState(folder.path + "/none", share: share)) {
            try TrashCommand(options: other).report()
        }
        other.folder = folder.path + "/none"
        #expect(throws: CommandFailure.folderMissing(folder.path + "/none")) {
            try TrashCommand(options: other).report()
        }
    }

    /// The entries do not fit into one response of the server.
    @Test func manyEntriesAreListed() throws {
        try serve { client throws in
            for number in 1...150 {
                _ = try client.send("PUT /\(number)", content: "x")
                _ = try client.send("DELETE /\(number)")
            }
            #expect(try listed() == (1...150).reversed().map { "1 deleted - /\($0)" })
        }
    }
}
