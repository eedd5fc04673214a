internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// Receives the content of requests.
final class ContentReceiver: Sendable {
    private let work: BlockingWork
    private let space: VolumeSpace
    /// See ``ShareConfiguration/maximumFileBytes``.
    private let maximumBytes: Int64?

    init(_ work: BlockingWork, _ space: VolumeSpace, maximumBytes: Int64?) {
        self.work = work
        self.space = space
        self.maximumBytes = maximumBytes
    }

    /// The maximum number of bytes that are buffered before they are written.
    private static let pieceBytes = 1 << 20

    /// Receives content and passes it to `take` in pieces.
    ///
    /// - Parameters:
    ///   - path: the path for which the content is received.
    ///   - expected: the length of the content in bytes, if known.
    ///   - keepsRest: whether to pass on the content received before a failure.
    ///   - take: stores a piece. It is called first on the event loop, where it must throw `wouldBlock`, with nothing
    ///     stored, if it would block; it is then called again on another thread. If it runs out of space, it is called
    ///     again after space has been freed.
    func receive(
        _ body: any RequestBody, at path: ResourcePath, expected: Int64?, keepsRest: Bool = false,
        _ take: @escaping @Sendable (IOBuffer, Wait) throws(WebDAVError) -> Void
    ) async throws(WebDAVError) {
        let buffer = IOBuffer(capacity: Int(min(max(expected ?? .max, 1), Int64(Self.pieceBytes))))
        var left = expected
        var isComplete = false
        while !isComplete {
            buffer.removeAll()
            var failure: WebDAVError?
            do throws(WebDAVError) {
                isComplete = try await Self.fill(buffer, from: body, expected: left)
            } catch {
                failure = error
            }
            if let failure, !keepsRest { throw failure }
            left = left.map { $0 - Int64(buffer.count) }
            // Nothing is read from the socket during this call, which applies back-pressure to the client.
            if buffer.count > 0 {
                try await work.attempt { wait throws(WebDAVError) in
                    try self.space.reserving(for: Int64(buffer.count), at: path, wait: wait) {
                        () throws(WebDAVError) in try take(buffer, wait)
                    }
                }
            }
            if let failure { throw failure }
        }
    }

    /// Fills the buffer, and returns whether the body has ended.
    static func fill(
        _ buffer: IOBuffer, from body: any RequestBody, expected: Int64?
    ) async throws(WebDAVError) -> Bool {
        do throws(HTTPError) {
            while buffer.freeCount > 0 && expected != Int64(buffer.count) {
                if try await body.read(into: buffer) == 0 { return true }
            }
        } catch {
            throw WebDAVError(connection: error)
        }
        return expected == Int64(buffer.count)
    }

    /// Checks the length of new content.
    /// - Parameter length: the length in bytes of the content, or of the part received so far.
    /// - Throws: 413 if the length exceeds the maximum.
    func checkLength(_ length: Int64) throws(WebDAVError) {
        if let maximumBytes, length > maximumBytes {
            throw WebDAVError(.contentTooLarge)
        }
    }
}
