public import DavitHTTP

/// Responses whose content is made while it is sent. Nothing is made ahead of the client.
extension HTTPResponse {
    /// From a producer that is asked for each piece.
    ///
    /// - Parameter produce: returns a piece, or nil at the end; called on the event loop, must not block. If it throws,
    ///   the connection is cut, so that the client sees that something is missing.
    public static func stream(
        type: String, pulling produce: @escaping () async throws -> [UInt8]?
    ) -> HTTPResponse {
        stream(PulledStream(produce), type: type)
    }

    /// From a producer that writes.
    ///
    /// ```swift
    /// .stream(type: "text/csv") { writer in
    ///     for row in rows { try await writer.write("\(row.name),\(row.size)\n") }
    /// }
    /// ```
    /// - Parameter produce: runs in a task of its own, on the event loop, where it must not block. The task begins with
    ///   the response and is cancelled when the client goes away. If it throws, the connection is cut.
    public static func stream(
        type: String, _ produce: @escaping @Sendable (StreamWriter) async throws -> Void
    ) -> HTTPResponse {
        stream(WrittenStream(produce), type: type)
    }

    /// The same for content that has no end of its own: it ends when the server does.
    static func endlessStream(
        type: String, _ produce: @escaping @Sendable (StreamWriter) async throws -> Void
    ) -> HTTPResponse {
        stream(WrittenStream(produce, isEndless: true), type: type)
    }

    private static func stream(_ stream: any BodyStream, type: String) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, type)
        return HTTPResponse(.ok, fields: fields, body: .stream(stream))
    }
}

/// Pieces that are asked for one by one.
private final class PulledStream: BodyStream {
    private let produce: () async throws -> [UInt8]?
    /// What did not fit into the last buffer.
    private var rest: ArraySlice<UInt8> = []

    init(_ produce: @escaping () async throws -> [UInt8]?) { self.produce = produce }

    var isLive: Bool { true }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        while rest.isEmpty {
            do {
                guard let piece = try await produce() else { return }
                rest = piece[...]
            } catch {
                throw .disconnected
            }
        }
        rest = rest.dropFirst(buffer.append(rest))
    }
}

/// Pieces that a task of its own writes.
private final class WrittenStream: BodyStream {
    private let produce: @Sendable (StreamWriter) async throws -> Void
    private let isEndless: Bool
    private let pipe = StreamPipe()
    private var task: Task<Void, Never>?
    private var executor: (any TaskExecutor)?

    init(
        _ produce: @escaping @Sendable (StreamWriter) async throws -> Void, isEndless: Bool = false
    ) {
        self.produce = produce
        self.isEndless = isEndless
    }

    deinit {
        pipe.abandon()
        task?.cancel()
    }

    var isLive: Bool { true }

    func begin(on executor: any TaskExecutor) { self.executor = executor }

    func wrapUp() {
        guard isEndless else { return }
        pipe.finish(isComplete: true)
        task?.cancel()
    }

    func next(into buffer: IOBuffer) async throws(HTTPError) {
        if task == nil {
            task = Task(executorPreference: executor) { [pipe, produce] in
                do {
                    try await produce(StreamWriter(pipe))
                    pipe.finish(isComplete: true)
                } catch {
                    pipe.finish(isComplete: false)
                }
            }
        }
        try await pipe.read(into: buffer)
    }
}

extension IOBuffer {
    /// Appends as much of `bytes` as fits, and returns how much that was.
    func append(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe append($0) }
    }
}
