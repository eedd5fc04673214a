import Davit
import DavitJSON
import Synchronization

struct Note: Codable {
    var text: String
    var isDone: Bool?
}

/// A JSON API for notes that are kept in memory: `JSONAPI [PORT]`.
@main struct JSONAPI {
    static let notes = Mutex<[String: Note]>([:])

    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.stopsOnSignals = true

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/notes") { _ in try .json(notes.withLock { $0 }) }
            routes.post("/notes", body: .json(Note.self)) { _, note in
                let number = notes.withLock { notes in
                    notes["\(notes.count + 1)"] = note
                    return notes.count
                }
                var response = try HTTPResponse.json(note, status: .created)
                response.fields[.location] = "/notes/\(number)"
                return response
            }
            routes.get("/notes/{number}") { request in
                guard let note = notes.withLock({ $0[request.parameters["number"] ?? ""] }) else {
                    throw HTTPError(.notFound, "Note not found.")
                }
                return try .json(note)
            }
        }
        try await server.run { print("Open \($0)notes") }
    }
}
