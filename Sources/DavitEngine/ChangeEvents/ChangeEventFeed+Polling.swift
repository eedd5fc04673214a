internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Reads changes from the journal and passes them to the readers.
///
/// Only one pass runs at a time. A notification that arrives during a pass sets a flag, and the thread that runs the
/// pass then repeats it. Changes that the pass itself finds also cause notifications.
extension ChangeEventFeed {
    /// The maximum number of changes requested from the journal at a time.
    private static let pieceChanges = 256
    /// The maximum number of readers and changes, multiplied, that are processed while the readers are locked, because
    /// event loops may wait for them. One change is always processed for all readers.
    private static let pieceChecks = 512
    /// The maximum number of steps in which a pass brings the journal up to date; the next pass continues.
    private static let stepLimit = 40
    /// The interval of keep-alive messages, in calls of ``tick()``; sending them detects disconnected clients.
    private static let ticksOfBeat = 3
    /// If a thorough pass takes longer than a second, the time until the next one is at least this many times its
    /// duration.
    private static let restFactor = 10

    /// Handles a notification that something in the share has changed or may have changed. May block.
    /// - Parameter last: the number of the last recorded change; nil if changes may not be recorded yet.
    func changed(_ last: Int64?) {
        let isOurs = state.withLock { state in
            guard let token = state.token else { return false }
            if let last, last <= token.number { return false }
            if state.isLooking {
                state.isDue = true
                return false
            }
            state.isLooking = true
            return true
        }
        if isOurs { lookUntilDone(isThorough: false) }
    }

    /// Expires locks, and finds changes that cause no notification. Must be called every few seconds. May block.
    /// - Returns: false if there are no readers.
    package func poll() -> Bool {
        guard hasReaders else { return false }
        shareState.expireLocks(now: now())
        tick()
        return true
    }

    /// Requests keep-alive messages if they are due, and runs a thorough pass if one is due, which also finds
    /// changes that cause no notification. May block.
    private func tick() {
        let (isOurs, woken) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
            guard !state.readers.isEmpty else { return (false, []) }
            state.ticks += 1
            if state.ticks.isMultiple(of: Self.ticksOfBeat) { state.readers.forAll { $0.isBeat = true } }
            let isOurs = !state.isLooking && ContinuousClock.now >= state.restEnd
            if isOurs { state.isLooking = true }
            return (isOurs, state.readers.takeWoken())
        }
        for waiting in woken { waiting.resume() }
        guard isOurs else { return }
        let begin = ContinuousClock.now
        lookUntilDone(isThorough: true)
        let duration = ContinuousClock.now - begin
        if duration > .seconds(1) {
            state.withLock { $0.restEnd = .now + duration * Self.restFactor }
        }
    }

    private func lookUntilDone(isThorough: Bool) {
        var isThorough = isThorough
        repeat {
            state.withLock { $0.isDue = false }
            look(isThorough: isThorough)
            isThorough = false
        } while state.withLock({ state in
            state.isLooking = state.isDue
            return state.isDue
        })
    }

    private func look(isThorough: Bool) {
        let (folders, token) = state.withLock { ($0.readers.folders, $0.token) }
        guard let token else { return }
        do throws(JournalError) {
            if isThorough { try compare(folders) }
            guard let position = try advance(JournalPass(following: folders)) else { return }
            guard token.isValid(at: position) else { return reset(position) }
            do throws(JournalError) { try notify(since: token, through: position) } catch {
                guard error == .forgotten else { throw error }
                reset(position)
            }
        } catch {
            // The journal logs its errors; the next tick retries. Here, `gone` can only refer to the root.
            if error == .gone { gone(.root) }
        }
    }

    private func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        for _ in 0..<Self.stepLimit {
            if let position = try journal.advance(pass) { return position }
        }
        return nil
    }

    /// Compares the recorded state of each folder with the file system.
    private func compare(_ folders: WatchedFolders) throws(JournalError) {
        for (paths, isDeep) in [(folders.flat, false), (folders.deep, true)] {
            for path in paths {
                do throws(JournalError) { _ = try journal.advance(JournalPass(path, isDeep: isDeep)) } catch {
                    guard error == .gone else { throw error }
                    gone(path)
                }
            }
        }
    }

    private func notify(since token: SyncToken, through position: JournalPosition) throws(JournalError) {
        var known = token
        while known.number < position.last {
            let changes = try journal.changes(
                in: .root, isDeep: true, since: known, through: position.last, limit: Self.pieceChanges)
            let isLast = changes.count < Self.pieceChanges
            let number = isLast ? position.last : changes.last?.number ?? position.last
            known = SyncToken(journal: token.journal, number: number)
            var rest = changes[...]
            repeat {
                state.withLock { state in
                    let count = max(1, Self.pieceChecks / max(1, state.readers.count))
                    for change in rest.prefix(count) { state.readers.record(change) }
                    rest = rest.dropFirst(count)
                    // In the meantime, the last reader may have left, and a new reader may have joined with a later token.
                    if rest.isEmpty, let other = state.token, other.journal == known.journal,
                        other.number < known.number
                    {
                        state.token = known
                    }
                }
            } while !rest.isEmpty
            // Not before, because readers that are awake would wait for the mutex, on the event loops.
            wake()
        }
    }

    /// Resets all readers, because the journal was replaced or no longer has all changes since their last event.
    private func reset(_ position: JournalPosition) {
        record { state in
            if state.token != nil { state.token = SyncToken(position) }
            state.readers.reset(through: position.last)
        }
    }

    private func gone(_ path: ResourcePath) { record { $0.readers.record(gone: path) } }

    private func record(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        wake()
    }

    /// Wakes the readers that have pending events.
    private func wake() {
        let woken = state.withLock { $0.readers.takeWoken() }
        for waiting in woken { waiting.resume() }
    }
}
