public import DavitHTTP

/// Responses whose content is generated while it is sent, and only as fast as the client receives it.
extension HTTPResponse {
    /// Returns a response whose content is pulled from a producer.
    ///
    /// - Parameter produce: returns the next piece, or nil at the end. Called on the event loop and must not
    ///   block. If it throws, the connection is aborted, so that the client can detect the truncation.
    public static func stream(
        type: String, pulling produce: @escaping () async throws -> [UInt8]?
    ) -> HTTPResponse {
        stream(PulledStream(produce), type: type)
    }

    /// Returns a response whose content is written by a producer.
    ///
    /// ```swift
    /// .stream(type: "text/csv") { writer in
    ///     for row in rows { try await writer.write("\(row.name),\(row.size)\n") }
    /// }
    /// ```
    /// - Parameter produce: runs in a separate task on the event loop and must not block. The task starts
    ///   with the response and is cancelled when the client disconnects. If it throws, the connection is
    ///   aborted.
    public static func stream(
        type: String, _ produce: @escaping @Sendable (StreamWriter) async throws -> Void
    ) -> HTTPResponse {
        stream(WrittenStream(produce), type: type)
    }

    /// Like ``stream(type:_:)``, for content without an end; it ends when the server stops.
    static func endlessStream(
        type: String, _ produce: @escaping @Sendable (StreamWriter) async throws -> Void
    ) -> HTTPResponse {
        stream(WrittenStream(produce, isEndless: true), type: type)
    }

    private static func stream(_ stream: any BodyStream, type: String) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, type)
        return HTTPResponse(status: .ok, fields: fields, body: .stream(stream))
    }
}

/// A stream that pulls its pieces from a closure.
private final class PulledStream: BodyStream {
    private let produce: () async throws -> [UInt8]?
    /// The part of the last piece that did not fit into the buffer.
    private var rest: ArraySlice<UInt8> = []

    init(_ produce: @escaping () async throws -> [UInt8]?) { self.produce = produce }

    var flushesImmediately: Bool { true }

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

/// A stream whose pieces are written by a separate task.
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

    var flushesImmediately: Bool { true }

    func begin(on executor: any TaskExecutor) { self.executor = executor }

    func finishEarly() {
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
    /// Appends as much of `bytes` as fits and returns the number of bytes appended.
    func append(_ bytes: ArraySlice<UInt8>) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe append($0) }
    }
}
