import Davit

/// Counts the visits of each browser with a cookie, and prints each request: `Visits [PORT]`.
@main struct Visits {
    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.middleware = [RequestLog()]
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { request in
                let visits = (request.cookies["visits"].flatMap { UInt32($0) } ?? 0) &+ 1
                var response = HTTPResponse.text("Visit \(visits)\n")
                response.setCookie(Cookie(name: "visits", value: "\(visits)", maxAgeSeconds: 86_400))
                return response
            }
            routes.get("/home") { _ in .redirect(to: "/") }
            routes.fallback { request in
                .template("<h1>Not found: %path%</h1>\n", ["path": .text(request.path)], status: .notFound)
            }
        }
        try await server.run { print("Open \($0)") }
    }
}

/// Prints the status and the duration of each request.
struct RequestLog: Middleware {
    func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let (start, line) = (ContinuousClock.now, "\(request.method) \(request.path)")
        return try next.respond(to: request).map { response in
            print("\(line): \(response.status.code) in \(start.duration(to: .now))")
            return response
        }
    }
}
