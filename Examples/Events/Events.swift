import Davit

/// Serves a page with a counter that server-sent events update: `Events [PORT]`.
@main struct Events {
    static let page = """
        <!DOCTYPE html>
        <html lang="en"><meta charset="utf-8"><title>Events</title><output></output>
        <script>
        new EventSource("/count").onmessage = event => document.querySelector("output").value = event.data
        </script></html>

        """

    static func main() async throws {
        var configuration = Configuration()
        configuration.port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        configuration.stopsOnSignals = true
        configuration.grace = .seconds(1)

        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in .html(page) }
            routes.get("/count") { request in
                // A browser that reconnects sends the last event that it received.
                let seen = request.fields["Last-Event-ID"].flatMap { UInt32($0) } ?? 0
                return .events { events in
                    for number in (Int(seen) + 1)... {
                        try await events.send("\(number)", id: "\(number)")
                        try await Task.sleep(for: .seconds(1))
                    }
                }
            }
        }
        try await server.run { print("Open \($0)") }
    }
}
