public import DavitHTTP

extension HTTPResponse {
    /// Returns a response with server-sent events (HTML Standard §9.2).
    ///
    /// - Parameter produce: writes the events, as in ``stream(type:_:)``. A client that disappears
    ///   without closing the connection is detected only when something is written: if events are rare, send
    ///   an ``EventWriter/comment(_:)`` about every 15 seconds, which also keeps proxies from closing the
    ///   connection. When the server stops, the stream ends immediately and the task is cancelled.
    public static func events(
        _ produce: @escaping @Sendable (EventWriter) async throws -> Void
    ) -> HTTPResponse {
        var response = endlessStream(type: "text/event-stream") { writer in
            let events = EventWriter(writer)
            // The head is sent with the first bytes of content, and the browser waits for the head.
            try await events.comment("")
            try await produce(events)
        }
        response.fields.append(.cacheControl, "no-store")
        return response
    }
}

/// Writes server-sent events to one client.
public struct EventWriter: Sendable {
    private let writer: StreamWriter

    init(_ writer: StreamWriter) { self.writer = writer }

    /// Sends an event.
    /// - Parameters:
    ///   - data: any text; its lines arrive unchanged, separated by LF.
    ///   - event: the event name that scripts listen for; nil for the default, `message`.
    ///   - id: the ID that the browser sends as `Last-Event-ID` when it reconnects.
    ///   - retry: how long the browser waits before it reconnects.
    /// - Throws: `CancellationError` if the client has disconnected or the server is stopping.
    public func send(
        _ data: String, event: String? = nil, id: String? = nil, retry: Duration? = nil
    ) async throws {
        try await writer.write(Self.encode(data, event: event, id: id, retry: retry))
    }

    /// Sends a comment, which browsers ignore.
    /// - Throws: `CancellationError` if the client has disconnected or the server is stopping.
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
            // Clamp to about 300,000 years, so that the number of milliseconds does not overflow.
            let limit = Duration.seconds(Int64.max / 1_000_000)
            let (seconds, attoseconds) = min(limit, max(.zero, retry)).components
            appendLine(
                String(seconds * 1000 + attoseconds / 1_000_000_000_000_000), name: "retry", to: &bytes)
        }
        appendLines(of: data, name: "data", to: &bytes)
        bytes.append(10)
        return bytes
    }

    /// Appends a single-line field. Removes line terminators, and NUL, because browsers ignore an ID that
    /// contains it.
    private static func appendLine(_ text: String, name: StaticString, to bytes: inout [UInt8]) {
        bytes.append(name)
        bytes.append(": ")
        bytes.append(contentsOf: text.utf8.filter { $0 != 10 && $0 != 13 && $0 != 0 })
        bytes.append(10)
    }

    /// Appends one field for each line of `text`; CR, LF and CRLF terminate lines.
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
