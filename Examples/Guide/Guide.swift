import Davit

// The code of docs/embedding.md and the tutorials that is not part of another example. It is compiled, not run.

func serveAFolder() async throws {
    let server = try WebServer(sharing: "/srv/files")
    try await server.run()
}

func serveSeveralThings(_ configuration: Configuration) async throws {
    let server = try WebServer(configuration: configuration) { routes in
        routes.get("/hello") { _ in .text("Hello") }
        routes.group("/api") { api in
            api.get("/version") { _ in .text("1") }
        }
        routes.mount("/files", WebDAVShare("/srv/files"))
        routes.mount("/archive", WebDAVShare("/srv/archive", isReadOnly: true))
    }
    try await server.run()
}

func readRequests(_ routes: inout Routes) {
    routes.get("/articles/{topic}") { request in
        let topic = request.parameters["topic"] ?? ""
        let page = request.query["page"].flatMap { Int($0) } ?? 1
        let language = request.fields[.acceptLanguage] ?? "en"
        let key = request.fields["X-Api-Key"]
        let theme = request.cookies["theme"] ?? "light"
        guard key != nil else { throw HTTPError(.forbidden) }
        return .text("\(request.method) \(request.path): \(topic), \(page), \(language), \(theme)\n")
    }
}

func readContent(_ routes: inout Routes) {
    routes.put("/settings/{name}", body: .text(limitBytes: 64 << 10)) { request, text in
        .text("\(request.parameters["name"] ?? "") = \(text)\n")
    }
}

func respond(_ routes: inout Routes) {
    routes.get("/new") { _ in .text("Created.\n", status: .created) }
    routes.get("/old") { _ in .redirect(to: "/new", .permanent) }
    routes.delete("/new") { _ in HTTPResponse(status: .noContent) }
    routes.get("/numbers.csv") { _ in
        var response = HTTPResponse.stream(type: "text/csv") { writer in
            for number in 1...1_000_000 { try await writer.write("\(number)\n") }
        }
        response.fields["X-Rows"] = "1000000"
        return response.attachment(named: "numbers.csv")
    }
}

func answerEverything(_ routes: inout Routes) {
    routes.any("/echo") { request in .text("\(request.method) \(request.path)\n") }
    routes.group("/users/{id}") { user in
        user.get("/name") { request in .text("Name of \(request.parameters["id"] ?? "")\n") }
    }
    routes.fallback { request in .html("<h1>Not found</h1>", status: .notFound) }
}

func changeRoutes() throws {
    let router = MutableRouter { routes in
        routes.get("/status") { _ in .text("starting\n") }
    }
    let server = try WebServer(router)
    try server.start()
    try router.update { routes in
        routes.remove(.get, "/status")
        routes.get("/status") { _ in .text("ready\n") }
    }
}

func mountFolders() -> WebDAVShare {
    var share = WebDAVShare("/srv/files")
    share.mounts = [.init("/team", folder: "/srv/team")]
    return share
}

func setRules() -> WebDAVShare {
    var share = WebDAVShare("/srv/photos")
    share.rules.allowedExtensions = ["jpg", "png"]
    share.rules.allowsHiddenItems = false
    share.rules.macMetadata = .aside
    return share
}

func setHooks() -> WebDAVShare {
    var share = WebDAVShare("/srv/files")
    share.hooks.allows = { action in
        guard let content = action.content else { return action.kind != .delete }
        let start = try? await content.bytes(count: 2)
        return start != Array("MZ".utf8)
    }
    share.hooks.completed = { action in print(action.kind, action.filePath) }
    return share
}

/// Lets each account change the folder with its name, and everyone see the others.
struct OwnFolders: AccessPolicy {
    func view(of principal: Principal) -> any AccessView { OwnFolder(name: principal.name) }
}

struct OwnFolder: AccessView {
    let name: String?

    func rights(at path: ResourcePath) -> Rights {
        guard let name, let folder = path.segments.first else { return .view }
        return folder.elementsEqual(name.utf8) ? .edit : .view
    }

    func rightsThroughout(_ path: ResourcePath) -> Rights { rights(at: path) }
    func leadsToRights(_ path: ResourcePath) -> Bool { path.isRoot }
}

func setAccess() -> WebDAVShare {
    var share = WebDAVShare("/srv/files")
    share.access = OwnFolders()
    return share
}

func shareWithAccounts() async throws {
    var configuration = Configuration()
    configuration.accounts = [
        .init(name: "anna", password: "a long password"), .init(name: "bo", password: "another password"),
    ]
    var share = WebDAVShare("/srv/files")
    share.hooks.allows = { action in action.kind != .delete || action.principal == "anna" }
    share.hooks.completed = { action in print(action.principal ?? "-", action.kind, action.path) }
    let server = try WebServer(share, configuration: configuration)
    try await server.run { print("Sharing at \($0)") }
}

func configure() -> Configuration {
    var configuration = Configuration()
    configuration.hosts = ["0.0.0.0", "::"]
    configuration.port = 0
    configuration.accounts = [.init(name: "anna", password: "a long password")]
    configuration.middleware = [Timing()]
    configuration.cors = CORS(origins: ["https://app.example"])
    return configuration
}

/// Adds the response time to each response.
struct Timing: Middleware {
    func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let start = ContinuousClock.now
        return try next.respond(to: request).map { response in
            var response = response
            let duration = start.duration(to: .now)
            response.fields.append(named: "Server-Timing", "handler;dur=\(duration / .milliseconds(1))")
            return response
        }
    }
}

/// Refuses requests without the key.
struct RequireKey: Middleware {
    let key: String

    func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard request.fields["X-Api-Key"] == key else { throw HTTPError(.unauthorized, "Missing key.") }
        return try next.respond(to: request)
    }
}

func secure(_ configuration: inout Configuration) {
    configuration.tls = .init(.files(certificate: "/etc/davit/cert.pem", key: "/etc/davit/key.pem"))
}

func trustProxies(_ configuration: inout Configuration) {
    configuration.publicURLs = ["https://files.example.com"]
    configuration.proxies.trusted = ["127.0.0.1", "10.0.0.0/24"]
}

func showClient(_ routes: inout Routes) {
    routes.get("/client") { request in
        let scheme = request.isSecure ? "https" : "http"
        let host = request.host.map { "\($0)" } ?? "localhost"
        return .text("\(request.peerAddress) requested \(scheme)://\(host)\n")
    }
}

func startAndStop(_ server: WebServer) async throws {
    let addresses = try server.start()
    print("port \(addresses[0].port), \(server.url ?? "")")
    await server.stop()
}

/// Returns a greeting and logs each visitor.
struct Welcome: Mountable {
    let text: String

    func handler(in environment: ServerEnvironment) throws -> any Handler {
        let (log, text) = (environment.log, text)
        return Router { routes in
            routes.get("/") { request in
                log(.info, "request received", ["from": request.peerAddress])
                return .text(text)
            }
        }
    }
}
