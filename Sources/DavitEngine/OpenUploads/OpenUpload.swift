internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// An upload that requests are using: its content, its running digests and the right to write to it.
///
/// Of several requests for one upload, only the most recent one may write. Older ones lose their turn: bytes
/// that they receive afterwards are discarded (draft-ietf-httpbis-resumable-upload §4.6). Methods block
/// unless documented otherwise.
final class OpenUpload: Sendable {
    /// The right to write to an upload, valid until another request takes it.
    struct Turn: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var content: (any UploadContent)?
        var turn: UInt64 = 0
        /// Aborts the request that has the turn.
        var abortHandler: (@Sendable () -> Void)?
        /// Bytes from this offset on are discarded unless their digest is verified.
        var unverifiedFrom: Int64?
        /// The running digests of the received bytes.
        var digests: UploadDigests?
        /// The running digests up to ``unverifiedFrom``.
        var verifiedDigests: UploadDigests?
        /// Whether the upload is being completed.
        var isEnding = false
    }

    let id: String
    private let state = Mutex(State())

    init(_ id: String) { self.id = id }

    /// Whether the upload has running digests, and should therefore stay in memory.
    var keepsDigest: Bool { state.withLock { $0.digests != nil } }

    func close() { state.withLock { $0.content = nil } }

    /// Takes the turn: the request that is writing stops, and its unverified bytes are discarded.
    ///
    /// - Parameters:
    ///   - abortHandler: Aborts the calling request; called when another request takes the turn from it.
    ///   - open: Opens the file, if it is not open yet.
    /// - Returns: The turn, and the number of stored bytes.
    /// - Throws: 503 while the upload is being completed; any error from opening the file or from discarding
    ///   bytes.
    func takeTurn(
        abortHandler: (@Sendable () -> Void)?, _ open: () throws(WebDAVError) -> any UploadContent
    ) throws(WebDAVError) -> (turn: Turn, offset: Int64) {
        let (result, older) = try state.withLock { (state) throws(WebDAVError) in
            if state.isEnding { throw .busy }
            state.turn += 1
            let older = state.abortHandler
            state.abortHandler = abortHandler
            let turn = Turn(number: state.turn)
            let result = Result { () throws(WebDAVError) in
                let content: any UploadContent
                if let known = state.content,
                    try storing({ () throws(StoreError) in try known.takeTurn() })
                {
                    content = known
                } else {
                    content = try open()
                    if content.isShared {
                        // Another server may have replaced bytes that were not acknowledged.
                        (state.digests, state.verifiedDigests, state.unverifiedFrom) = (nil, nil, nil)
                    }
                }
                state.content = content
                try Self.dropUnverified(&state)
                // Drop digests that include discarded bytes.
                if let digests = state.digests, digests.length > content.length { state.digests = nil }
                return (turn, content.length)
            }
            return (result, older)
        }
        older?()
        return try result.get()
    }

    private static func dropUnverified(_ state: inout State) throws(WebDAVError) {
        guard let length = state.unverifiedFrom, let content = state.content else { return }
        try storing { () throws(StoreError) in try content.truncate(to: length) }
        state.unverifiedFrom = nil
        state.digests = state.verifiedDigests.take()
    }

    /// Runs `body` with the content, if the turn is still valid.
    /// - Throws: 409 if another request has taken the turn.
    func withContent<T>(
        _ turn: Turn, _ body: (any UploadContent) throws(WebDAVError) -> T
    ) throws(WebDAVError) -> T {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            return try body(content)
        }
    }

    /// 409: a more recent request has taken over the upload.
    static let superseded = WebDAVError(.conflict)

    /// Marks all bytes that are appended from now on as unverified, until ``keepVerified(_:)`` is called.
    /// - Parameter record: Stores the offset of the first unverified byte in the database row, before another
    ///   request can take the turn.
    func beginUnverified(
        _ turn: Turn, _ record: (Int64) throws(WebDAVError) -> Void
    ) throws(WebDAVError) {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            state.unverifiedFrom = content.length
            state.verifiedDigests = state.digests?.copy()
            try record(content.length)
        }
    }

    /// Marks the bytes as verified, after their digest matched.
    func keepVerified(_ turn: Turn) throws(WebDAVError) {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number else { throw Self.superseded }
            state.unverifiedFrom = nil
            state.verifiedDigests = nil
        }
    }

    /// Ends the turn and discards unverified bytes.
    /// - Parameter record: Stores the number of bytes in the database row, before another request can take
    ///   the turn. A later update could overwrite a larger number that was already reported to a client.
    /// - Returns: The number of stored bytes; nil if another request has taken the turn.
    func end(
        _ turn: Turn, _ record: (Int64) throws(WebDAVError) -> Void
    ) throws(WebDAVError) -> Int64? {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { return nil }
            state.abortHandler = nil
            try Self.dropUnverified(&state)
            try storing { () throws(StoreError) in try content.sync() }
            try record(content.length)
            return content.length
        }
    }

    /// Appends received bytes.
    ///
    /// - Parameters:
    ///   - wait: With `never`, throws `wouldBlock` if the call would have to wait.
    ///   - check: Checks the resulting length.
    func append(
        _ buffer: IOBuffer, _ turn: Turn, _ wait: Wait, check: (Int64) throws(WebDAVError) -> Void
    ) throws(WebDAVError) {
        func append(_ state: inout State) throws(WebDAVError) {
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            // Hashing takes as long as a disk write, so it must not run on the event loop.
            if state.digests != nil, wait == .never { throw WebDAVError(store: .wouldBlock) }
            try check(content.length + Int64(buffer.count))
            let offset = content.length
            try storing { () throws(StoreError) in try content.write(buffer, wait: wait) }
            if let digests = state.digests, digests.length == offset { digests.update(buffer) }
        }
        guard wait == .never else {
            return try state.withLock { (state) throws(WebDAVError) in try append(&state) }
        }
        let isDone = try state.withLockIfAvailable { (state) throws(WebDAVError) in
            try append(&state)
            return true
        }
        if isDone == nil { throw WebDAVError(store: .wouldBlock) }
    }

    // MARK: Digest of the complete content

    /// Starts computing digests, so that the bytes need not be read again. Does nothing if bytes are already
    /// stored, or if digests are already being computed.
    func beginDigests(_ algorithms: [DigestAlgorithm]) {
        state.withLock { state in
            guard !state.isEnding, state.digests == nil, state.content?.length == 0 else { return }
            state.digests = UploadDigests(algorithms)
        }
    }

    /// Begins the completion: no other request can take the turn, so no other request writes to the file. If
    /// the completion succeeds, this state is permanent.
    /// - Throws: 409 if another request has taken the turn.
    func beginEnd(_ turn: Turn) throws(WebDAVError) -> Ending {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            state.isEnding = true
            return Ending(content: content, digests: state.digests)
        }
    }

    /// Ends a completion without a published file, so that other requests can take the turn again. Does
    /// nothing if another request has already taken it.
    func giveUpEnd(_ turn: Turn) {
        state.withLock { state in
            if state.turn == turn.number { state.isEnding = false }
        }
    }

    /// The bytes of an upload that is being completed.
    struct Ending: Sendable {
        let content: any UploadContent
        fileprivate let digests: UploadDigests?

        /// Returns a digest of all bytes, if it was computed while they were received.
        func digest(_ algorithm: DigestAlgorithm) -> ContentDigest? {
            digests?.length == content.length ? digests?.digest(algorithm) : nil
        }

        /// Whether the bytes match the digests sent by the client. Reads the bytes that the running digests
        /// do not include. Blocks.
        func isRight(_ expected: [ContentDigest]) throws(WebDAVError) -> Bool {
            // Use a copy: the completion may be refused for another reason and retried.
            let known = digests.flatMap { $0.cover(expected) ? $0.copy() : nil }
            guard let digests = known ?? UploadDigests(expected.map(\.algorithm)) else { return true }
            let buffer = IOBuffer(capacity: 1 << 20)
            while digests.length < content.length {
                buffer.removeAll()
                let count = try storing { () throws(StoreError) in
                    try content.read(at: digests.length, into: buffer)
                }
                if count == 0 { return false }
                digests.update(buffer)
            }
            return digests.match(expected)
        }
    }
}
