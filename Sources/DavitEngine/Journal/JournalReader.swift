internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitWebDAV

/// Reads the journal of a share.
///
/// The journal handles one call at a time. ``read(_:)`` queues calls without blocking a thread;
/// ``currentSyncTokens(at:in:_:)`` calls the journal directly and may block.
final class JournalReader: Sendable {
    private let journal: any ChangeJournal
    private let gate = AsyncSemaphore(limit: 1, waitingLimit: 1024)
    private let work: BlockingWork
    /// The maximum duration of ``compared(_:isDeep:)``.
    private let timeout: Duration

    init(_ journal: any ChangeJournal, _ work: BlockingWork, timeout: Duration) {
        self.journal = journal
        self.work = work
        self.timeout = timeout
    }

    /// Waits until the journal contains all changes in a collection that were made before this call.
    ///
    /// Works in short steps, between which other requests can use the threads and the journal.
    /// - Parameter isDeep: Whether subcollections are included.
    /// - Throws: 503 with Retry-After if this takes longer than the configured limit, or if the client disconnects.
    func compared(
        _ path: ResourcePath, isDeep: Bool
    ) async throws(WebDAVError) -> JournalPosition {
        let pass = JournalPass(path, isDeep: isDeep)
        let deadline = ContinuousClock.now + timeout
        while true {
            let position = try await read { journal throws(JournalError) in
                try journal.advance(pass)
            }
            if let position { return position }
            guard !Task.isCancelled, ContinuousClock.now < deadline else { throw .notCompared }
        }
    }

    /// Runs `body` on another thread, while no other call of this method is running.
    /// - Throws: 503 if too many calls are waiting; the error for the `JournalError` that `body` throws.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (any ChangeJournal) throws(JournalError) -> T
    ) async throws(WebDAVError) -> T {
        guard await gate.enter() else { throw .busy }
        defer { gate.leave() }
        let journal = journal
        return try await work.runRepeatedly { () throws(WebDAVError) in
            do throws(JournalError) { return try body(journal) } catch { throw WebDAVError(journal: error) }
        }
    }

    /// Returns the sync tokens in `If` that match the current state of a collection (RFC 6578 §5), because nothing below
    /// it has changed since they were issued.
    ///
    /// - Parameters:
    ///   - path: the canonical path.
    ///   - view: see ``SyncToken/view``.
    /// - Throws: `wouldBlock` if `wait` is `never`; 503 if the journal is not up to date yet.
    func currentSyncTokens(
        at path: ResourcePath, view: UInt64?, in context: RequestContext, _ wait: Wait
    ) throws(WebDAVError) -> Set<String> {
        let tokens = context.submittedTokens.compactMap { SyncToken(parsing: $0) }.filter { $0.view == view }
        if tokens.isEmpty { return [] }
        if wait == .never { throw WebDAVError(store: .wouldBlock) }
        do throws(JournalError) {
            guard let position = try journal.advance(JournalPass(path, isDeep: true)) else {
                throw .interrupted
            }
            return try Self.current(of: tokens, in: path, at: position, journal)
        } catch {
            throw WebDAVError(journal: error)
        }
    }

    /// Returns the tokens that match the state at `position`. Checks the most recent token first, and each further
    /// token only for changes up to the token checked before it, so that many tokens cost about as much as one.
    private static func current(
        of tokens: [SyncToken], in path: ResourcePath, at position: JournalPosition,
        _ journal: any ChangeJournal
    ) throws(JournalError) -> Set<String> {
        var current: Set<String> = []
        var end = position.last
        let valid = tokens.filter { $0.isWhole && $0.isValid(at: position) }
        for token in valid.sorted(by: { $0.number > $1.number }) {
            do throws(JournalError) {
                let changes = try journal.changes(
                    in: path, isDeep: true, since: token, through: end, limit: 1)
                guard changes.isEmpty else { break }
            } catch {
                // The journal has discarded changes since this token, and therefore also since all earlier tokens, so
                // that none of them matches.
                guard error == .forgotten else { throw error }
                break
            }
            current.insert(token.text)
            end = token.number
        }
        return current
    }
}
