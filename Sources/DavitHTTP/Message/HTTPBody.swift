/// Stored content that, if it is a file, can be sent without copying it through this process.
public protocol FileContent: AnyObject, Sendable {
    /// An open, readable file descriptor; valid for the lifetime of the object. Negative if the content is not a file; then
    /// ``body(from:length:)`` and ``body(of:)`` return other kinds of bodies.
    var descriptor: Int32 { get }
    /// Length of the content in bytes when it was opened; constant.
    var length: Int64 { get }
    /// Identifies the volume, so that its properties, such as the lack of support for an operation, are
    /// determined only once; 0 if unknown.
    var volume: UInt64 { get }
    /// Returns a range of the content as the body of a response.
    func body(from offset: Int64, length: Int64) -> HTTPBody
    /// Returns several ranges, with the pieces between them, as the body of a response.
    func body(of segments: [HTTPBody.Segment]) -> HTTPBody
}

extension FileContent {
    /// Returns 0.
    public var volume: UInt64 { 0 }
    /// Returns a body that is sent from ``descriptor``.
    public func body(from offset: Int64, length: Int64) -> HTTPBody {
        .file(self, offset: offset, length: length)
    }
    /// Returns a body that is sent from ``descriptor``.
    public func body(of segments: [HTTPBody.Segment]) -> HTTPBody { .segments(self, segments) }
}

/// Content that is generated while it is sent. Used by one task at a time.
public protocol BodyStream: AnyObject {
    /// Appends at least one byte to `buffer`, or nothing at the end of the content.
    ///
    /// Except for the pieces that the connection collects before it sends the head, the next call is made
    /// after the bytes have been sent, so that the socket provides back-pressure.
    /// - Throws: an error if the content cannot be completed. If the head has not been sent yet, the response
    ///   is replaced by one for the error; otherwise, the connection is aborted, so that the peer can detect
    ///   the truncation.
    func next(into buffer: IOBuffer) async throws(HTTPError)
    /// Returns stored content that comes next, and continues after it; nil if ``next(into:)`` must be called. Only called for
    /// content of known length that is sent unmodified.
    /// - Throws: like ``next(into:)``.
    func nextFile() async throws(HTTPError) -> FilePiece?
    /// Whether to send each piece as soon as it is generated, as event streams require, and the head together
    /// with the first piece. If false, the connection may buffer pieces to determine the length of short
    /// content.
    var flushesImmediately: Bool { get }
    /// Length of the content in bytes if known in advance; else nil. If the generated content is longer or
    /// shorter, the connection is aborted, so that the peer can detect the error.
    var length: Int64? { get }
    /// Number of input bytes processed for the last piece if generating it costs more than sending it, as
    /// compression does; else 0. The connection uses it to divide time fairly between requests, and does not
    /// buffer such content for long.
    var effortBytes: Int { get }
    /// Called once before the first ``next(into:)`` if ``flushesImmediately`` is true, with the executor of
    /// the connection. Tasks that generate the content should run there, to avoid thread switches and the
    /// global pool.
    func begin(on executor: any TaskExecutor)
    /// Called if ``flushesImmediately`` is true and the connection is to close after this response, possibly
    /// repeatedly and while ``next(into:)`` waits. Endless content should end as soon as possible; other
    /// content must be generated completely.
    func finishEarly()
}

/// A part of stored content.
public struct FilePiece: Sendable {
    public let content: any FileContent
    /// In bytes.
    public let offset: Int64
    /// In bytes; at least 1.
    public let length: Int64

    public init(_ content: any FileContent, offset: Int64, length: Int64) {
        self.content = content
        self.offset = offset
        self.length = length
    }
}

extension BodyStream {
    public func nextFile() async throws(HTTPError) -> FilePiece? { nil }
    public var flushesImmediately: Bool { false }
    public var length: Int64? { nil }
    public var effortBytes: Int { 0 }
    public func begin(on executor: any TaskExecutor) {}
    public func finishEarly() {}
}

