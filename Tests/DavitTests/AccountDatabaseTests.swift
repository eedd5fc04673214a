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
    let folder: TemporaryFolder
    var state: String { folder.path + "/state" }
    let team = ResourcePath(segments: [Array("team".utf8)])!

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share/team")
        _ = try ExclusiveFolder(path: folder.path + "/share/other")
        try SmallFiles.write("text", to: folder.path + "/share/team/a.txt")
        try SmallFiles.write("text", to: folder.path + "/share/other/b.txt")
    }

    func server(
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws(ServerError) -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: state), configuration: configuration)
    }

    func serve(_ body: (BoundAddress) throws -> Void) throws {
        let server = try self.server()
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    /// Commits changes to the database of a server that is stopped.
    func prepare(_ changes: [AccountChange]) throws {
        _ = try ExclusiveFolder(path: state)
        try SQLiteAccountStore(folder: state).commit(changes)
    }

    /// Sends changes to the running server.
    func change(_ changes: [AccountChange]) throws {
        #expect(try ControlClient.ask(.accounts(.change(changes)), in: state) == .lines([]))
    }

    /// An account with the password `secret`.
    func account(_ name: String) throws -> AccountChange {
        .addAccount(StoredAccount(name: name, secret: try Accounts.scryptText(password: "secret")))
    }

    func status(
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

    // MARK: Clients that have not signed in

    @Test func anonymousRulesPermitRequestsWithoutCredentials() throws {
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)),
            .setRule(AccessRule(.anonymous, team, .view)),
        ])
        try serve { address throws in
            let open = ["GET /team/a.txt", "PROPFIND /team/", "OPTIONS /team/", "GET /%74eam/a.txt"]
            for request in open {
                #expect(try 200...207 ~= status(address, request, as: nil), "\(request)")
            }
            #expect(try status(address, "GET /team/missing", as: nil) == 404)
            // What they may not do is a challenge, so that people can sign in.
            for request in [
                "PUT /team/new", "DELETE /team/a.txt", "MKCOL /team/x", "GET /", "PROPFIND /",
                "GET /other/b.txt",
                "GET /team/../other/b.txt", "GET /teams", "OPTIONS /", "PROPFIND /%2e%2e", "GET /TEAM/a.txt",
            ] {
                #expect(try status(address, request, as: nil) == 401, "\(request)")
            }
            // Wrong credentials are never treated as none.
            #expect(try status(address, "GET /team/a.txt", as: "anna", password: "wrong") == 401)
            #expect(try status(address, "GET /team/a.txt", as: "nobody") == 401)
            let client = ChangeEventClient(address: address)
            for field in ["Basic", "Bearer x", "Digest username=\"anna\""] {
                let response = try client.send("GET /team/a.txt", ["Authorization: \(field)"])
                #expect(response.status == 401, "\(field)")
            }
            // What no account may do is none.
            let report = """
                <sync-collection xmlns="DAV:"><sync-token>data:,unknown</sync-token><sync-level>1</sync-level><prop/>\
                </sync-collection>
                """
            let refused = try client.send("REPORT /team/", ["Depth: 0"], content: report)
            #expect(refused.status == 403)
            #expect(refused.content.contains("valid-sync-token"))
            #expect(try status(address, "DELETE /team/a.txt", as: "anna") == 204)
            // Over plain HTTP, the host must be known, as for servers without accounts.
            #expect(try client.send("PROPFIND /team/", ["Depth: 0"], host: "evil.example").status != 207)
            try change([.removeRule(.anonymous, team)])
            #expect(try status(address, "PROPFIND /team/", as: nil) == 401)
        }
    }

    /// A drop folder for everyone: nothing in it can be seen.
    @Test func anonymousClientsCanAddFiles() throws {
        try prepare([account("anna"), .setRule(AccessRule(.anonymous, team, .drop))])
        try serve { address throws in
            #expect(try status(address, "PUT /team/new", as: nil) == 201)
            for request in ["GET /team/new", "GET /team/a.txt", "GET /team/missing", "DELETE /team/new"] {
                #expect(try status(address, request, as: nil) == 401, "\(request)")
            }
        }
    }

    @Test func routesBesideAShareRequireAnAccount() throws {
        try prepare([account("anna"), .setRule(AccessRule(.anonymous, team, .view))])
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        let share = WebDAVShare(folder.path + "/share", stateFolder: state)
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/team/a.txt") { _ in .text("private") }
            routes.mount("/files", share)
        }
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        for request in ["GET /team/a.txt", "GET /files/team/a.txt"] {
            #expect(try status(address, request, as: nil) == 401)
        }
    }

    // MARK: App passwords

    func add(
        _ password: AppPassword, id: String, limit: AccessLimit? = nil, expiry: Int64? = nil
    ) throws -> AccountChange {
        .addAppPassword(
            StoredAppPassword(
                id: id, account: "anna", label: "phone",
                secret: try password.secret(account: "anna", realm: AuthenticationSettings().realm),
                limit: limit, created: 1_000, expiry: expiry))
    }

    /// An app password has at most the rights of its limit, and never more than its account.
    @Test func appPasswordsAreLimited() throws {
        let (phone, old) = (AppPassword(), AppPassword())
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)),
            add(phone, id: "phone", limit: AccessLimit(path: team, rights: [.list, .read, .manage])),
            add(old, id: "old", expiry: 2_000),
        ])
        try serve { address throws in
            func status(_ request: String, password: AppPassword) throws -> Int {
                try self.status(address, request, as: "anna", password: password.text)
            }
            #expect(try status("GET /team/a.txt", password: phone) == 200)
            #expect(try status("PROPFIND /", password: phone) == 207)
            #expect(try status("GET /other/b.txt", password: phone) == 404)
            #expect(try status("DELETE /team/a.txt", password: phone) == 403)
            #expect(try status("MKCOL /other/x", password: phone) == 403)
            #expect(try status("GET /team/a.txt", password: old) == 401)
            #expect(try self.status(address, "GET /other/b.txt", as: "anna") == 200)
            try change([.setRule(AccessRule(.user("anna"), team, .none))])
            #expect(try status("GET /team/a.txt", password: phone) == 404)
            try change([.removeAppPassword(account: "anna", id: "phone")])
            #expect(try status("PROPFIND /", password: phone) == 401)
            #expect(try self.status(address, "GET /other/b.txt", as: "anna") == 200)
        }
    }

    /// Only requests that used the revoked password are ended.
    @Test func requestsWithRevokedAppPasswordsAreEnded() throws {
        let (phone, laptop) = (AppPassword(), AppPassword())
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .edit)), add(phone, id: "phone"),
            add(laptop, id: "laptop"),
        ])
        try serve { address throws in
            func stream(_ password: AppPassword) throws -> RawConnection {
                let stream = try RawConnection(address)
                try stream.send(
                    "GET /?events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                        + "Authorization: Basic \(Base64.encode(Array("anna:\(password.text)".utf8)))\r\n\r\n"
                )
                #expect(stream.wait(for: "\nid: "))
                return stream
            }
            let streams = try [stream(phone), stream(laptop)]
            try change([.removeAppPassword(account: "anna", id: "phone")])
            #expect(streams[0].bytesToEnd() != nil)
            #expect(try status(address, "MKCOL /new", as: "anna", password: laptop.text) == 201)
            #expect(streams[1].wait(for: "data: + /new"))
        }
    }

    /// The rules of a folder leave with it, so a client could learn its name from the event.
    @Test(arguments: ["DELETE", "MOVE"]) func removalOfAHiddenFolderIsNotReported(method: String) throws {
        let secret = ResourcePath(segments: [Array("team".utf8), Array("secret".utf8)])!
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .all)), account("ben"),
            .setRule(AccessRule(.user("ben"), team, .view)),
            .setRule(AccessRule(.user("ben"), secret, .none)),
        ])
        try serve { address throws in
            #expect(try status(address, "MKCOL /team/secret", as: "anna") == 201)
            let stream = try RawConnection(address)
            try stream.send(
                "GET /team/?events&depth=infinity HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                    + "Authorization: Basic \(Base64.encode(Array("ben:secret".utf8)))\r\n\r\n")
            #expect(stream.wait(for: "\nid: "))
            let removed = try ChangeEventClient(address: address).send(
                "\(method) /team/secret",
                [
                    "Authorization: Basic \(Base64.encode(Array("anna:secret".utf8)))",
                    "Destination: /other/secret",
                ])
            #expect(removed.status == (method == "MOVE" ? 201 : 204))
            #expect(try status(address, "DELETE /team/a.txt", as: "anna") == 204)
            let events = try #require(stream.text(until: "data: - /team/a.txt"))
            #expect(!events.contains("secret"))
        }
    }

    /// A client that gains rights while its stream is open learns of everything from then on.
    @Test func removalAfterAGrantIsReported() throws {
        try prepare([
            account("anna"), .setRule(AccessRule(.user("anna"), .root, .all)), account("ben"),
            .setRule(AccessRule(.user("ben"), ResourcePath(segments: [Array("other".utf8)])!, .view)),
        ])
        try serve { address throws in
            let stream = try RawConnection(address)
            try stream.send(
                "GET /?events&depth=infinity HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                    + "Authorization: Basic \(Base64.encode(Array("ben:secret".utf8)))\r\n\r\n")
            #expect(stream.wait(for: "\nid: "))
            try change([.setRule(AccessRule(.user("ben"), team, .view))])
            #expect(try status(address, "PUT /team/x", as: "anna") == 201)
            #expect(stream.wait(for: "data: + /team/x"))
            try #require(try status(address, "DELETE /team/x", as: "anna") == 204)
            #expect(stream.wait(for: "data: - /team/x"))
        }
    }

    @Test func lastUseIsRecorded() throws {
        let phone = AppPassword()
        try prepare([account("anna"), add(phone, id: "phone")])
        try serve { address throws in
            #expect(try status(address, "PROPFIND /", as: "anna", password: phone.text) == 207)
        }
        let stored = try SQLiteAccountStore(folder: state).contents().appPasswords["anna"]?.first
        #expect(stored?.lastUse?.address == "127.0.0.1")
        #expect((stored?.lastUse?.time ?? 0) > 1_000)
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
            #expect(try !SQLiteAccountStore.exists(in: state))
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

    /// A database that cannot be reached is never treated as a missing one.
    @Test func databasesThatCannotBeReachedPreventTheStart() throws {
        _ = try ExclusiveFolder(path: state)
        let path = state + "/" + SQLiteAccountStore.fileName
        for target in ["/nonexistent/accounts", SQLiteAccountStore.fileName] {
            #expect(ShellCommand.run("ln -sfn '\(target)' '\(path)'")?.status == 0)
            #expect(throws: ServerError.self) { _ = try server() }
        }
    }
}
