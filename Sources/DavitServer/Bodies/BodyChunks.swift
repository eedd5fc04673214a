public import DavitHTTP

/// The content of a request as a sequence of non-empty pieces; it can be iterated only once.
///
/// Nothing is read ahead: the client waits until the next piece is requested. Pieces must be requested on the
/// task that handles the request.
public struct BodyChunks: AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = HTTPError

    /// Buffer size for reading content into a file.
    static let bufferBytes = 1 << 20
    /// Bytes that a request may keep in memory before a file is created.
    static let memoryBytes = 256 << 10

    private let body: any RequestBody

    init(_ body: any RequestBody) { self.body = body }

    public func makeAsyncIterator() -> Iterator { Iterator(body) }

    /// Reads the next piece of content on each call.
    public struct Iterator: AsyncIteratorProtocol {
        private let body: any RequestBody
        private let buffer = IOBuffer(capacity: 64 << 10)

        init(_ body: any RequestBody) { self.body = body }

        public mutating func next() async throws(HTTPError) -> [UInt8]? {
            try await next(isolation: #isolation)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(HTTPError) -> [UInt8]? {
            buffer.removeAll()
            guard try await body.read(into: buffer) > 0 else { return nil }
            return unsafe buffer.withBytes { unsafe Array($0) }
        }
    }
}
