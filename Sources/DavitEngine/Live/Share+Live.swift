internal import DavitStore

extension Share {
    /// Performs the periodic work for event streams, to be called every few seconds: expires locks, and finds
    /// changes that cause no notification. May block.
    /// - Returns: false if there are no readers.
    package func tickLive() -> Bool {
        guard let live, live.hasReaders else { return false }
        state.expireLocks(now: now())
        live.tick()
        return true
    }

    /// Subscribes the feed to changes of resources and locks.
    func connectLive() {
        guard let live, let journal else { return }
        journal.onChange { [weak live] last in live?.changed(last) }
        state.onLockChange { [weak live] locks in live?.locksChanged(locks) }
    }
}
