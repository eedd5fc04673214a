internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import Synchronization

/// The bytes of one upload, while requests are about it.
///
/// Of several requests about one upload the newest has its turn, and the older ones have lost theirs: nothing of what
/// they still receive is written (draft §4.6). Calls block, but for those that say otherwise.
final class OpenUpload: Sendable {
    /// The right to write, until somebody else takes it.
    struct Turn: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var content: (any UploadContent)?
        var turn: UInt64 = 0
        /// Cuts off the request whose turn it is.
        var cutOff: (@Sendable () -> Void)?
        /// From where on the bytes do not count as long as their digest has not been compared.
        var unverifiedFrom: Int64?
        /// What runs along.
        var digests: UploadDigests?
        /// The same as of ``unverifiedFrom``.
        var verifiedDigests: UploadDigests?
        /// The bytes are on their way to their name.
        var isEnding = false
    }

    let id: String
    private let state = Mutex(State())

    init(_ id: String) { self.id = id }

    /// Whether something is known that is worth more than the memory it takes. Does not wait long.
    var keepsDigest: Bool { state.withLock { $0.digests != nil } }

    func close() { state.withLock { $0.content = nil } }

    /// Takes the turn: whoever writes now stops, and what of it was not compared with its digest is gone.
    ///
    /// - Parameters:
    ///   - cutOff: ends the request that has the turn, when it loses it.
    ///   - open: opens the bytes, if they are not open.
    /// - Returns: the turn, and how many bytes there are.
    /// - Throws: 503 while the upload ends.
    func takeTurn(
        cutOff: (@Sendable () -> Void)?, _ open: () throws(WebDAVError) -> any UploadContent
    ) throws(WebDAVError) -> (turn: Turn, offset: Int64) {
        let (result, older) = try state.withLock { (state) throws(WebDAVError) in
            if state.isEnding { throw .busy }
            state.turn += 1
            let older = state.cutOff
            state.cutOff = cutOff
            let turn = Turn(number: state.turn)
            let result = Result { () throws(WebDAVError) in
                let content: any UploadContent
                if let known = state.content { content = known } else { content = try open() }
                state.content = content
                try Self.dropUnverified(&state)
                // They have seen what is gone.
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

    /// Runs `body` with the bytes, if it still is their turn.
    /// - Throws: 409 if it is not.
    func withContent<T>(
        _ turn: Turn, _ body: (any UploadContent) throws(WebDAVError) -> T
    ) throws(WebDAVError) -> T {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            return try body(content)
        }
    }

    /// A newer request is about the same upload.
    static let superseded = WebDAVError(.conflict)

    /// From here on bytes count only after ``keepVerified(_:)``.
    /// - Parameter record: says so in the row, before anybody else can take the turn.
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

    /// The digest was right.
    func keepVerified(_ turn: Turn) throws(WebDAVError) {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number else { throw Self.superseded }
            state.unverifiedFrom = nil
            state.verifiedDigests = nil
        }
    }

    /// Ends the turn; what was not verified is gone.
    /// - Parameter record: writes how many bytes there are, before anybody else can take the turn: a row that came late
    ///   would say less than what the next one was told.
    /// - Returns: how many bytes there are; nil if somebody else has taken the turn.
    func end(
        _ turn: Turn, _ record: (Int64) throws(WebDAVError) -> Void
    ) throws(WebDAVError) -> Int64? {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { return nil }
            state.cutOff = nil
            try Self.dropUnverified(&state)
            try storing { () throws(StoreError) in try content.sync() }
            try record(content.length)
            return content.length
        }
    }

    /// Appends what was received.
    ///
    /// - Parameters:
    ///   - wait: with `never`, `wouldBlock` where it would have to wait for anything.
    ///   - check: looks at the length that it would then have.
    func append(
        _ buffer: IOBuffer, _ turn: Turn, _ wait: Wait, check: (Int64) throws(WebDAVError) -> Void
    ) throws(WebDAVError) {
        func append(_ state: inout State) throws(WebDAVError) {
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            // It takes as long as a write to a disk, so that the event loop must not do it.
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

    // MARK: The digest of all

    /// Lets digests run along from the first byte on, so that the bytes need not be read again.
    func beginDigests(_ algorithms: [DigestAlgorithm]) {
        state.withLock { state in
            guard state.content?.length == 0, state.digests == nil else { return }
            state.digests = UploadDigests(algorithms)
        }
    }

    /// Begins the end: from here on nobody else gets the turn, so that nothing is written to what gets its name. It stays
    /// so if the end comes.
    func beginEnd(_ turn: Turn) throws(WebDAVError) -> Ending {
        try state.withLock { (state) throws(WebDAVError) in
            guard state.turn == turn.number, let content = state.content else { throw Self.superseded }
            state.isEnding = true
            return Ending(content: content, digests: state.digests)
        }
    }

    /// It was refused. Does nothing to the end that somebody else has begun since.
    func giveUpEnd(_ turn: Turn) {
        state.withLock { state in
            if state.turn == turn.number { state.isEnding = false }
        }
    }

    /// The bytes of an upload that ends.
    struct Ending: Sendable {
        let content: any UploadContent
        fileprivate let digests: UploadDigests?

        /// A digest of all of the bytes, if it has run along with them.
        func digest(_ algorithm: DigestAlgorithm) -> ContentDigest? {
            digests?.length == content.length ? digests?.digest(algorithm) : nil
        }

        /// Whether the bytes are what the client has said. Reads those that no digest has run along with. Blocks.
        func isRight(_ claims: [ContentDigest]) throws(WebDAVError) -> Bool {
            // A copy: what is refused for another reason is tried again.
            let known = digests.flatMap { $0.cover(claims) ? $0.copy() : nil }
            guard let digests = known ?? UploadDigests(claims.map(\.algorithm)) else { return true }
            let buffer = IOBuffer(capacity: 1 << 20)
            while digests.length < content.length {
                buffer.removeAll()
                let count = try storing { () throws(StoreError) in
                    try content.read(at: digests.length, into: buffer)
                }
                if count == 0 { return false }
                digests.update(buffer)
            }
            return digests.match(claims)
        }
    }
}
