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

/// A server whose accounts are in a database.
@Suite(.timeLimit(.minutes(15)))
struct AccountDatabaseTests {
    private let folder: TemporaryFolder
    private var state: String { folder.path + "/state" }
    private let team = ResourcePath(segments: [Array("team".utf8)])!

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share/team")
        _ = try ExclusiveFolder(path: folder.path + "/share/other")
        try SmallFiles.write("text", to: folder.path + "/share/team/a.txt")
        try SmallFiles.write("text", to: folder.path + "/share/other/b.txt")
    }

    private func server(
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws(ServerError) -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        change(&configuration)
        return try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: state), configuration: configuration)
    }

    private func serve(_ body: (BoundAddress) throws -> Void) throws {
        let server = try self.server()
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    /// Commits changes to the database of a server that is stopped.
    private func prepare(_ changes: [AccountChange]) throws {
        _ = try ExclusiveFolder(path: state)
        try SQLiteAccountStore(folder: state).commit(changes)
    }

    /// Sends changes to the running server.
    private func change(_ changes: [AccountChange]) throws {
        #expect(try ControlClient.ask(.accounts(.change(changes)), in: state) == .lines([]))
    }

    /// An account with the password `secret`.
    private func account(_ name: String) throws -> AccountChange {
        .addAccount(StoredAccount(name: name, secret: try Accounts.scryptText(password: "secret")))
    }

    private func status(
        _ address: BoundAddress, _ request: String, as name: String?, password: String = "secret"
    ) throws -> Int {
        let credentials = name.map { Array("\($0):\(password)".utf8) }.map(Base64.encode)
        let fields = credentials.map { ["Authorization: Basic \($0)"] } ?? []
        return try ChangeEventClient(address: address).send(request, ["Depth: 0"] + fields).status
    }

    @Test func rightsApplyToRequests() throws {
        try prepare([
            account("anna"), account("ben"), .addGroup("editors"),
            .addMember(account: "anna", group: "editors"),
            .setRule(AccessRule(.group("editors"), team, .edit)),
        ])
        try serve { address throws in
            #expect(try status(address, "GET /team/a.txt", as: nil) == 401)
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "wrong") == 401)
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 200)
            #expect(try status(address, "GET /other/b.txt", as: "anna") == 404)
            #expect(try status(address, "MKCOL /other/x", as: "anna") == 403)
            #expect(try status(address, "PROPFIND /", as: "ben") == 207)
            #expect(try status(address, "PROPFIND /team/", as: "ben") == 404)
        }
    }

    @Test func changesTakeEffectInTheRunningServer() throws {
        try prepare([account("anna")])
        try serve { address throws in
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 404)
            try change([.setRule(AccessRule(.user("anna"), team, .view))])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 200)
            #expect(try status(address, "DELETE /team/a.txt", as: "anna") == 403)
            try change([.setEnabled(account: "anna", isEnabled: false)])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 401)
            try change([.setEnabled(account: "anna", isEnabled: true)])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 200)
            let secret = try Accounts.scryptText(password: "other")
            try change([.setSecret(account: "anna", secret: secret)])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 401)
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "other") == 200)
            try change([.removeAccount("anna")])
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "other") == 401)
            // An account that is created later does not inherit rights.
            try change([account("anna")])
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 404)
        }
    }

    /// Requests in progress end with the account, like those of replaced accounts.
    @Test(arguments: [
        AccountChange.setEnabled(account: "anna", isEnabled: false), .removeAccount("anna"),
        .setSecret(
            account: "anna",
            secret: "$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$\(String(repeating: "A", count: 43))"),
    ])
    func requestsInProgressAreEnded(end: AccountChange) throws {
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .view)),
        ])
        try serve { address throws in
            let stream = try RawConnection(address)
            try stream.send(
                "GET /?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                    + "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))\r\n\r\n")
            #expect(stream.wait(for: "\nid: "))
            try change([end])
            #expect(stream.bytesToEnd() != nil)
        }
    }

    /// Without any usable account, a server with a database refuses all clients.
    @Test func emptyDatabasesRefuseAllClients() throws {
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .all)), .removeAccount("anna"),
        ])
        try serve { address throws in
            #expect(try status(address, "GET /team/a.txt", as: nil) == 401)
            #expect(try status(address, "GET /team/a.txt", as: "anna") == 401)
        }
    }

    @Test func accountsInTwoPlacesAreRefused() throws {
        try prepare([account("anna")])
        #expect(throws: ServerError.accountsInTwoPlaces) {
            _ = try server { $0.accounts = [Configuration.Account(name: "ben", password: "x")] }
        }
        let running = try self.server()
        #expect(throws: ServerError.accountsInTwoPlaces) {
            try running.replaceAccounts([Configuration.Account(name: "ben", password: "x")])
        }
    }

    @Test func unusableDatabasesPreventTheStart() throws {
        _ = try ExclusiveFolder(path: state)
        try SmallFiles.write("no database", to: state + "/" + SQLiteAccountStore.fileName)
        #expect(throws: ServerError.self) { _ = try server() }
    }

    /// A server that was started without authentication does not get accounts that it would ignore.
    @Test func serversWithoutDatabaseRefuseAccounts() throws {
        try serve { _ throws in
            let answer = try ControlClient.ask(.accounts(.change([.addGroup("g")])), in: state)
            guard case .refused(let reason) = answer else {
                Issue.record("accepted")
                return
            }
            #expect(reason.hasPrefix("the server was started without an account database"))
            #expect(!SQLiteAccountStore.exists(in: state))
        }
    }

    /// Changes that the server could not use are refused.
    @Test func unusableAccountsAreRefused() throws {
        try prepare([account("anna")])
        try serve { address throws in
            for change in [
                AccountChange.setSecret(account: "anna", secret: "plain"),
                .setSecret(
                    account: "anna", secret: "$digest$md5=\(String(repeating: "a", count: 32))$elsewhere"),
                try account("a:b"), .addGroup(""), .addGroup(String(repeating: "g", count: 257)),
            ] {
                guard case .refused = try ControlClient.ask(.accounts(.change([change])), in: state) else {
                    Issue.record("accepted \(change)")
                    continue
                }
            }
            #expect(try status(address, "PROPFIND /", as: "anna") == 207)
        }
    }

    /// Hosts that other machines may reach are refused without accounts, and accepted with a database.
    @Test(arguments: ["0.0.0.0", "::", "[fe80::1]", "127.0.0.1.example", "127.0.0.256"])
    func exposedHostsNeedAccounts(host: String) throws {
        #expect(throws: ServerError.accountsNeeded(host: host)) {
            _ = try server { $0.hosts = ["localhost", host] }
        }
        try prepare([account("anna")])
        _ = try server { $0.hosts = ["localhost", host] }
    }
}
