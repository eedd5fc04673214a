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

/// Users whom a proxy has authenticated, and the rights of an account database.
@Suite(.timeLimit(.minutes(15)))
struct ForwardedUserTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }
    private let team = ResourcePath(segments: [Array("team".utf8)])!
    private let news = ResourcePath(segments: [Array("news".utf8)])!

    init() throws {
        folder = try TemporaryFolder()
        for name in ["team", "news"] {
            _ = try ExclusiveFolder(path: folder.path + "/share/" + name)
            try SmallFiles.write("text", to: folder.path + "/share/\(name)/a.txt")
        }
        _ = try ExclusiveFolder(path: state)
        let secret = try Accounts.scryptText(password: "secret")
        try SQLiteAccountStore(folder: state).commit([
            .addAccount(StoredAccount(name: "anna", secret: secret)),
            .addAccount(StoredAccount(name: "ben", secret: secret)),
            .setEnabled(account: "ben", isEnabled: false), .addGroup("editors"),
            .setRule(AccessRule(.group("editors"), team, .edit)),
            .setRule(AccessRule(.everyone, news, .view)),
            .setRule(AccessRule(.user("anna"), team, .view)),
        ])
    }

    private func serve(trusting proxy: String, _ body: (BoundAddress) throws -> Void) throws {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.proxies.trusted = [proxy]
        configuration.proxies.identityFields = IdentityFields(user: "Remote-User", groups: "Remote-Groups")
        let server = try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: state), configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    private func status(_ address: BoundAddress, _ request: String, _ fields: [String]) throws -> Int {
        try ChangeEventClient(address: address).send(request, fields).status
    }

    @Test func usersHaveTheRightsOfTheirGroupsAndOfEveryone() throws {
        try serve(trusting: "127.0.0.1") { address throws in
            let editor = ["Remote-User: carl", "Remote-Groups: staff,editors"]
            #expect(try status(address, "GET /team/a.txt", editor) == 200)
            #expect(try status(address, "MKCOL /team/x", editor) == 201)
            #expect(try status(address, "GET /news/a.txt", editor) == 200)
            #expect(try status(address, "MKCOL /news/x", editor) == 403)
            #expect(try status(address, "GET /team/a.txt", ["Remote-User: dora"]) == 404)
            #expect(try status(address, "GET /news/a.txt", ["Remote-User: dora"]) == 200)
            // Rules for the user apply before those for its groups.
            let anna = ["Remote-User: anna", "Remote-Groups: editors"]
            #expect(try status(address, "GET /team/a.txt", anna) == 200)
            #expect(try status(address, "MKCOL /team/y", anna) == 403)
            #expect(try status(address, "GET /news/a.txt", ["Remote-User: ben"]) == 403)
            #expect(try status(address, "GET /news/a.txt", []) == 401)
        }
    }

    @Test func otherPeersCannotNameUsers() throws {
        try serve(trusting: "192.0.2.1") { address throws in
            #expect(try status(address, "GET /news/a.txt", ["Remote-User: anna"]) == 401)
            let basic = "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))"
            let fields = [basic, "Remote-User: carl", "Remote-Groups: editors"]
            #expect(try status(address, "GET /team/a.txt", fields) == 200)
            #expect(try status(address, "MKCOL /team/x", fields) == 403)
        }
    }

    /// Trailers are not header fields (RFC 9110 §6.5.1).
    @Test func trailersCannotNameUsers() throws {
        try serve(trusting: "127.0.0.1") { address throws in
            let connection = try RawConnection(address)
            try connection.send(
                "PUT /team/b.txt HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                    + "Trailer: Remote-User, Remote-Groups\r\n\r\n1\r\na\r\n0\r\nRemote-User: carl\r\n"
                    + "Remote-Groups: editors\r\n\r\n")
            #expect(connection.wait(for: "HTTP/1.1 401 "))
        }
    }

    @Test func changesOfDisabledAccountsEndNoOtherRequests() throws {
        try serve(trusting: "127.0.0.1") { address throws in
            let stream = try RawConnection(address)
            try stream.send(
                "GET /team/?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                    + "Remote-User: carl\r\nRemote-Groups: editors\r\n\r\n")
            #expect(stream.wait(for: "\nid: "))
            let change = AccountChange.setSecret(
                account: "ben", secret: try Accounts.scryptText(password: "other"))
            #expect(try ControlClient.ask(.accounts(.change([change])), in: state) == .lines([]))
            let editor = ["Remote-User: carl", "Remote-Groups: editors"]
            for name in ["x", "y"] {
                #expect(try status(address, "MKCOL /team/\(name)", editor) == 201)
                #expect(stream.wait(for: "/team/\(name)"))
            }
        }
    }
}
