internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Tells many readers what changes in a share, with one look at its journal for each time that something has.
///
/// It does nothing while nobody reads.
final class LiveFeed: Sendable {
    struct State {
        var readers = LiveReaders()
        /// All up to it was told; nil while nobody reads.
        var token: SyncToken?
        var isLooking = false
        /// Something has happened since the look began.
        var isDue = false
        var ticks = 0
        /// No thorough look before this.
        var restEnd = ContinuousClock.now
    }

    let journal: any ChangeJournal
    private let readerLimit: Int
    let state = Mutex(State())

    init(_ journal: any ChangeJournal, readerLimit: Int) {
        self.journal = journal
        self.readerLimit = readerLimit
    }

    var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    /// Begins to tell a reader of what happens.
    /// - Parameters:
    ///   - missing: what he wants to watch, and is not there.
    ///   - position: up to it, everything that he watches is compared.
    /// - Returns: nil if there are too many; else a name for him, and up to which number he has still to be told by
    ///   ``catchUp(_:_:)`` what he may want to know.
    func join(
        _ scopes: [LiveScope], missing: [LiveScope], at position: JournalPosition
    ) -> (id: Int, through: Int64)? {
        state.withLock { state in
            guard state.readers.count < readerLimit else { return nil }
            // Of others, who have come before, a journal that is not the one any more is found out with the next look.
            let token = state.readers.isEmpty ? SyncToken(position) : state.token ?? SyncToken(position)
            state.token = token
            let through =
                token.journal == position.journal ? max(token.number, position.last) : position.last
            let id = state.readers.add(scopes, known: through)
            state.readers.withReader(id) { reader in
                // He is told the first id at once.
                reader.news.isBeat = true
                for scope in missing { reader.news.note(gone: scope) }
            }
            return (id, through)
        }
    }

    /// What a new reader missed, or that he has to look for himself.
    /// - Parameter changes: by scope; nil where that is not known.
    func catchUp(_ id: Int, _ changes: [(scope: LiveScope, changes: [ResourceChange])]?) {
        state.withLock { state in
            state.readers.withReader(id) { reader in
                guard let changes else { return reader.news.reset() }
                for (scope, changes) in changes {
                    for change in changes { reader.news.note(change, in: scope) }
                    // Locks have no numbers: who was away looks at them.
                    reader.news.note(locksOf: scope.href)
                }
            }
        }
    }

    /// - Parameter id: may have left before.
    func leave(_ id: Int) {
        let waiting = state.withLock { state in
            let waiting = state.readers.remove(id)
            if state.readers.isEmpty { state.token = nil }
            return waiting
        }
        waiting?.resume()
    }

    /// Lets a reader's events end, when he has been told what is to be told.
    func end(_ id: Int) {
        let waiting = state.withLock { state in
            state.readers.withReader(id) { reader -> CheckedContinuation<Void, Never>? in
                reader.isOver = true
                defer { reader.waiting = nil }
                return reader.waiting
            }
        }
        if let waiting, let waiting { waiting.resume() }
    }

    // MARK: Telling

    /// Waits for the next events of a reader.
    /// - Returns: nil at their end.
    func next(_ id: Int) async -> [UInt8]? {
        while true {
            switch take(id) {
            case .events(let news, let scopes, let token, let isNew):
                return news.events(watching: scopes, knowing: token, isNew: isNew)
            case .end: return nil
            case .nothing: await wait(id)
            }
        }
    }

    private enum Taken {
        case events(LiveNews, watching: [LiveScope], knowing: SyncToken, isNew: Bool)
        case end, nothing
    }

    private func take(_ id: Int) -> Taken {
        state.withLock { state in
            guard let token = state.token else { return .end }
            return state.readers.withReader(id) { reader in
                if reader.news.isEmpty { return reader.isOver ? .end : .nothing }
                // What he knows from the beginning may be more than what the others were told.
                let number = max(token.number, reader.known)
                defer {
                    reader.news = LiveNews()
                    reader.told = number
                }
                return .events(
                    reader.news, watching: reader.scopes,
                    knowing: SyncToken(journal: token.journal, number: number),
                    isNew: reader.told != number)
            } ?? .end
        }
    }

    private func wait(_ id: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
                let mustWait = state.withLock { state in
                    state.readers.withReader(id) { reader in
                        guard reader.news.isEmpty, !reader.isOver else { return false }
                        reader.waiting = waiting
                        return true
                    } ?? false
                }
                if !mustWait { waiting.resume() }
            }
        } onCancel: {
            // The connection is closing.
            leave(id)
        }
    }

    /// A lock has come or gone. Does not block.
    func locksChanged(_ locks: [Lock]) {
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            if state.readers.isEmpty { return [] }
            for lock in locks { state.readers.note(lock) }
            return state.readers.takeWoken()
        }
        for waiting in woken { waiting.resume() }
    }
}
