import Davit
import DavitAccess
import DavitAccounts
import DavitHTTP
import DavitServer
import DavitSystem
import DavitTesting
import DavitTransport
import Synchronization
import Testing

/// Accounts, groups, rules and locks over HTTP, in JSON.
@Suite(.timeLimit(.minutes(15)))
struct AdministrationEndpointTests {
    private let folder: TemporaryFolder
    private let team = ResourcePath(segments: [Array("team".utf8)])!
    private static let json = ["Content-Type: application/json", "Sec-Fetch-Site: same-origin"]

    init() throws {
        folder = try TemporaryFolder()
        _ = try ExclusiveFolder(path: folder.path + "/share/team/plan")
        try SmallFiles.write("text", to: folder.path + "/share/team/a.txt")
    }

    /// anna administers, max manages `/team`, and ben may edit in it.
    private func serve(
        hasAccounts: Bool = true, groups: [String] = [], logSink: (any LogSink)? = nil,
        _ body: (BoundAddress) throws -> Void
    ) throws {
        let state = folder.path + "/state"
        if hasAccounts {
            _ = try ExclusiveFolder(path: state)
            let secret = try Accounts.scryptText(password: "secret")
            try SQLiteAccountStore(folder: state).commit(
                ["anna", "max", "ben"].map { .addAccount(StoredAccount(name: $0, secret: secret)) } + [
                    .setRule(AccessRule(.user("anna"), .root, .all)),
                    .setRule(AccessRule(.user("max"), team, [.list, .read, .manage])),
                    .setRule(AccessRule(.user("ben"), team, .edit)),
                ] + groups.map { .addGroup($0) })
        }
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        configuration.logLevel = logSink == nil ? .error : .info
        configuration.logSink = logSink
        let server = try WebServer(
            WebDAVShare(folder.path + "/share", stateFolder: state), configuration: configuration)
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(try #require(addresses.first))
    }

    private func send(
        _ address: BoundAddress, _ line: String, as name: String?, _ content: String = "",
        _ fields: [String] = Self.json, password: String = "secret"
    ) throws -> ChangeEventClient.Answer {
        let credentials = name.map {
            "Authorization: Basic \(Base64.encode(Array("\($0):\(password)".utf8)))"
        }
        return try ChangeEventClient(address: address).send(
            line, fields + (credentials.map { [$0] } ?? []), content: content)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let line: String
        var content = ""
        var fields = AdministrationEndpointTests.json
        /// The status for the administrator, for the manager of `/team`, and for an account that may edit in it.
        let statuses: [Int]
        var problem: String?
        var testDescription: String { "\(line) \(content)" }
    }

    static let rows: [Row] = [
        Row(line: "GET /?accounts", statuses: [200, 403, 403]),
        Row(line: "GET /?locks", statuses: [200, 403, 403]),
        Row(line: "GET /?access", statuses: [200, 403, 403]),
        Row(line: "GET /team/?access", statuses: [200, 200, 403]),
        Row(line: "GET /team/plan/?access", statuses: [200, 200, 403]),
        Row(line: "GET /team/?accounts", statuses: [404, 404, 404]),
        Row(line: "GET /team/a.txt?access", statuses: [404, 404, 404]),
        Row(line: "GET /missing/?access", statuses: [404, 404, 404]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"view"}"#,
            statuses: [204, 204, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":null}"#,
            statuses: [204, 204, 403]),
        Row(
            line: "POST /team/?access",
            content: #"{"subject":"user:ben","rights":"view","path":"/team/plan"}"#,
            statuses: [204, 204, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"all"}"#,
            statuses: [204, 403, 403], problem: "grants-more"),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"view","path":"/"}"#,
            statuses: [422, 422, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:zoe","rights":"view"}"#,
            statuses: [409, 409, 403], problem: "unknown-account"),
        Row(
            line: "POST /team/?access", content: #"{"subject":"group:g","rights":null}"#,
            statuses: [409, 409, 403], problem: "no-rule"),
        Row(line: "POST /team/?access", content: #"{"subject":"user:ben"}"#, statuses: [422, 422, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"ben","rights":"view"}"#,
            statuses: [422, 422, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"write"}"#,
            statuses: [422, 422, 403]),
        Row(line: "POST /team/?access", content: "{", statuses: [400, 400, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"view"}"#,
            fields: ["Content-Type: text/plain", "Sec-Fetch-Site: same-origin"], statuses: [415, 415, 403]),
        // Pages of other origins, and programs that are not pages of this server.
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"view"}"#,
            fields: ["Content-Type: application/json", "Sec-Fetch-Site: cross-site"],
            statuses: [403, 403, 403]),
        Row(
            line: "POST /team/?access", content: #"{"subject":"user:ben","rights":"view"}"#,
            fields: ["Content-Type: application/json"], statuses: [403, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-account","name":"zoe","password":"p"}"#,
            statuses: [204, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-account","name":"ben","password":"p"}"#,
            statuses: [409, 403, 403], problem: "account-exists"),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-account","name":"a:b","password":"p"}"#,
            statuses: [422, 403, 403], problem: "failed"),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-account","name":"zoe","password":""}"#,
            statuses: [422, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"set-password","name":"ben","password":"p"}"#,
            statuses: [204, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"disable","name":"ben"}"#,
            statuses: [204, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"enable","name":"ben"}"#, statuses: [204, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"disable","name":"anna"}"#,
            statuses: [409, 403, 403], problem: "last-administrator"),
        Row(
            line: "POST /?accounts", content: #"{"action":"remove-account","name":"anna"}"#,
            statuses: [409, 403, 403], problem: "last-administrator"),
        Row(
            line: "POST /?accounts", content: #"{"action":"remove-group","group":"g"}"#,
            statuses: [409, 403, 403], problem: "unknown-group"),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-member","name":"ben","group":"g"}"#,
            statuses: [409, 403, 403], problem: "unknown-group"),
        Row(
            line: "POST /?accounts", content: #"{"action":"add-group","group":"g"}"#,
            statuses: [204, 403, 403]),
        Row(line: "POST /?accounts", content: #"{"action":"explode"}"#, statuses: [422, 403, 403]),
        Row(
            line: "POST /?accounts", content: #"{"action":"remove-account","name":"ben"}"#,
            statuses: [204, 403, 403]),
        // Each account has its own app passwords.
        Row(line: "GET /?app-passwords", statuses: [200, 200, 200]),
        Row(line: "GET /team/?app-passwords", statuses: [404, 404, 404]),
        Row(
            line: "POST /?app-passwords",
            content: #"{"label":"phone","path":"/team","rights":"view","days":"30"}"#,
            statuses: [200, 200, 200]),
        Row(line: "POST /?app-passwords", content: #"{"label":"phone"}"#, statuses: [200, 200, 200]),
        Row(
            line: "POST /?app-passwords", content: #"{"label":""}"#, statuses: [422, 422, 422],
            problem: "bad-label"),
        Row(line: "POST /?app-passwords", content: #"{"rights":"view"}"#, statuses: [422, 422, 422]),
        Row(
            line: "POST /?app-passwords", content: #"{"label":"x","path":"/missing"}"#,
            statuses: [422, 422, 422]),
        Row(
            line: "POST /?app-passwords", content: #"{"label":"x","rights":"write"}"#,
            statuses: [422, 422, 422]),
        Row(line: "POST /?app-passwords", content: #"{"label":"x","days":"0"}"#, statuses: [422, 422, 422]),
        Row(
            line: "POST /?app-passwords", content: #"{"remove":"abcd"}"#, statuses: [409, 409, 409],
            problem: "unknown-app-password"),
        Row(line: "GET /?sessions", statuses: [200, 403, 403]),
        Row(line: "GET /team/?sessions", statuses: [404, 404, 404]),
        Row(
            line: "POST /?sessions", content: #"{"end":"1"}"#, statuses: [409, 403, 403],
            problem: "unknown-session"),
        Row(line: "POST /?sessions", content: #"{"end":"x"}"#, statuses: [422, 403, 403]),
        Row(line: "POST /?sessions", content: #"{}"#, statuses: [422, 403, 403]),
        Row(line: "POST /?locks", content: #"{"token":"urn:uuid:1"}"#, statuses: [404, 403, 403]),
        Row(line: "GET /?uploads", statuses: [200, 403, 403]),
        Row(line: "GET /team/?uploads", statuses: [404, 404, 404]),
        Row(line: "POST /?uploads", content: #"{"id":"none"}"#, statuses: [404, 403, 403]),
        Row(line: "POST /?uploads", content: #"{}"#, statuses: [422, 403, 403]),
    ]

    /// All rows in their order on one server, because the hash of a password takes long.
    @Test(arguments: ["anna", "max", "ben"].enumerated().map { $0 })
    func requestsNeedTheRightToManage(role: (offset: Int, element: String)) throws {
        try serve { address throws in
            for row in Self.rows {
                let answer = try send(address, row.line, as: role.element, row.content, row.fields)
                #expect(answer.status == row.statuses[role.offset], "\(row.testDescription): \(answer.text)")
                if role.offset == 0, answer.status >= 400, let problem = row.problem {
                    #expect(answer.content.contains("urn:davit:problem:\(problem)\""))
                }
                // Pages of other origins are refused first.
                let isOwn = row.fields == Self.json
                let anonymous = try send(address, row.line, as: nil, row.content, row.fields).status
                #expect(anonymous == 401 || (anonymous == 403 && !isOwn))
            }
        }
    }

    @Test func contentOfRequestsIsLimited() throws {
        try serve { address throws in
            func answer(_ count: Int) throws -> Int {
                let end = #"{"subject":"user:ben","rights":"view","path":""#
                let path = "/team/" + String(repeating: "x", count: count - end.utf8.count - 8)
                return try send(address, "POST /team/?access", as: "anna", end + path + "\"}").status
            }
            // The folder does not exist.
            #expect(try answer(64 << 10) == 422)
            #expect(try answer((64 << 10) + 1) == 413)
        }
    }

    @Test func listsAreLimited() throws {
        try serve(groups: (0..<5000).map { "g\($0)" }) { address throws in
            func groups() throws -> (count: Int, isComplete: Bool) {
                let text = try send(address, "GET /?accounts", as: "anna").content
                let count = text.split(separator: "\"members\":").count - 1
                return (count, text.contains(#""isComplete":true"#))
            }
            #expect(try groups() == (5000, true))
            let added = try send(
                address, "POST /?accounts", as: "anna", #"{"action":"add-group","group":"more"}"#)
            #expect(added.status == 204)
            #expect(try groups() == (5000, false))
        }
    }

    @Test func lifetimesOfAppPasswordsAreLimited() throws {
        try serve { address throws in
            func status(days: Int) throws -> Int {
                let content = #"{"label":"phone","days":"\#(days)"}"#
                return try send(address, "POST /?app-passwords", as: "anna", content).status
            }
            #expect(try status(days: 36_500) == 200)
            #expect(try status(days: 36_501) == 422)
        }
    }

    @Test func withoutDatabaseThereIsNoEndpoint() throws {
        try serve(hasAccounts: false) { address throws in
            for subject in ["access", "accounts", "locks", "uploads"] {
                let answer = try send(address, "GET /?\(subject)", as: nil)
                #expect(answer["Content-Type"] != "application/json", "\(subject)")
                #expect(try send(address, "POST /?\(subject)", as: nil, "{}").status == 405)
            }
        }
    }

    @Test func changesTakeEffectAndAreLogged() throws {
        let lines = Mutex<[String]>([])
        try serve(logSink: ClosureSink { entry in lines.withLock { $0.append(entry.text) } }) {
            address throws in
            #expect(
                try send(
                    address, "POST /?accounts", as: "anna",
                    #"{"action":"add-account","name":"zoe","password":"geheim","rights":"view"}"#
                ).status == 204)
            #expect(try send(address, "GET /team/a.txt", as: "zoe", password: "geheim").status == 200)
            #expect(
                try send(address, "POST /team/?access", as: "max", #"{"subject":"user:zoe","rights":"none"}"#)
                    .status == 204)
            #expect(try send(address, "GET /team/a.txt", as: "zoe", password: "geheim").status == 404)
        }
        let changes = lines.withLock { $0.filter { $0.contains("accounts changed") } }
        #expect(changes.count == 3)
        #expect(changes.contains { $0.contains("set rule user:zoe /team none") && $0.contains("max at ") })
        #expect(!changes.contains { $0.contains("geheim") || $0.contains("scrypt") })
    }

    @Test func appPasswordsDoNotAdministrate() throws {
        try serve { address throws in
            let answer = try send(address, "POST /?app-passwords", as: "anna", #"{"label":"phone"}"#)
            let start = try #require(answer.content.firstRange(of: #""password":""#)).upperBound
            let password = String(answer.content[start...].prefix { $0 != "\"" })
            #expect(password.utf8.count == 23)
            #expect(try send(address, "GET /team/a.txt", as: "anna", password: password).status == 200)
            for subject in ["access", "accounts", "locks", "uploads", "app-passwords"] {
                #expect(try send(address, "GET /?\(subject)", as: "anna", password: password).status == 403)
            }
            let add = #"{"action":"add-group","group":"g"}"#
            #expect(try send(address, "POST /?accounts", as: "anna", add, password: password).status == 403)
            #expect(
                try send(address, "POST /?app-passwords", as: "anna", #"{"label":"x"}"#, password: password)
                    .status == 403)
            let listed = try send(address, "GET /?app-passwords", as: "anna").content
            #expect(listed.contains(#""label":"phone""#))
            #expect(!listed.contains(password))
        }
    }

    #if TLS
    /// An app password outlives a session, so a stolen session must not suffice to create one.
    @Test func sessionsAloneCreateNoAppPassword() throws {
        try serve { address throws in
            let client = ChangeEventClient(address: address)
            let signedIn = try client.send(
                "POST /?account", AccountDatabaseTests.form, content: "do=sign-in&name=ben&password=secret")
            let cookie = "Cookie: " + (try #require(signedIn["Set-Cookie"]).prefix { $0 != ";" })
            func create(_ members: String) throws -> ChangeEventClient.Answer {
                try client.send(
                    "POST /?app-passwords", Self.json + [cookie], content: #"{"label":"phone"\#(members)}"#)
            }
            func problem(_ answer: ChangeEventClient.Answer) -> Substring {
                let start = answer.content.firstRange(of: "urn:davit:problem:")?.upperBound
                return start.map { answer.content[$0...].prefix { $0 != "\"" } } ?? ""
            }
            let listed = try client.send("GET /?app-passwords", [cookie])
            #expect(listed.content.contains(#""needsPassword":true"#))
            let own = try send(address, "GET /?app-passwords", as: "ben")
            #expect(own.content.contains(#""needsPassword":false"#))
            var answer = try create("")
            #expect(answer.status == 403 && problem(answer) == "password-required")
            answer = try create(#","password":"secret""#)
            #expect(answer.status == 200)
            // Wrong passwords are counted like those of other logins.
            for number in 1...5 {
                answer = try create(#","password":"wrong\#(number)""#)
                #expect(answer.status == 403 && problem(answer) == "wrong-password")
            }
            answer = try create(#","password":"other""#)
            #expect(answer.status == 429 && problem(answer) == "too-many-passwords")
            #expect(answer["Retry-After"] != nil)
            let passwords = try client.send("GET /?app-passwords", [cookie]).content
            #expect(
                passwords.split(separator: #""label":"phone""#, omittingEmptySubsequences: false).count == 2)
        }
    }
    #endif

    #if TLS
    @Test func administratorsEndTheSessionsOfOthers() throws {
        try serve { address throws in
            let client = ChangeEventClient(address: address)
            func signIn(_ name: String) throws -> String {
                let answer = try client.send(
                    "POST /?account", AccountDatabaseTests.form,
                    content: "do=sign-in&name=\(name)&password=secret")
                return "Cookie: " + (try #require(answer["Set-Cookie"]).prefix { $0 != ";" })
            }
            func sessions(_ cookie: String) throws -> [Substring] {
                let text = try client.send("GET /?sessions", [cookie]).content
                return text.split(separator: #"{"id":""#).dropFirst().map { $0.prefix { $0 != "}" } }
            }
            let (anna, ben) = (try signIn("anna"), try signIn("ben"))
            let found = try sessions(anna)
            #expect(found.count == 2)
            let other = try #require(found.first { $0.contains(#""account":"ben""#) })
            #expect(try client.send("GET /team/a.txt", [ben]).status == 200)
            let body = #"{"end":"\#(other.prefix { $0 != "\"" })"}"#
            #expect(try client.send("POST /?sessions", Self.json + [ben], content: body).status == 403)
            #expect(try client.send("POST /?sessions", Self.json + [anna], content: body).status == 204)
            #expect(try client.send("GET /team/a.txt", [ben]).status == 401)
            #expect(try client.send("GET /team/a.txt", [anna]).status == 200)
            // The request that ends its own session is answered.
            let own = try #require(try sessions(anna).first).prefix { $0 != "\"" }
            let last = try client.send("POST /?sessions", Self.json + [anna], content: #"{"end":"\#(own)"}"#)
            #expect(last.status == 204)
            #expect(try client.send("GET /team/a.txt", [anna]).status == 401)
        }
    }
    #endif

    @Test func folderManagerSeesWhereRightsComeFrom() throws {
        try serve { address throws in
            let text = try send(address, "GET /team/plan/?access", as: "max").content
            #expect(text.contains(#"{"subject":"user:ben","path":"/team","rights":"edit"}"#))
            #expect(text.contains(#"{"name":"ben","isEnabled":true,"rights":"edit","from":["#))
            #expect(text.contains(#""path":"/team/plan""#))
        }
    }

    @Test func pathsOfAppPasswordsRevealNothing() throws {
        _ = try ExclusiveFolder(path: folder.path + "/share/secret")
        try serve { address throws in
            func answer(_ path: String) throws -> ChangeEventClient.Answer {
                try send(address, "POST /?app-passwords", as: "max", #"{"label":"x","path":"\#(path)"}"#)
            }
            let (hidden, missing) = (try answer("/secret"), try answer("/missing"))
            #expect(hidden.status == 422 && missing.status == 422)
            #expect(hidden.content == missing.content)
            #expect(try answer("/team").status == 200)
        }
    }
}
