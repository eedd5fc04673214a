import Davit
import Synchronization

/// A guest book that is kept in memory: `Forms [PORT]`.
@main struct Forms {
    static let guests = Mutex<[String]>([])
    static let page = """
        <!DOCTYPE html>
        <html lang="en"><meta charset="utf-8"><title>Guest book</title>
        <form method="post" action="/"><input name="name" required> <button>Sign</button></form>
        <p>Guests: %guests%</p></html>

        """

    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in
                .template(page, ["guests": .text(guests.withLock { $0.joined(separator: ", ") })])
            }
            routes.post("/", body: .form()) { _, form in
                guard let name = form["name"], !name.isEmpty else {
                    throw HTTPError(.badRequest, "Missing name.")
                }
                guests.withLock { $0.append(name) }
                return .redirect(to: "/")
            }
        }
        try await server.run { print("Sign the guest book at \($0)") }
    }
}
