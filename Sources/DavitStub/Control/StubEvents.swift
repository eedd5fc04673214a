internal import DavitHTTP
internal import DavitServer

/// The server-sent events of the API.
enum StubEvents {
    /// The number of events that wait for a slow client; older ones are dropped, and the client asks for them.
    private static let bufferCount = 256

    /// Returns an endless stream of events; 503 if there are too many observers.
    static func response(of log: RequestLog) -> HTTPResponse {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestLog.Event.self, bufferingPolicy: .bufferingNewest(bufferCount))
        guard let id = log.addObserver({ continuation.yield($0) }) else {
            return .problem(.serviceUnavailable, "Too many clients are watching.")
        }
        continuation.onTermination = { _ in log.removeObserver(id) }
        return .events { events in
            defer { continuation.finish() }
            for await event in stream {
                switch event {
                case .request(let request):
                    try await events.send(request.json(isComplete: false).description, event: "request")
                case .rules: try await events.send("{}", event: "rules")
                case .state: try await events.send("{}", event: "state")
                case .reset: try await events.send("{}", event: "reset")
                }
            }
        }
    }
}
