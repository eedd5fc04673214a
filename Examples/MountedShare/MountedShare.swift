import Davit

/// Serves an API and a WebDAV share on a free port: `MountedShare FOLDER STATE-FOLDER`.
@main struct MountedShare {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { fatalError("usage: MountedShare FOLDER STATE-FOLDER") }
        var configuration = Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in .html("<p><a href=\"files/\">Files</a></p>") }
            routes.get("/hello") { request in .text("Hello, \(request.query["name"] ?? "world")!") }
            routes.get("/users/{id}") { request in .text("User \(request.parameters["id"] ?? "")") }
            routes.post("/note", body: .form()) { _, form in
                guard let text = form["text"] else { throw HTTPError(.badRequest, "Missing text.") }
                return .text("Noted: \(text)", status: .created)
            }
            routes.mount("/files", WebDAVShare(arguments[1], stateFolder: arguments[2]))
        }
        try await server.run { print("Sharing the files at \($0)files/") }
    }
}