/// The content of a response.
public enum HTTPBody {
    /// No content.
    case empty
    /// Content in memory.
    case bytes([UInt8])
    /// `length` bytes of stored content from `offset` on.
    case file(any FileContent, offset: Int64, length: Int64)
    /// Several pieces, in order: the parts of `multipart/byteranges`.
    case segments(any FileContent, [Segment])
    /// Content that is generated while it is sent, usually of unknown length.
    case stream(any BodyStream)
    /// Content that is sent more slowly or less completely than possible, to test clients.
    case shaped(ShapedBody)

    /// A piece of content.
    public enum Segment: Sendable {
        /// A piece in memory.
        case bytes([UInt8])
        /// `length` bytes of the file, from `offset` on.
        case file(offset: Int64, length: Int64)
    }

    /// Length of the content in bytes; nil if not known in advance.
    public var length: Int64? {
        switch self {
        case .empty: return 0
        case .bytes(let bytes): return Int64(bytes.count)
        case .file(_, _, let length): return length
        case .segments(_, let segments):
            return segments.reduce(0) { sum, segment in
                switch segment {
                case .bytes(let bytes): sum + Int64(bytes.count)
                case .file(_, let length): sum + length
                }
            }
        case .stream(let stream): return stream.length
        case .shaped(let shaped): return shaped.content.length
        }
    }
}

/// The content of a request, read once from its connection. Content that does not arrive together with the
/// head is not read before the handler requests it.
public protocol RequestBody: AnyObject {
    /// Whether the head announced content, by Transfer-Encoding or a Content-Length above 0.
    var isPresent: Bool { get }
    /// The value of Content-Length; 0 if there is no content, nil if the length is unknown, as for chunked or
    /// decoded content.
    var declaredLength: Int64? { get }
    /// The complete content if it has already arrived; empty if there is none. May be nil even if all of the
    /// content has arrived, for example if it is chunked.
    ///
    /// Nil after content has been read. Each access copies the content but does not consume it:
    /// ``read(into:)`` still returns it.
    var arrived: [UInt8]? { get }
    /// Returns ``arrived`` in a new buffer, without copying it twice.
    func copyArrived() -> IOBuffer?
    /// Appends content to `buffer`: at least one byte unless the content has ended.
    ///
    /// The first call sends the response to `Expect: 100-continue`, unless content has already arrived.
    /// - Returns: the number of bytes read; 0 at the end of the content.
    /// - Throws: 400 for malformed content, 408 if the content arrives too slowly, 413 if decoded content is
    ///   too long, 431 if the trailers exceed the limits, or ``HTTPError/disconnected``; 5xx for internal errors.
    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int
    /// Sends an interim response (RFC 9110 §15.2) immediately over the connection of the request, before or
    /// between calls of ``read(into:)``. Does not count as the response to `Expect: 100-continue`.
    ///
    /// Does nothing for HTTP/1.0 clients, for a status outside 102 to 199, after the final response has
    /// begun, and without a connection.
    /// - Throws: ``HTTPError/disconnected``.
    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError)
    /// A function that aborts the connection unless the response to this request is complete; may be called
    /// from any thread. Used when the client has abandoned this upload and resumed it elsewhere. Nil without
    /// a connection.
    var abortHandler: (@Sendable () -> Void)? { get }
}

extension RequestBody {
    public var arrived: [UInt8]? { isPresent ? nil : [] }
    public func copyArrived() -> IOBuffer? {
        guard let arrived else { return nil }
        let buffer = IOBuffer(capacity: arrived.count)
        _ = buffer.append(arrived)
        return buffer
    }
    public func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {}
    public var abortHandler: (@Sendable () -> Void)? { nil }
}

/// The body of a request without content.
public final class EmptyRequestBody: RequestBody, Sendable {
    package static let shared = EmptyRequestBody()

    /// Creates an empty body.
    public init() {}
    public var isPresent: Bool { false }
    public var declaredLength: Int64? { 0 }
    public func read(into buffer: IOBuffer) async throws(HTTPError) -> Int { 0 }
}
