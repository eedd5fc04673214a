import Davit

/// Returns a greeting: `Hello [PORT]`.
@main struct Hello {
    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in .text("Hello, world!\n") }
            routes.get("/hello") { request in
                .template("<p>Hello, %name%!</p>\n", ["name": .text(request.query["name"] ?? "you")])
            }
            routes.get("/hello/{name}") { request in
                .text("Hello, \(request.parameters["name"] ?? "you")!\n")
            }
        }
        try await server.run { print("Open \($0)hello?name=Anna") }
    }
}
