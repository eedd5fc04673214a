import Davit

/// The server for general.sh: `ClientServer FOLDER STATE-FOLDER ORIGIN [tls]`. Pages of ORIGIN may send
/// requests to the server.
@main struct ClientServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3 else { fatalError("usage: ClientServer FOLDER STATE-FOLDER ORIGIN [tls]") }
        var configuration = Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = true
        configuration.grace = .seconds(5)
        configuration.cors = CORS(origins: [arguments[3]])
        if arguments.count > 4 { configuration.tls = .init(.selfSigned()) }

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in .html(page) }
            routes.post("/echo", body: .bytes()) { request, bytes in
                .bytes(bytes, type: request.contentType?.essence ?? "application/octet-stream")
            }
            routes.post("/form", body: .form()) { _, form in
                .text(form.map { "\($0.name)=\($0.value)" }.joined(separator: "\n"))
            }
            routes.post("/upload", body: .multipart()) { _, form in
                var lines = form.fields.map { "\($0.name)=\($0.value)" }
                lines += form.files.map { "\($0.name): \($0.fileName), \($0.file.length) bytes" }
                return .text(lines.joined(separator: "\n"))
            }
            routes.get("/301") { _ in .redirect(to: "/302", .movedPermanently) }
            routes.get("/302") { _ in .redirect(to: "/rows?count=1", .found) }
            routes.post("/303") { _ in .redirect(to: "/rows?count=1") }
            routes.post("/307") { _ in .redirect(to: "/308", .temporary) }
            routes.post("/308") { _ in .redirect(to: "/echo", .permanent) }
            routes.get("/rows") { request in
                let count = request.query["count"].flatMap { UInt32($0) } ?? 10
                return .stream(type: "text/plain") { writer in
                    for row in 0..<count { try await writer.write("row \(row)\n") }
                }
            }
            // Sends three events and ends; a client that reconnects gets the next three.
            routes.get("/events") { request in
                let seen = request.fields["Last-Event-ID"].flatMap { UInt32($0) } ?? 0
                return .events { events in
                    for number in Int(seen)..<Int(seen) + 3 {
                        try await events.send(
                            "event \(number)\nöf two lines", id: "\(number + 1)", retry: .milliseconds(1))
                    }
                }
            }
            routes.mount("/files", WebDAVShare(arguments[1], stateFolder: arguments[2]))
        }
        try await server.run { print("ready at \($0)") }
    }

    static let page = """
        <!DOCTYPE html>
        <html lang="en"><meta charset="utf-8"><title>Clients</title><link rel="icon" href="data:,">
        <form id="plain" method="post" action="/form"><input name="text"><button>Send</button></form>
        <form id="files" method="post" action="/upload" enctype="multipart/form-data">
        <input name="text"><input type="file" name="file" multiple><button>Send</button></form></html>
        """
}
