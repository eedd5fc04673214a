import Davit
import DavitControl
import DavitSystem
import DavitTesting
import Testing

/// Routes and shares on one port, over a real socket.
struct WebServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a", "b"] { _ = try ExclusiveFolder(path: folder.path + "/" + name) }
    }

    private func share(_ name: String) -> WebDAVShare {
        WebDAVShare(folder.path + "/" + name, stateFolder: folder.path + "/state-" + name)
    }

    private static func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        configuration.hosts = ["127.0.0.1"]
        configuration.port = 0
        configuration.logLevel = .error
        configuration.grace = .zero
        configuration.deadlines = .ofTests
        change(&configuration)
        return configuration
    }

    /// Runs `body` while the server runs.
    private func serve(_ server: WebServer, _ body: (ChangeEventClient) throws -> Void) throws {
        let addresses = try server.start()
        defer {
            server.shutdown()
            server.waitUntilStopped()
        }
        try body(ChangeEventClient(address: try #require(addresses.first)))
    }

    private func routes(_ routes: inout Routes) {
        routes.get("/hello") { _ in .text("Hello") }
        routes.mount("/files", share("a"))
        routes.mount("/more/files", share("b"))
    }

    // Shares and routes use one port (X15 in docs/coming-from-gcdwebserver.md). For authentication, see
    // `oneAuthenticationProtectsEverything`.
    @Test func sharesAndRoutesUseOnePort() throws {
        try serve(try WebServer(configuration: Self.configuration(), routes)) { client throws in
            #expect(try client.send("GET /hello").content == "Hello")
            #expect(try client.send("PUT /files/x", content: "one").status == 201)
            #expect(try client.send("PUT /more/files/x", content: "two").status == 201)
            #expect(try client.send("GET /files/x").content == "one")
            #expect(try client.send("GET /more/files/x").content == "two")
            let listing = try client.send("PROPFIND /more/files", ["Depth: 1"])
            #expect(listing.status == 207)
            #expect(listing.content.contains("<D:href>/more/files/x</D:href>"))
            // A destination in another share counts as one on another server (RFC 4918 §9.8.5).
            #expect(try client.send("MOVE /files/x", ["Destination: /more/files/y"]).status == 502)
            #expect(try client.send("MOVE /files/x", ["Destination: /files/y"]).status == 201)
            #expect(try client.send("GET /more").status == 404)
            #expect(try client.send("GET /hello", host: "rebound.example").status == 421)
        }
    }

    // Content stored where another share is mounted could never be requested.
    @Test func nestedShareIsADifferentServer() throws {
        let server = try WebServer(configuration: Self.configuration()) { routes in
            routes.mount("/", share("a"))
            routes.mount("/b", share("b"))
        }
        try serve(server) { client throws in
            #expect(try client.send("PUT /x", content: "one").status == 201)
            #expect(try client.send("PUT /b/x", content: "two").status == 201)
            #expect(try client.send("GET /b/x").content == "two")
            #expect(try client.send("MOVE /x", ["Destination: /b/y"]).status == 502)
            #expect(try client.send("COPY /x", ["Destination: /b"]).status == 502)
            #expect(try client.send("MOVE /b/x", ["Destination: /y"]).status == 502)
            #expect(try client.send("MOVE /x", ["Destination: /bb"]).status == 201)
            #expect(try client.send("MOVE /b/x", ["Destination: /b/b"]).status == 201)
        }
    }

    static let options: [(target: String, status: Int)] = [
        ("*", 204), ("/", 204), ("/more", 204), ("/hello", 204), ("/files", 200), ("/files/new", 200),
        ("/more/files/", 200),
    ]

    // Clients check for WebDAV on any path, most of them at the root.
    @Test(arguments: options)
    func optionsAnnounceTheShares(target: String, status: Int) throws {
        try serve(try WebServer(configuration: Self.configuration(), routes)) { client throws in
            let answer = try client.send("OPTIONS \(target)")
            #expect(answer.status == status)
            #expect((answer["DAV"] != nil) == (target != "/hello"))
            #expect(answer["MS-Author-Via"] == (target == "/hello" ? nil : "DAV"))
        }
    }

    @Test func oneAuthenticationProtectsEverything() throws {
        let configuration = Self.configuration { $0.accounts = [.init(name: "anna", password: "secret")] }
        try serve(try WebServer(configuration: configuration, routes)) { client throws in
            let field = "Authorization: Basic YW5uYTpzZWNyZXQ="
            for target in ["/hello", "/files/", "/more/files/", "/nothing"] {
                let answer = try client.send("GET \(target)")
                #expect(answer.status == 401)
                #expect(answer.text.contains(#"WWW-Authenticate: Basic realm="davit""#))
            }
            #expect(try client.send("GET /hello", [field]).content == "Hello")
            #expect(try client.send("PROPFIND /files", [field, "Depth: 0"]).status == 207)
            #expect(try client.send("OPTIONS /")["DAV"] != nil)
        }
    }

    @Test func accountsCanBeReplacedWhileTheServerRuns() throws {
        let configuration = Self.configuration { $0.accounts = [.init(name: "anna", password: "secret")] }
        let server = try WebServer(configuration: configuration, routes)
        let (old, new) = ("Authorization: Basic YW5uYTpzZWNyZXQ=", "Authorization: Basic YW5uYTpvdGhlcg==")
        try serve(server) { client throws in
            #expect(try client.send("GET /hello", [old]).status == 200)
            try server.replaceAccounts([.init(name: "anna", password: "other")])
            #expect(try client.send("GET /hello", [old]).status == 401)
            #expect(try client.send("GET /hello", [new]).status == 200)
            // An empty list is an error, and a list with an invalid account changes nothing.
            #expect(throws: ServerError.noAccounts) { try server.replaceAccounts([]) }
            #expect(throws: ServerError.accountNotUsable(name: "", .badName)) {
                try server.replaceAccounts([.init(name: "", password: "x")])
            }
            #expect(throws: ServerError.accountNotUsable(name: "anna", Self.ofAHash)) {
                try server.replaceAccounts([.init(name: "anna", hash: "$2y$05$x")])
            }
            #expect(try client.send("GET /hello", [new]).status == 200)
        }
    }

    private static var ofAHash: Accounts.Problem {
        var settings = AuthenticationSettings()
        settings.schemes = [.digestMD5]
        return settings.problem ?? .badHash
    }

    @Test func accountsCannotBeAddedLater() throws {
        let server = try WebServer(configuration: Self.configuration(), routes)
        #expect(throws: ServerError.noAccounts) {
            try server.replaceAccounts([.init(name: "anna", password: "x")])
        }
        server.shutdown()
        server.waitUntilStopped()
    }

    /// Appends its name to `Server-Timing`.
    private struct Mark: Middleware {
        let name: String

        func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
            try next.respond(to: request).map(mark)
        }

        private func mark(_ response: HTTPResponse) -> HTTPResponse {
            var response = response
            response.fields.append(named: "X-Mark-\(name)", response.fields.first(named: "X-Last") ?? "none")
            return response
        }
    }

    @Test func middlewareRunsInsideAndOutsideAuthentication() throws {
        let configuration = Self.configuration {
            $0.accounts = [.init(name: "anna", password: "secret")]
            $0.middleware = [Mark(name: "First"), Mark(name: "Second")]
            $0.outerMiddleware = [Mark(name: "Outer")]
        }
        try serve(try WebServer(configuration: configuration, routes)) { client throws in
            let refused = try client.send("GET /hello")
            #expect(refused["X-Mark-Outer"] != nil && refused["X-Mark-First"] == nil)
            for target in ["/hello", "/files/"] {
                let text = try client.send("GET \(target)", ["Authorization: Basic YW5uYTpzZWNyZXQ="]).text
                // The first middleware for requests is the last for responses.
                let places = ["Second", "First", "Outer"].map {
                    text.firstRange(of: "X-Mark-\($0):")?.lowerBound
                }
                #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
                #expect(places.allSatisfy { $0 != nil })
            }
        }
    }

    // Requests from pages of other origins are refused (X14 in docs/coming-from-gcdwebserver.md), and CORS
    // preflights are answered before authentication.
    @Test func otherOriginsAreRefusedUnlessAllowed() throws {
        let configuration = Self.configuration {
            $0.accounts = [.init(name: "anna", password: "secret")]
            $0.cors = CORS(origins: ["https://app.example"])
        }
        let server = try WebServer(configuration: configuration) { routes in
            routes.post("/form") { _ in .text("taken") }
            routes.mount("/files", share("a"))
        }
        try serve(server) { client throws in
            let field = "Authorization: Basic YW5uYTpzZWNyZXQ="
            #expect(try client.send("POST /form", [field]).content == "taken")
            #expect(try client.send("POST /form", [field, "Origin: https://app.example"]).content == "taken")
            #expect(try client.send("POST /form", [field, "Origin: http://localhost:1"]).status == 403)
            let asked = ["Access-Control-Request-Method: PROPFIND"]
            let preflight = try client.send("OPTIONS /files/", asked + ["Origin: https://app.example"])
            #expect(preflight.status == 204)
            #expect(preflight["Access-Control-Allow-Origin"] == "https://app.example")
            #expect(try client.send("OPTIONS /files/", asked + ["Origin: https://b.example"]).status == 401)
            let found = try client.send(
                "PROPFIND /files/", [field, "Depth: 0", "Origin: https://app.example"])
            #expect(found.status == 207)
            #expect(found["Access-Control-Allow-Origin"] == "https://app.example")
        }
    }

    // MARK: Starting

    @Test func everyShareNeedsItsOwnStateFolder() throws {
        #expect(throws: ServerError.self) {
            try WebServer(configuration: Self.configuration()) { routes in
                routes.mount("/1", share("a"))
                routes.mount("/2", share("a"))
            }
        }
        // The failed attempt has released the folder.
        try serve(try WebServer(share("a"), configuration: Self.configuration())) { client throws in
            #expect(try client.send("PROPFIND /", ["Depth: 0"]).status == 207)
        }
    }

    // Each share answers `davit check` in its own state folder.
    @Test func everyShareCanBeChecked() throws {
        try serve(try WebServer(configuration: Self.configuration(), routes)) { client throws in
            for name in ["a", "b"] {
                #expect(try ControlClient.ask(.check, in: folder.path + "/state-" + name) == .lines([]))
            }
            #expect(try client.send("GET /hello").status == 200)
        }
    }

    @Test func stateInAnotherShareIsRefused() {
        let inside = folder.path + "/a/state"
        #expect(throws: ServerError.stateFolderInsideShare(path: inside)) {
            try WebServer(configuration: Self.configuration()) { routes in
                routes.mount("/1", share("a"))
                routes.mount("/2", WebDAVShare(folder.path + "/b", stateFolder: inside))
            }
        }
    }

    @Test func logsInAShareAreRefused() throws {
        let log = folder.path + "/a/log"
        let root = try ExclusiveFolder.canonical(folder.path + "/a")
        #expect(throws: ServerError.accessLogInsideShare(path: log, share: root)) {
            let configuration = Self.configuration { $0.accessLog = .init(.file(log)) }
            return try WebServer(configuration: configuration) { $0.mount("/1", share("a")) }
        }
        #expect(throws: ServerError.auditLogInsideShare(path: log, share: root)) {
            let configuration = Self.configuration { $0.audit = .init(.file(log)) }
            return try WebServer(share("a"), configuration: configuration)
        }
        // Next to the share is not in it.
        let other = Self.configuration { $0.audit = .init(.file(folder.path + "/a.log")) }
        _ = try WebServer(share("a"), configuration: other)
    }

    @Test func missingShareFolderIsReportedWithItsPath() {
        let missing = folder.path + "/missing"
        #expect(throws: ServerError.shareNotUsable(path: missing, .missing)) {
            try WebServer(configuration: Self.configuration()) { $0.mount("/1", WebDAVShare(missing)) }
        }
    }

    @Test func serversCanRunConcurrently() throws {
        let first = try WebServer(configuration: Self.configuration()) { $0.mount("/", share("a")) }
        let second = try WebServer(configuration: Self.configuration { $0.serverName = nil }) {
            $0.get("/") { _ in .text("second") }
        }
        try serve(first) { one throws in
            try serve(second) { two throws in
                #expect(one.address.port != two.address.port)
                #expect(try one.send("PROPFIND /", ["Depth: 0"]).status == 207)
                #expect(try one.send("GET /")["Server"] == "davit")
                #expect(try two.send("GET /").content == "second")
                #expect(try two.send("GET /")["Server"] == nil)
            }
            #expect(try one.send("PROPFIND /", ["Depth: 0"]).status == 207)
        }
    }

    // The selected port, and the name in `Server` (W001 and W008 in docs/coming-from-gcdwebserver.md).
    @Test func addressesAndNameFollowTheConfiguration() async throws {
        let server = try WebServer(configuration: Self.configuration { $0.serverName = "Test/1 (x)" }, routes)
        #expect(server.addresses.isEmpty && server.url == nil)
        let addresses = try server.start()
        #expect(addresses == server.addresses)
        let port = try #require(addresses.first).port
        #expect(port != 0)
        #expect(server.url == "http://localhost:\(port)/")
        #expect(try ChangeEventClient(address: addresses[0]).send("GET /hello")["Server"] == "Test/1 (x)")
        await server.stop()
        #expect(throws: SystemError.self) { try ChangeEventClient(address: addresses[0]).send("GET /hello") }
    }

    static let badNames = ["", "a\r\nX: y", "ä"]

    @Test(arguments: badNames)
    func invalidServerNameIsRefused(name: String) {
        #expect(throws: ServerError.serverNameMalformed(name)) {
            try WebServer(configuration: Self.configuration { $0.serverName = name }) { _ in }
        }
    }

    // MARK: Access without accounts

    @Test func nonLocalAddressesRequireAccountsOrAnOptIn() throws {
        #expect(throws: ServerError.accountsNeeded(host: "0.0.0.0")) {
            try WebServer(configuration: Self.configuration { $0.hosts = ["0.0.0.0"] }, routes)
        }
        let open = Self.configuration {
            $0.hosts = ["0.0.0.0"]
            $0.allowsAnonymousVisitors = true
        }
        try serve(try WebServer(configuration: open, routes)) { client throws in
            #expect(try client.send("GET /hello", host: "any.example").content == "Hello")
        }
        var named = open
        named.publicURLs = ["https://api.example"]
        let server = try WebServer(configuration: named, routes)
        try serve(server) { client throws in
            #expect(server.url == "https://api.example/")
            #expect(try client.send("GET /hello", host: "api.example").content == "Hello")
            #expect(try client.send("GET /hello", host: "any.example").status == 421)
        }
    }

    // MARK: Content

    private static let multipart = ["Content-Type: multipart/form-data; boundary=b"]

    private static func form(_ content: String, name: String = "../x.txt") -> String {
        "--b\r\nContent-Disposition: form-data; name=f; filename=\"\(name)\"\r\n\r\n\(content)\r\n--b--\r\n"
    }

    // Large files of a form are stored on disk, and can be moved to another path (W055 and X12 in
    // docs/coming-from-gcdwebserver.md).
    @Test(arguments: [10, 3_000_000], [nil, "a"])
    func filesOfFormsCanBeMovedToAPath(size: Int, temporaryFolder: String?) throws {
        let path = folder.path
        let configuration = Self.configuration { configuration in
            configuration.temporaryFolder = temporaryFolder.map { path + "/" + $0 }
        }
        let server = try WebServer(configuration: configuration) { routes in
            routes.post("/upload", body: .multipart()) { _, form in
                let file = try form.file("f") ?? { throw HTTPError(.badRequest, "no file") }()
                try await file.file.move(to: "\(path)/b/\(file.fileName)")
                return .text("\(file.fileName) \(file.file.length)")
            }
            routes.put("/file", body: .file()) { _, file in .text("\(file.length)") }
        }
        let content = String(repeating: "0123456789", count: size / 10)
        try serve(server) { client throws in
            let answer = try client.send("POST /upload", Self.multipart, content: Self.form(content))
            #expect(answer.content == "x.txt \(size)")
            #expect(try String(decoding: SmallFiles.read(path + "/b/x.txt"), as: UTF8.self) == content)
            // One name is in use, and another one would lead to another folder.
            #expect(
                try client.send("POST /upload", Self.multipart, content: Self.form(content)).status == 409)
            let up = Self.form(content, name: "../..")
            #expect(try client.send("POST /upload", Self.multipart, content: up).status == 400)
            #expect(try client.send("PUT /file", content: content).content == "\(size)")
            #expect(SmallFiles.names(path + "/a") == ["lock"])
            #expect(SmallFiles.names(path + "/b") == ["lock", "x.txt"])
        }
    }

    @Test func temporaryFolderMustExist() throws {
        let configuration = Self.configuration { $0.temporaryFolder = folder.path + "/missing" }
        #expect(throws: ServerError.self) { try WebServer(configuration: configuration) { _ in } }
    }

    // Generated content is compressed for clients that accept gzip, unless compression is disabled (W060 in
    // docs/coming-from-gcdwebserver.md).
    @Test(arguments: [true, false])
    func generatedContentIsCompressed(compresses: Bool) throws {
        let configuration = Self.configuration { $0.compresses = compresses }
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/text") { _ in .text(String(repeating: "text ", count: 1000)) }
            routes.mount("/files", share("a"))
        }
        try serve(server) { client throws in
            let asking = ["Accept-Encoding: gzip", "Depth: 1"]
            let coding = compresses ? "gzip" : nil
            #expect(try client.send("GET /text", asking)["Content-Encoding"] == coding)
            #expect(try client.send("GET /text")["Content-Encoding"] == nil)
            #expect(try client.send("GET /text")["Vary"] == (compresses ? "Accept-Encoding" : nil))
            let content = String(repeating: "text ", count: 1000)
            for number in 0..<5 {
                #expect(try client.send("PUT /files/\(number).txt", content: content).status == 201)
            }
            #expect(try client.send("PROPFIND /files", asking)["Content-Encoding"] == coding)
            // Stored files are never compressed (requirement 83 in docs/clients.md).
            let file = try client.send("GET /files/0.txt", asking)
            #expect(file["Content-Encoding"] == nil)
            #expect(file.content == content)
        }
    }
}
