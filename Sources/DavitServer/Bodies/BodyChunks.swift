public import DavitHTTP

/// The content of a request as a sequence of pieces, at least one byte each; it can be gone through once.
///
/// Nothing is read ahead: as long as the next piece is not asked for, the client waits. Pieces must be asked for on
/// the task that got the request.
public struct BodyChunks: AsyncSequence {
    public typealias Element = [UInt8]
    public typealias Failure = HTTPError

    /// How much is read at a time where pieces go to a file.
    static let bufferBytes = 1 << 20
    /// What a request may keep in memory before a file is made.
    static let memoryBytes = 256 << 10

    private let body: any RequestBody

    init(_ body: any RequestBody) { self.body = body }

    public func makeAsyncIterator() -> Iterator { Iterator(body) }

    /// Reads a piece each time it is asked.
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
