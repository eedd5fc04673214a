import Davit

// The code of docs/embedding.md that is not part of another example. It is compiled but not run.

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
