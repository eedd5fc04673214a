import Davit
import DavitAccess
import DavitAccounts
import DavitControl
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Servers whose share consists of several folders.
@Suite(.timeLimit(.minutes(15)))
struct MountServerTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["share/docs", "team/plans", "other"] {
            _ = try ExclusiveFolder(path: folder.path + "/" + name)
        }
    }

    private func share(_ mounts: [(String, String)]) -> WebDAVShare {
        var share = WebDAVShare(folder.path + "/share", stateFolder: state)
        share.mounts = mounts.map { .init($0, folder: folder.path + "/" + $1) }
        return share
    }

    private func server(_ share: WebDAVShare) throws(ServerError) -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        return try WebServer(share, configuration: configuration)
    }

    private func serve(_ share: WebDAVShare, _ body: (ChangeEventClient) throws -> Void) throws {
        let server = try self.server(share)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    static let refusals: [(mounts: [(String, String)], reason: String)] = [
        ([("/", "team")], "cannot mount a folder at '/'"),
        ([("/a/..", "team")], "cannot mount a folder at '/a/..'"),
        ([("/.davit-trashofthisshare", "team")], "cannot mount a folder at '/.davit-trashofthisshare'"),
        ([("/a", "team"), ("a/", "other")], "two folders have the mount point /a"),
        ([("/e\u{301}", "team"), ("/\u{E9}", "other")], "two folders have the mount point /\u{E9}"),
        ([("/none/a", "team")], "there is no folder /none in the share"),
        ([("/a", "share/docs")], "one contains the other"),
        ([("/a", "")], "one contains the other"),
        ([("/a", "team"), ("/b", "team/plans")], "one contains the other"),
        ([("/a", "team"), ("/b", "team")], "one contains the other"),
    ]

    @Test(arguments: refusals.indices)
    func folderThatCannotBeMountedIsRefused(row: Int) throws {
        let (mounts, reason) = Self.refusals[row]
        #expect { try server(share(mounts)) } throws: { error in
            guard case ServerError.mountNotUsable(let text)? = error as? ServerError else { return false }
            return text.contains(reason)
        }
    }

    @Test func missingFolderIsRefused() throws {
        #expect(throws: ServerError.shareNotUsable(path: folder.path + "/none", .missing)) {
            try server(share([("/a", "none")]))
        }
    }

    /// Clients could read and change the state.
    @Test func stateFolderInAMountedFolderIsRefused() throws {
        var share = share([("/team", "team")])
        share.stateFolder = folder.path + "/team/state"
        let path = folder.path + "/team/state"
        #expect(throws: ServerError.stateFolderInsideShare(path: path)) { try server(share) }
        #expect((try? ExclusiveFolder.canonical(path)) == nil)
    }

    /// Clients could change what the server stores there, such as metadata files.
    @Test func mountedFolderInTheStateFolderIsRefused() throws {
        _ = try ExclusiveFolder(path: state + "/files")
        #expect(unsafe symlink(state + "/files", folder.path + "/link") == 0)
        for name in ["state/files", "link"] {
            #expect { try server(share([("/team", name)])) } throws: { error in
                guard case ServerError.mountNotUsable(let text)? = error as? ServerError else { return false }
                return text.contains("is inside the state folder")
            }
        }
    }

    /// The same folder under another name would have two paths.
    @Test func folderThatIsMountedTwiceIsRefused() throws {
        #expect(unsafe symlink(folder.path + "/team", folder.path + "/link") == 0)
        for (first, second) in [("team", "link"), ("link", "team/plans"), ("link", "share")] {
            #expect { try server(share([("/a", first), ("/b", second)])) } throws: { error in
                guard case ServerError.mountNotUsable(let text)? = error as? ServerError else { return false }
                return text.contains("one contains the other")
            }
        }
    }

    @Test func propertiesOfMountedFoldersSurviveARestart() throws {
        let share = share([("/team", "team"), ("/team/plans", "other")])
        try serve(share) { client throws in
            #expect(try client.send("PUT /team/plans/a", content: "text").status == 201)
            #expect(
                try client.send("PROPPATCH /team/plans/a", content: update(set("<x:p>1</x:p>"))).status == 207
            )
            #expect(try client.send("LOCK /", content: lockInfo()).status == 200)
        }
        #expect(try SmallFiles.read(folder.path + "/other/a") == Array("text".utf8))
        try serve(share) { client throws in
            #expect(try client.send("PUT /team/plans/a", content: "text").status == 423)
            let listing = try client.send("PROPFIND /", ["Depth: infinity"], content: find("<x:p/>")).content
            #expect(listing.contains("<D:href>/team/plans/a</D:href>") && listing.contains(">1<"))
        }
    }

    /// Commands that run without a server know its mounts.
    @Test func commandsWithoutAServerUseTheRecordedMounts() throws {
        try serve(share([("/team", "team")])) { _ in }
        let record = try SmallFiles.read(state + "/mounts")
        #expect(String(decoding: record, as: UTF8.self).contains("\nmount /team "))
        #expect(try MountRecord(in: state).mounts == [.init("/team", folder: folder.path + "/team")])
        try serve(share([])) { _ in }
        #expect(try MountRecord(in: state).mounts == [])
    }

    /// The rights of an account in a mounted folder, and in the folders above it (sftpgo#440, sftpgo#575).
    @Test func rulesApplyInMountedFolders() throws {
        _ = try ExclusiveFolder(path: state)
        let secret = try Accounts.scryptText(password: "secret")
        let team = try #require(ResourcePath(segments: [Array("team".utf8)]))
        try SQLiteAccountStore(folder: state).commit([
            .addAccount(StoredAccount(name: "ben", secret: secret)),
            .setRule(AccessRule(.user("ben"), team, .edit)),
        ])
        let ben = "Authorization: Basic " + Base64.encode(Array("ben:secret".utf8))
        try serve(share([("/team", "team")])) { client throws in
            #expect(try client.send("PROPFIND /team/", ["Depth: 1"]).status == 401)
            let listing = try client.send("PROPFIND /", ["Depth: infinity", ben])
            #expect(listing.content.contains("<D:href>/team/plans/</D:href>"))
            #expect(!listing.content.contains("docs"))
            #expect(try client.send("PUT /team/a", [ben], content: "text").status == 201)
            #expect(try client.send("PUT /a", [ben], content: "text").status == 403)
            #expect(try client.send("MOVE /team/a", ["Destination: /docs/a", ben]).status == 403)
            // A rule for a folder that is mounted.
            let plans = try #require(team.appending(Array("plans".utf8)))
            let change = AccountChange.setRule(AccessRule(.user("ben"), plans, .view))
            #expect(try ControlClient.ask(.accounts(.change([change])), in: state) == .lines([]))
            #expect(try client.send("PUT /team/plans/a", [ben], content: "text").status == 403)
        }
    }
}
