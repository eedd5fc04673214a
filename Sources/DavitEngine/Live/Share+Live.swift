internal import DavitStore

extension Share {
    /// Does what has to be done every few seconds while somebody is told of changes: locks end, and what changes without
    /// an event is looked at. May block.
    /// - Returns: false while nobody is.
    package func tickLive() -> Bool {
        guard let live, live.hasReaders else { return false }
        state.expireLocks(now: now())
        live.tick()
        return true
    }

    /// Has the feed hear of what happens.
    func connectLive() {
        guard let live, let journal else { return }
        journal.onChange { [weak live] last in live?.changed(last) }
        state.onLockChange { [weak live] locks in live?.locksChanged(locks) }
    }
}
