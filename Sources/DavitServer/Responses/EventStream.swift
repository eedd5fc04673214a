public import DavitHTTP

extension HTTPResponse {
    /// Server-sent events (HTML Standard §9.2).
    ///
    /// - Parameter produce: as in ``stream(type:_:)``. A client that is gone is found out when something is written: send
    ///   an ``EventWriter/comment(_:)`` every 15 seconds or so where events are rare, which also keeps proxies from
    ///   closing the connection. When the server is to stop, the events end at once, and the task is cancelled.
    public static func events(
        _ produce: @escaping @Sendable (EventWriter) async throws -> Void
    ) -> HTTPResponse {
        var response = endlessStream(type: "text/event-stream") { writer in
            let events = EventWriter(writer)
            // The head goes out with the first bytes, and the browser waits for it.
            try await events.comment("")
            try await produce(events)
        }
        response.fields.append(.cacheControl, "no-store")
        return response
    }
}

/// Writes events to one client.
public struct EventWriter: Sendable {
    private let writer: StreamWriter

    init(_ writer: StreamWriter) { self.writer = writer }

    /// - Parameters:
    ///   - data: any text; its lines arrive as they are, with LF between them.
    ///   - event: the name scripts listen to; `message` where nil.
    ///   - id: what the browser sends as `Last-Event-ID` when it connects again.
    ///   - retry: how long the browser waits before it connects again.
    /// - Throws: `CancellationError` if the client is gone.
    public func send(
        _ data: String, event: String? = nil, id: String? = nil, retry: Duration? = nil
    ) async throws {
        try await writer.write(Self.encode(data, event: event, id: id, retry: retry))
    }

    /// A line that the browser ignores.
    /// - Throws: `CancellationError` if the client is gone.
    public func comment(_ text: String) async throws {
        var bytes: [UInt8] = []
        Self.appendLines(of: text, name: "", to: &bytes)
        bytes.append(10)
        try await writer.write(bytes)
    }

    package static func encode(
        _ data: String, event: String?, id: String?, retry: Duration?
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        if let event { appendLine(event, name: "event", to: &bytes) }
        if let id { appendLine(id, name: "id", to: &bytes) }
        if let retry {
            // At most about 300,000 years.
            let limit = Duration.seconds(Int64.max / 1_000_000)
            let (seconds, attoseconds) = min(limit, max(.zero, retry)).components
            appendLine(
                String(seconds * 1000 + attoseconds / 1_000_000_000_000_000), name: "retry", to: &bytes)
        }
        appendLines(of: data, name: "data", to: &bytes)
        bytes.append(10)
        return bytes
    }

    /// A value that has one line; line ends in it, and NUL, which would make browsers drop an id, are left out.
    private static func appendLine(_ text: String, name: StaticString, to bytes: inout [UInt8]) {
        bytes.append(name)
        bytes.append(": ")
        bytes.append(contentsOf: text.utf8.filter { $0 != 10 && $0 != 13 && $0 != 0 })
        bytes.append(10)
    }

    /// One line for each line of the text; CR, LF and CRLF end lines.
    private static func appendLines(of text: String, name: StaticString, to bytes: inout [UInt8]) {
        bytes.append(name)
        bytes.append(": ")
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte == 13 || byte == 10 && previous != 13 {
                bytes.append(10)
                bytes.append(name)
                bytes.append(": ")
            } else if byte != 10 {
                bytes.append(byte)
            }
            previous = byte
        }
        bytes.append(10)
    }
}
