import DavitEngine
import DavitHTTP
import DavitJournal
import DavitServer
import DavitTesting
import Testing

/// A client like a browser's EventSource: reads events in order and stores the last id.
final class EventReader {
    struct Event: Hashable {
        var name = "message"
        var lines: [String]

        init(_ name: String, _ lines: String...) {
            self.name = name
            self.lines = lines
        }

        fileprivate init() { lines = [] }
    }

    let response: HTTPResponse
    private let stream: (any BodyStream)?
    private let buffer = IOBuffer(capacity: 1 << 10)
    private var text = ""
    /// Events that arrived before the first id.
    private var early: [Event] = []
    /// The id to send as `Last-Event-ID`.
    private(set) var id = ""

    init(_ response: HTTPResponse) {
        self.response = response
        if case .stream(let stream) = response.body { self.stream = stream } else { stream = nil }
    }

    /// Returns the next block, which may be an event, without its terminator; nil at the end of the stream.
    func block() async throws -> String? {
        let stream = try #require(stream)
        while true {
            if let end = text.firstRange(of: "\n\n") {
                defer { text.removeSubrange(..<end.upperBound) }
                return String(text[..<end.lowerBound])
            }
            buffer.removeAll()
            try await stream.next(into: buffer)
            if buffer.count == 0 { return nil }
            text += unsafe buffer.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Returns the next event; nil at the end of the stream.
    func next() async throws -> Event? {
        if !early.isEmpty { return early.removeFirst() }
        while let block = try await block() {
            if let event = take(block) { return event }
        }
        return nil
    }

    /// Reads until the first id; all later changes are reported.
    func start() async throws {
        while id.isEmpty, let block = try await block() { early += take(block).map { [$0] } ?? [] }
    }

    private func take(_ block: String) -> Event? {
        var event = Event()
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 && parts[1].first == " " ? String(parts[1].dropFirst()) : ""
            switch parts[0] {
            case "event": event.name = value
            case "data": event.lines.append(value)
            case "id": id = value
            default: break
            }
        }
        return event.lines.isEmpty ? nil : event
    }

    /// Notifies the stream that the server is shutting down.
    func finishEarly() { stream?.finishEarly() }
}

extension TestShare {
    /// Creates a share with a journal that compares folders only on request, not in the background.
    static func live(_ configure: (inout ShareConfiguration) -> Void = { _ in }) throws -> TestShare {
        var options = ShareJournal.Options()
        options.walksInBackground = false
        return try TestShare(journal: options) { configuration in
            // Avoids timeouts on a busy machine.
            configuration.syncTimeout = .seconds(3600)
            configure(&configuration)
        }
    }

    /// Opens a stream of the events from now on, or of those after an id.
    func events(
        _ target: String, since id: String? = nil,
        _ client: TestClient<some Handler>? = nil as TestClient<WebDAVHandler>?
    ) async throws -> EventReader {
        let fields = id.map { [("Last-Event-ID", $0)] } ?? []
        let response: HTTPResponse
        if let client {
            response = try await client.begin("GET", target, fields)
        } else {
            response = try await self.client.begin("GET", target, fields)
        }
        let reader = EventReader(response)
        try #require(response.status == .ok)
        if id == nil { try await reader.start() }
        return reader
    }
}
