import Davit
import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Testing

/// Several shares, of which one has an account database.
@Suite(.timeLimit(.minutes(5)))
struct AccountsOfSharesTests {
    private let folder: TemporaryFolder
    private let phone = AppPassword()

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a", "b"] {
            _ = try ExclusiveFolder(path: "\(folder.path)/\(name)/x")
            try SmallFiles.write("text", to: "\(folder.path)/\(name)/x/file")
            _ = try ExclusiveFolder(path: "\(folder.path)/state-\(name)")
        }
        let x = ResourcePath(segments: [Array("x".utf8)])!
        try SQLiteAccountStore(folder: folder.path + "/state-a").commit([
            .addAccount(StoredAccount(name: "anna", secret: try Accounts.scryptText(password: "secret"))),
            .setRule(AccessRule(.user("anna"), x, .view)),
            .addAppPassword(
                StoredAppPassword(
                    id: "phone", account: "anna", label: "phone",
                    secret: try phone.secret(account: "anna", realm: AuthenticationSettings().realm),
                    limit: AccessLimit(path: x, rights: .view), created: 1_000, expiry: nil)),
        ])
    }

    /// - Parameter access: the policy of the share without an account database.
    private func server(_ access: (any AccessPolicy)?) throws(ServerError) -> WebServer {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        let a = WebDAVShare(folder.path + "/a", stateFolder: folder.path + "/state-a")
        var b = WebDAVShare(folder.path + "/b", stateFolder: folder.path + "/state-b")
        b.access = access
        return try WebServer(configuration: configuration) { routes in
            routes.mount("/a", a)
            routes.mount("/b", b)
        }
    }

    @Test func shareWithoutRulesPreventsTheStart() throws {
        let (b, accounts) = (folder.path + "/b", folder.path + "/state-a")
        #expect(
            throws: ServerError.accountsWithoutRules(
                share: try ExclusiveFolder.canonical(b), accounts: try ExclusiveFolder.canonical(accounts))
        ) {
            try server(nil)
        }
    }

    @Test func rulesAndLimitsConcernTheirShare() throws {
        let server = try server(try AccessRules([AccessRule(.user("anna"), .root, .edit)]))
        let address = try #require(try server.start().first)
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        func status(_ request: String, _ password: String) throws -> Int {
            let credentials = Base64.encode(Array("anna:\(password)".utf8))
            return try ChangeEventClient(address: address).send(
                request, ["Depth: 0", "Authorization: Basic \(credentials)"]
            ).status
        }
        #expect(try status("GET /a/x/file", "secret") == 200)
        #expect(try status("MKCOL /a/x/new", "secret") == 403)
        #expect(try status("MKCOL /b/x/new", "secret") == 201)
        #expect(try status("GET /a/x/file", phone.text) == 200)
        // The limit is a folder of the other share.
        #expect(try status("GET /b/x/file", phone.text) == 404)
        #expect(try status("MKCOL /b/x/other", phone.text) == 403)
    }
}
