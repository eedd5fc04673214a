/// Stored content that can be sent without copying it through this process.
public protocol FileContent: AnyObject, Sendable {
    /// An open, readable descriptor; valid as long as the object lives.
    var descriptor: Int32 { get }
    /// Bytes in the content when it was opened; does not change afterwards.
    var length: Int64 { get }
    /// Names the volume, so that what it cannot do is found out once; 0 if it has no name.
    var volume: UInt64 { get }
}

extension FileContent {
    public var volume: UInt64 { 0 }
}

/// Content that is made while it is sent. Used by one task at a time.
public protocol BodyStream: AnyObject {
    /// Appends at least one byte to `buffer`, or nothing at the end of the content.
    ///
    /// The next call comes when the bytes are on their way: the socket is the queue.
    /// - Throws: when the content cannot be finished; the connection is then cut, so that the peer sees it.
    func next(into buffer: IOBuffer) async throws(HTTPError)
    /// True for content whose pieces somebody waits for, like events: each goes out when it is made, and the head
    /// with the first. Else the connection may gather some, so that it can tell the length of what is short.
    var isLive: Bool { get }
    /// Bytes of the whole content, where they are known before it is made; else nil. Content that turns out longer or
    /// shorter is cut off with its connection, so that the peer sees it.
    var length: Int64? { get }
    /// Bytes that the last piece was made of, where that took longer than to send it; else 0. The connection gives
    /// others their turn accordingly, and does not wait long for the end of what is short.
    var effortBytes: Int { get }
    /// Called once before the first ``next(into:)`` of live content, with where the connection runs: tasks that make
    /// the content belong there, so that a piece needs no hop and no thread of the global pool.
    func begin(on executor: any TaskExecutor)
    /// Called when the connection is to end after this response, also more than once, and where ``next(into:)`` waits:
    /// live content that would go on for ever ends as soon as it can, and all other content goes on to its end.
    func wrapUp()
}

extension BodyStream {
    public var isLive: Bool { false }
    public var length: Int64? { nil }
    public var effortBytes: Int { 0 }
    public func begin(on executor: any TaskExecutor) {}
    public func wrapUp() {}
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
    /// Content that is made while it is sent, mostly of unknown length.
    case stream(any BodyStream)

    /// A piece of content.
    public enum Segment: Sendable {
        /// A piece in memory.
        case bytes([UInt8])
        /// `length` bytes of the file, from `offset` on.
        case file(offset: Int64, length: Int64)
    }

    /// Bytes of content, or nil where it is not known before the end.
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
        }
    }
}

/// The content of a request, read once, from its connection. Nothing is read ahead of the handler.
public protocol RequestBody: AnyObject {
    /// False when the head announced no content: neither Transfer-Encoding nor a Content-Length over 0.
    var isPresent: Bool { get }
    /// Content-Length, or nil for chunked content.
    var declaredLength: Int64? { get }
    /// All of the content if it is here already: a short one that came with the head. Empty if there is none.
    ///
    /// Nothing is taken: ``read(into:)`` still gives it. Nil also after some of it was read. One copy.
    var arrived: [UInt8]? { get }
    /// Reads more content behind what `buffer` holds; at least one byte unless the content ended.
    ///
    /// The first call answers `Expect: 100-continue`.
    /// - Returns: how many bytes were read; 0 at the end of the content.
    /// - Throws: 400 for broken chunks, 408 for a body that comes too slowly, ``HTTPError/disconnected``.
    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int
    /// Sends a response in front of the final one (RFC 9110 §15.2) over the connection that the content comes from: at
    /// once, before or between the calls of ``read(into:)``. It does not answer `Expect: 100-continue`.
    ///
    /// Nothing is sent to a client of HTTP/1.0, with a status that is none of 102 to 199, after the final
    /// response has begun, and where there is no connection.
    /// - Throws: ``HTTPError/disconnected``.
    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError)
    /// Cuts the connection that the content comes over, from any thread, if it is still being read then: for who learns that
    /// its sender has given it up and goes on elsewhere. Nil where there is no connection.
    var cutOff: (@Sendable () -> Void)? { get }
}

extension RequestBody {
    public var arrived: [UInt8]? { isPresent ? nil : [] }
    public func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {}
    public var cutOff: (@Sendable () -> Void)? { nil }
}

/// The content of a request that has none.
public final class EmptyRequestBody: RequestBody, Sendable {
    package static let shared = EmptyRequestBody()

    /// All such bodies are alike.
    public init() {}
    public var isPresent: Bool { false }
    public var declaredLength: Int64? { 0 }
    public func read(into buffer: IOBuffer) async throws(HTTPError) -> Int { 0 }
}
