internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Notifies readers, which are the clients with an open event stream, of changes in a share.
///
/// One pass over the journal serves all readers. The feed is idle while there are none.
package final class ChangeEventFeed: Sendable {
    struct State {
        var readers = ChangeEventSubscribers()
        /// The changes up to this token have been passed to the readers; nil if there are no readers.
        var token: SyncToken?
        var isLooking = false
        /// Whether a notification has arrived since the pass began.
        var isDue = false
        var ticks = 0
        /// The earliest time of the next thorough pass.
        var restEnd = ContinuousClock.now
    }

    let journal: any ChangeJournal
    let shareState: any ShareState
    let now: @Sendable () -> Timestamp
    private let readerLimit: Int
    private let readerLimitPerClient: Int
    let state = Mutex(State())

    /// Creates a feed and subscribes it to changes of resources and locks.
    init(
        _ journal: any ChangeJournal, _ state: any ShareState, readerLimit: Int,
        readerLimitPerClient: Int, now: @escaping @Sendable () -> Timestamp
    ) {
        self.journal = journal
        shareState = state
        self.now = now
        self.readerLimit = readerLimit
        self.readerLimitPerClient = readerLimitPerClient
        journal.onChange { [weak self] last in self?.changed(last) }
        state.onLockChange { [weak self] locks in self?.locksChanged(locks) }
    }

    var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    /// Adds a reader.
    /// - Parameters:
    ///   - client: the client whose streams are counted.
    ///   - missing: the requested collections that do not exist.
    ///   - view: the rights that event ids refer to; see ``SyncToken/view``.
    ///   - filter: decides for each event whether the client may know of it.
    ///   - position: the position up to which the requested collections have been compared with the file
    ///     system.
    /// - Returns: the id of the reader, and the number of the last change that ``catchUp(_:_:)`` must cover if the
    ///   reader resumes; nil if there are too many readers, in total or of the client.
    func join(
        _ client: ClientKey, _ scopes: [ChangeEventScope], missing: [ChangeEventScope],
        at position: JournalPosition,
        view: UInt64? = nil, filter: EventFilter
    ) -> (id: Int, through: Int64)? {
        state.withLock { state in
            guard state.readers.count < readerLimit,
                state.readers.count(of: client) < readerLimitPerClient
            else { return nil }
            // If the journal was replaced while other readers exist, the next pass will detect the
            // replacement.
            let token = state.readers.isEmpty ? SyncToken(position) : state.token ?? SyncToken(position)
            state.token = token
            let through =
                token.journal == position.journal ? max(token.number, position.last) : position.last
            let id = state.readers.add(
                scopes, of: client, known: through, view: view, filter: filter)
            state.readers.withReader(id) { reader in
                // Send the first event id immediately.
                reader.pending.isBeat = true
                for scope in missing { reader.pending.record(gone: scope) }
            }
            return (id, through)
        }
    }

    /// Passes a resuming reader the changes that it has missed, or resets the reader if they are unknown.
    /// - Parameter changes: the changes by scope; nil if they are unknown.
    func catchUp(_ id: Int, _ changes: [(scope: ChangeEventScope, changes: [ResourceChange])]?) {
        state.withLock { state in
            state.readers.withReader(id) { reader in
                guard let changes else { return reader.pending.reset() }
                for (scope, changes) in changes {
                    for change in changes where reader.mayReport(change) {
                        reader.pending.record(change, in: scope)
                    }
                    // The journal does not record locks, so make the client query them again.
                    reader.pending.record(locksOf: scope.href)
                }
            }
        }
    }

    /// Removes a reader and ends its stream.
    /// - Parameter id: the id of a reader, which may already have been removed.
    func leave(_ id: Int) {
        let waiting = state.withLock { state in
            let waiting = state.readers.remove(id)
            if state.readers.isEmpty { state.token = nil }
            return waiting
        }
        waiting?.resume()
    }

    /// Ends the stream of a reader once its pending events have been sent.
    func end(_ id: Int) {
        let waiting = state.withLock { state in
            state.readers.withReader(id) { reader -> CheckedContinuation<Void, Never>? in
                reader.isFinished = true
                defer { reader.waiting = nil }
                return reader.waiting
            }
        }
        if let waiting, let waiting { waiting.resume() }
    }

    // MARK: Events

    /// Waits for the next events of a reader.
    /// - Returns: nil at the end of the stream.
    func next(_ id: Int) async -> [UInt8]? {
        while true {
            switch take(id) {
            case .events(let pending, let scopes, let token, let isNew):
                return pending.events(watching: scopes, knowing: token, isNew: isNew)
            case .end: return nil
            case .nothing: await wait(id)
            }
        }
    }

    private enum NextEvents {
        case events(PendingChangeEvents, watching: [ChangeEventScope], knowing: SyncToken, isNew: Bool)
        case end, nothing
    }

    private func take(_ id: Int) -> NextEvents {
        state.withLock { state in
            guard let token = state.token else { return .end }
            return state.readers.withReader(id) { reader in
                if reader.pending.isEmpty { return reader.isFinished ? .end : .nothing }
                // A reader that has just joined may be ahead of the changes passed to the other readers.
                let number = max(token.number, reader.known)
                defer {
                    reader.pending = PendingChangeEvents()
                    reader.notified = number
                }
                return .events(
                    reader.pending, watching: reader.scopes,
                    knowing: SyncToken(journal: token.journal, number: number, view: reader.view),
                    isNew: reader.notified != number)
            } ?? .end
        }
    }

    private func wait(_ id: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
                let mustWait = state.withLock { state in
                    state.readers.withReader(id) { reader in
                        guard reader.pending.isEmpty, !reader.isFinished else { return false }
                        reader.waiting = waiting
                        return true
                    } ?? false
                }
                if !mustWait { waiting.resume() }
            }
        } onCancel: {
            // The connection has been closed.
            leave(id)
        }
    }

    /// Notifies readers of locks that were created or removed. Does not block.
    func locksChanged(_ locks: [Lock]) {
        for lock in locks {
            let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                if state.readers.isEmpty { return [] }
                state.readers.record(lock)
                return state.readers.takeWoken()
            }
            for waiting in woken { waiting.resume() }
        }
    }
}
