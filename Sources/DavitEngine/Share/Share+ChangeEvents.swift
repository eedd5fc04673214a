internal import DavitStore

extension Share {
    /// Performs the periodic work for event streams, to be called every few seconds: expires locks, and finds
    /// changes that cause no notification. May block.
    /// - Returns: false if there are no readers.
    package func tickChangeEvents() -> Bool {
        guard let changeEvents, changeEvents.hasReaders else { return false }
        state.expireLocks(now: now())
        changeEvents.tick()
        return true
    }

    /// Subscribes the feed to changes of resources and locks.
    func connectChangeEvents() {
        guard let changeEvents, let journal else { return }
        journal.onChange { [weak changeEvents] last in changeEvents?.changed(last) }
        state.onLockChange { [weak changeEvents] locks in changeEvents?.locksChanged(locks) }
    }
}
