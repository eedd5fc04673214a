import Davit
import DavitFileStore
import DavitHTTP
import DavitSQLite
import DavitStore
import DavitSystem
import DavitTesting
import Testing

/// Servers whose folders are not the same as at the last start: one is no longer mounted, or another one is in its place.
@Suite(.timeLimit(.minutes(15)))
struct ChangedMountTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["share/docs/a", "team", "other"] {
            _ = try ExclusiveFolder(path: folder.path + "/" + name)
        }
    }

    private func share(_ mounts: [(String, String)]) -> WebDAVShare {
        var share = WebDAVShare(folder.path + "/share", stateFolder: state)
        share.mounts = mounts.map { .init($0, folder: folder.path + "/" + $1) }
        share.trash = TrashLimits()
        return share
    }

    private func serve(
        _ mounts: [(String, String)], _ body: (ChangeEventClient) throws -> Void = { _ in }
    ) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        let server = try WebServer(share(mounts), configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private static func path(_ text: String) throws -> ResourcePath {
        try #require(ResourcePath(segments: text.utf8.split(separator: UInt8(ascii: "/"))))
    }

    private func shell(_ commands: String) -> Bool {
        ShellCommand.run("cd '\(folder.path)' && { \(commands); }")?.status == 0
    }

    // MARK: Interrupted changes

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The mounts of the interrupted server.
        var before: [(String, String)] = [("/team", "team")]
        /// The mounts of the next start.
        var after: [(String, String)] = []
        /// Changes the folders in between.
        var commands = "true"
        var source = "/x"
        var destination = "/team/x"
        var origin: String?
        var kept: String?
        /// Whether only attributes were to be changed.
        var isOfAttributes = false
        /// A part of the error; nil if the server starts.
        var reason: String?
    }

    static let rows = [
        Row(
            testDescription: "the mount of the destination is gone",
            reason: "/team is no longer mounted at /team"),
        Row(
            testDescription: "the mount of the source is gone", source: "/team/x", destination: "/x",
            reason: "/team is no longer mounted at /team"),
        Row(
            testDescription: "the mount of the original of a copy is gone",
            source: "/.davit-cccccccccccccccc", destination: "/x", origin: "/team/x",
            reason: "/team is no longer mounted at /team"),
        Row(
            testDescription: "the mount of the trash is gone", source: "/y", destination: "/x",
            kept: "/team/.davit-trashofthisshare/aaaaaaaaaaaaaaaa", reason: "/team is no longer mounted"),
        Row(
            testDescription: "another folder is mounted", after: [("/team", "other")],
            reason: "/team is now "),
        Row(
            testDescription: "the volume of the folder is missing", after: [("/team", "team")],
            commands: "mv team away && mkdir team",
            reason: "/team is not the folder that it was at the last start"),
        Row(
            testDescription: "the shared folder is another one", after: [("/team", "team")],
            commands: "mv share away && mkdir share",
            reason: "/share is not the folder that it was at the last start"),
        Row(
            testDescription: "a folder is mounted over the destination", before: [],
            after: [("/docs", "team")], destination: "/docs/x", reason: "/team was not mounted at /docs"),
        Row(
            testDescription: "a folder is mounted below the destination", before: [],
            after: [("/docs/a", "team")], destination: "/docs", reason: "/team was not mounted at /docs/a"),
        Row(
            testDescription: "attributes of what contains the mount", before: [],
            after: [("/docs/a", "team")], destination: "/docs", isOfAttributes: true),
        Row(
            testDescription: "attributes in a mount that is gone", isOfAttributes: true,
            reason: "no longer mounted"),
        Row(testDescription: "a change elsewhere", destination: "/y"),
        Row(
            testDescription: "the folder has moved", after: [("/team", "moved")],
            commands: "mv team moved"),
        Row(
            testDescription: "another spelling of the mount point", before: [("/e\u{301}", "team")],
            after: [("/\u{E9}", "team")], destination: "/e\u{301}/x"),
        Row(testDescription: "no record of the folders", commands: "rm state/mounts"),
    ]

    @Test(arguments: rows)
    func interruptedChangeIsNotCompletedInAnotherFolder(_ row: Row) throws {
        try serve(row.before)
        let intent = RenameIntent(
            id: 1, source: try Self.path(row.source), destination: try Self.path(row.destination),
            moved: ResourceIdentity(inode: 1, birth: 2), replaced: nil, isCopy: row.origin != nil,
            origin: try row.origin.map {
                .init(path: try Self.path($0), identity: ResourceIdentity(inode: 3, birth: 4))
            },
            attributes: row.isOfAttributes ? ResourceAttributes(isExecutable: true) : nil,
            kept: try row.kept.map(Self.path))
        try SQLiteStateStore(folder: state).apply([.putIntent(intent)]) { _ in }
        #expect(shell(row.commands))
        guard let reason = row.reason else {
            try serve(row.after)
            #expect(try SQLiteStateStore(folder: state).intents() == [])
            return
        }
        for _ in 0..<2 {
            #expect { try serve(row.after) } throws: { error in
                guard
                    case ServerError.foldersChanged(row.destination, let text, state + "/mounts")? = error
                        as? ServerError
                else { return false }
                return text.contains(reason)
            }
        }
        #expect(try SQLiteStateStore(folder: state).intents() == [intent])
        // The advice of the message: start once with the former folders.
        #expect(shell("[ ! -d away ] || { rmdir team || rmdir share; } 2>/dev/null"))
        #expect(shell("[ ! -d away ] || mv away $([ -d team ] && echo share || echo team)"))
        try serve(row.before)
        #expect(try SQLiteStateStore(folder: state).intents() == [])
        #expect(shell("[ -d share ]"))
    }

    /// Removing the record is the way out if the former folder no longer exists.
    @Test func withoutTheRecordInterruptedChangesAreDiscarded() throws {
        try serve([("/team", "team")])
        let intent = RenameIntent(
            id: 1, source: try Self.path("x"), destination: try Self.path("team/x"),
            moved: ResourceIdentity(inode: 1, birth: 2), replaced: nil, isCopy: false)
        try SQLiteStateStore(folder: state).apply([.putIntent(intent)]) { _ in }
        #expect(throws: ServerError.self) { try serve([]) }
        #expect(shell("rm state/mounts"))
        try serve([])
        #expect(try SQLiteStateStore(folder: state).intents() == [])
    }

    // MARK: Rows of folders that are not mounted

    /// Whether nothing is mounted meanwhile, or another folder that contains resources with the same names.
    @Test(arguments: [[], [("/team", "other")]])
    func rowsReturnWithTheirFolder(meanwhile: [(String, String)]) throws {
        #expect(shell("mkdir team/d other/d && touch other/x other/d/z"))
        var upload = ""
        try serve([("/team", "team")]) { client throws in
            for name in ["x", "d/y", "gone"] {
                #expect(try client.send("PUT /team/\(name)", content: "text").status == 201)
                let properties = update(set("<x:p>1</x:p>"))
                #expect(try client.send("PROPPATCH /team/\(name)", content: properties).status == 207)
            }
            #expect(try client.send("LOCK /team/x", content: lockInfo()).status == 200)
            #expect(try client.send("LOCK /team/d", ["Depth: infinity"], content: lockInfo()).status == 200)
            #expect(try client.send("DELETE /team/gone").status == 204)
            let draft = try client.send(
                "PUT /team/draft", ["Upload-Complete: ?0", "Upload-Length: 6"], content: "one")
            upload = try #require(draft["Location"])
        }
        let entry = try #require(try trashed().first)
        #expect(try entry.path == Self.path("team/gone"))
        try serve(meanwhile) { client throws in
            if meanwhile.isEmpty {
                #expect(try client.send("GET /team/x").status == 404)
            } else {
                // Neither locks nor properties apply to what has the same paths in the other folder.
                #expect(try client.send("PUT /team/d/z", content: "new").status == 204)
                let found = try client.send(
                    "PROPFIND /team/", ["Depth: infinity"], content: find("<x:p/><D:lockdiscovery/>"))
                #expect(found.content.contains("/team/x<") && !found.content.contains("activelock"))
                #expect(!found.content.contains(">1<"))
            }
            // A restoration fails without losing the entry.
            #expect(try restore(entry, client) == 404)
        }
        #expect(try trashed() == [entry])
        #expect(shell("[ $(cat team/x) = text ]"))
        try serve([("/team", "team")]) { client throws in
            #expect(try client.send("PUT /team/x", content: "new").status == 423)
            #expect(try client.send("PUT /team/d/z", content: "new").status == 423)
            let found = try client.send("PROPFIND /team/", ["Depth: infinity"], content: find("<x:p/>"))
            #expect(found.content.split(separator: ">1<").count == 3)
            #expect(try restore(entry, client) == 201)
            let appended = try client.send(
                "PATCH \(upload)",
                ["Upload-Complete: ?1", "Upload-Offset: 3", "Content-Type: application/partial-upload"],
                content: "two")
            #expect(appended.status == 201 || appended.status == 200 || appended.status == 204)
            #expect(try client.send("GET /team/draft").content == "onetwo")
        }
    }

    private func restore(_ entry: TrashEntry, _ client: ChangeEventClient) throws -> Int {
        let form = ["Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded"]
        return try client.send("POST /?action=restore", form, content: "id=\(entry.id)").status
    }

    private func trashed() throws -> [TrashEntry] {
        try SQLiteStateStore(folder: state).trash(after: 0, limit: 10)
    }
}
