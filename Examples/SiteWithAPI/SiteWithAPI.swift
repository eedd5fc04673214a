import Davit
import Synchronization

/// A website and an API for its pages: `SiteWithAPI FOLDER [PORT]`.
@main struct SiteWithAPI {
    static let likes = Mutex<[String: Int]>([:])

    static func main() async throws {
        let arguments = CommandLine.arguments
        var configuration = Configuration()
        configuration.port = arguments.count > 2 ? UInt16(arguments[2]) ?? 8080 : 8080
        configuration.stopsOnSignals = true

        let api = Router { routes in
            routes.get("/likes/{page}") { request in
                let page = request.parameters["page"] ?? ""
                return .text("\(likes.withLock { $0[page] ?? 0 })\n")
            }
            routes.post("/likes/{page}") { request in
                let page = request.parameters["page"] ?? ""
                return .text("\(likes.withLock { likes in like(page, &likes) })\n", status: .created)
            }
            routes.fallback { _ in .text("This API has only /api/likes/PAGE.\n", status: .notFound) }
        }
        let server = try WebServer(configuration: configuration) { routes in
            routes.mount("/", StaticSite(arguments.count > 1 ? arguments[1] : "."))
            // The route added last is tried first.
            routes.mount("/api", api)
        }
        try await server.run { print("Serving the website at \($0)") }
    }

    static func like(_ page: String, _ likes: inout [String: Int]) -> Int {
        likes[page, default: 0] += 1
        return likes[page, default: 0]
    }
}
