import Davit
import DavitCommand
import DavitSystem
import DavitTesting
import Testing

/// Interrupted uploads survive other commands and servers that access the folder.
struct InterruptedUploadTests {
    private static let partial = "Content-Type: application/partial-upload"
    private static let offsetType = "Content-Type: application/offset+octet-stream"
    private static let tus = "Tus-Resumable: 1.0.0"

    private let folder: TemporaryFolder
    private let share: String
    private let state: String

    init() throws { (folder, share, state) = try TemporaryFolder.withSharedFolder() }

    private func serve(_ mount: some Mountable, _ body: (ChangeEventClient) throws -> Void) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        let server = try WebServer(mount, configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func serve(_ body: (ChangeEventClient) throws -> Void) throws {
        var share = WebDAVShare(share, stateFolder: state)
        share.trash = TrashLimits()
        try serve(share, body)
    }

    private struct Uploads {
        var draft: String
        var tus: String
    }

    /// Creates two uploads in a folder, each with the first bytes of `one, two`.
    private func begin(_ client: ChangeEventClient, in folder: String) throws -> Uploads {
        let draft = try client.send(
            "PUT \(folder)/draft", ["Upload-Complete: ?0", "Upload-Length: 8"], content: "one")
        #expect(draft.status == 201)
        let tus = try client.send(
            "POST \(folder)/",
            [Self.tus, "Upload-Length: 8", "Upload-Metadata: filename dHVz", Self.offsetType],
            content: "one")
        #expect(tus.status == 201)
        return Uploads(draft: try #require(draft["Location"]), tus: try #require(tus["Location"]))
    }

    private func complete(_ uploads: Uploads, _ client: ChangeEventClient, in folder: String) throws {
        let draft = try client.send(
            "PATCH \(uploads.draft)", [Self.partial, "Upload-Offset: 3", "Upload-Complete: ?1"],
            content: ", two")
        #expect(draft.status == 201, "\(draft.text)")
        let tus = try client.send(
            "PATCH \(uploads.tus)", [Self.tus, Self.offsetType, "Upload-Offset: 3"], content: ", two")
        #expect(tus.status == 204, "\(tus.text)")
        for name in ["draft", "tus"] {
            #expect(try client.send("GET \(folder)/\(name)").content == "one, two")
        }
    }

    /// Returns the command lines to test for a command, with their exit statuses. The switch is exhaustive,
    /// so that new commands are not forgotten.
    private func lines(
        of command: Subcommand, isServed: Bool, address: String
    ) throws -> [(words: [String], status: Int32)] {
        let state = ["--state-dir", state]
        let recording = folder.path + "/recording.txt"
        try SmallFiles.write(
            """
            WIRE-TRANSCRIPT 2
            Name: connection 1
            Client: 127.0.0.1
            Recorded: 2026-11-21T22:48:40Z

            === 1 after 0 ms
            > PROPFIND /folder/
            > Host: 127.0.0.1
            > Depth: 1
            < 207

            """, to: recording)
        return switch command {
        // Without a server, the caller runs `serve` itself.
        case .serve: isServed ? [([share] + state, 1)] : []
        // The server of these tests has no account database.
        case .account:
            [(["list", share] + state, isServed ? 1 : 0), (["remove", share, "anna"] + state, 1)]
        case .appPassword:
            [(["list", share] + state, isServed ? 1 : 0), (["revoke", share, "anna", "p"] + state, 1)]
        case .group: [(["list", share] + state, isServed ? 1 : 0), (["remove", share, "g"] + state, 1)]
        case .access: [(["list", share] + state, isServed ? 1 : 0)]
        // Creates accounts, which the server of these tests does not have.
        case .setup: [([share, "--reach", "all"], 64)]
        case .doctor: [([share, "--port", "0"] + state, 0)]
        case .check: [([share] + state, 0)]
        // Require a database.
        case .importing: [([share] + state, 64)]
        case .exporting: [([folder.path + "/copy"], 64)]
        case .nodes: [([], 64)]
        case .status: [([share] + state, isServed ? 0 : 1)]
        // Reads an audit log, which the server of these tests does not have.
        case .log: [(["/a", "--audit-log", folder.path + "/audit"], 1)]
        // Needs no share.
        case .config: [(["defaults"], 0)]
        case .reload: [([share] + state, isServed ? 0 : 1)]
        case .locks: [(["list", share] + state, 0), (["break", share, "/none"] + state, 1)]
        case .uploads: [(["list", share] + state, 0), (["cancel", share, "none"] + state, 1)]
        case .trash:
            [
                (["list", share] + state, 0), (["restore", share, "gone"] + state, 0),
                (["empty", share] + state, 0),
            ]
        case .ban:
            [
                (["list", share] + state, 0), (["add", share, "192.0.2.1"] + state, 0),
                (["remove", share, "192.0.2.1"] + state, 0),
            ]
        // This command reads a password from the terminal, and does not access a share.
        case .password: []
        // Fails in both cases: a server's response has fields that the recording lacks, and without a server
        // there is no response.
        case .replay: [(["--to", address, recording], 1)]
        // Fails in both cases, because the server is not a stub server.
        case .stub: [(["rules", "--to", address], 1)]
        }
    }

    private func runAll(isServed: Bool, address: String) throws {
        for command in Subcommand.allCases {
            for (words, status) in try lines(of: command, isServed: isServed, address: address) {
                let line = [command.rawValue] + words
                #expect(Command.run(line) == status, "\(line)")
            }
        }
    }

    private func deleteSomething(_ client: ChangeEventClient) throws {
        #expect(try client.send("PUT /gone", content: "content").status == 201)
        #expect(try client.send("DELETE /gone").status == 204)
    }

    @Test func uploadsSurviveCommandsWhileTheServerRuns() throws {
        try serve { client in
            #expect(try client.send("MKCOL /folder").status == 201)
            let uploads = try begin(client, in: "/folder")
            try deleteSomething(client)
            try runAll(isServed: true, address: "http://127.0.0.1:\(client.address.port)")
            try complete(uploads, client, in: "/folder")
        }
    }

    @Test func uploadsSurviveCommandsWithoutAServer() throws {
        var uploads: Uploads?
        try serve { client in
            #expect(try client.send("MKCOL /folder").status == 201)
            uploads = try begin(client, in: "/folder")
            try deleteSomething(client)
        }
        // A leftover of a crash, which a server removes but commands do not.
        let leftover = ".davit-aaaaaaaaaaaaaaaa"
        try SmallFiles.write("", to: "\(share)/folder/\(leftover)")
        let names = SmallFiles.names(share + "/folder")
        #expect(names.count == 3)
        try runAll(isServed: false, address: "http://127.0.0.1:1")
        #expect(SmallFiles.names(share + "/folder") == names)
        try serve { client in
            try complete(try #require(uploads), client, in: "/folder")
            for _ in 0..<10_000 where SmallFiles.names(share + "/folder").contains(leftover) {
                #expect(try client.send("PROPFIND /folder/", ["Depth: 1"]).status == 207)
            }
        }
        #expect(SmallFiles.names(share + "/folder") == ["draft", "tus"])
    }

    /// A website that serves the same folder lists it and does not know about uploads.
    @Test func uploadsSurviveAWebsiteOfTheFolder() throws {
        try serve { client in
            #expect(try client.send("MKCOL /folder").status == 201)
            let uploads = try begin(client, in: "/folder")
            var options = SiteOptions()
            options.listsFolders = true
            try serve(StaticSite(share, options: options)) { visitor throws in
                for target in ["/", "/folder/"] { #expect(try visitor.send("GET \(target)").status == 200) }
            }
            try complete(uploads, client, in: "/folder")
        }
    }

    /// One server with two shares, of which one is inside the other, with separate state folders.
    @Test func uploadsSurviveAnEnclosingShare() throws {
        _ = try ExclusiveFolder(path: share + "/folder")
        let router = Router { routes in
            routes.mount("/outer", WebDAVShare(share, stateFolder: state))
            routes.mount("/inner", WebDAVShare(share + "/folder", stateFolder: folder.path + "/other"))
        }
        try serve(router) { client in
            let inner = try begin(client, in: "/inner")
            let outer = try begin(client, in: "/outer/folder")
            for target in ["/outer/", "/outer/folder/", "/inner/"] {
                #expect(try client.send("PROPFIND \(target)", ["Depth: 1"]).status == 207)
            }
            try complete(outer, client, in: "/outer/folder")
            for name in ["draft", "tus"] {
                #expect(try client.send("DELETE /outer/folder/\(name)").status == 204)
            }
            try complete(inner, client, in: "/inner")
        }
    }
}
