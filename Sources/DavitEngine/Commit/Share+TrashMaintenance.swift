internal import DavitHTTP
internal import DavitServer
package import DavitStore

extension Share {
    /// Adds the trash entries of a change to the response, and enforces the limits of the trash.
    func finishTrash(
        kept entries: [TrashEntry], _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if entries.isEmpty { return }
        for entry in entries { trashMaintenance.recordUnmeasured(entry) }
        // Collections are measured later, in the background. Until then, they do not count toward the size
        // limit.
        guard isTrashTooLarge else { return response.addRestoreHint(kept: entries) }
        let state = state
        let left = await work.cleanUpTree(for: context.request.client) {
            self.trimTrash()
            return entries.filter { (try? state.trashEntry($0.id)) != nil }
        }
        response.addRestoreHint(kept: left ?? [])
    }

    /// Same as the other overload, for one entry or none.
    func finishTrash(
        kept entry: TrashEntry?, _ response: inout HTTPResponse, for context: RequestContext
    ) async {
        if let entry { await finishTrash(kept: [entry], &response, for: context) }
    }

    private var isTrashTooLarge: Bool {
        guard let limit = configuration.trash?.bytes else { return false }
        return state.trashTotals.bytes > limit
    }

    /// Measures new entries in the trash and removes those that exceed its limits. May block, for as long as
    /// the removal of many files takes.
    package func maintainTrash() {
        guard configuration.trash != nil else { return }
        measureTrash()
        if isTrashTooLarge || trashMaintenance.isDue(now: now()) { trimTrash() }
    }

    func measureTrash() {
        for id in trashMaintenance.takeUnmeasured() {
            guard let entry = try? state.trashEntry(id), entry.length == nil else { continue }
            let isDone =
                (try? resources.measure(entry.location)).map { length in
                    withTrashed(entry) { entry in
                        entry.length != nil
                            || (try? state.commit([.measureTrash(entry, length: length)])) != nil
                    }
                } ?? false
            // Another request holds a path lock on the entry.
            if !isDone { trashMaintenance.recordUnmeasured(entry) }
        }
    }

    /// Purges the oldest entries until the rest is within the limits of size and age.
    func trimTrash() {
        guard let limits = configuration.trash else { return }
        let end = now().subtracting(days: limits.days)
        purge { entry in entry.deleted < end || self.isTrashTooLarge }
    }

    /// Purges entries, oldest first, until `isWanted` returns false. Keeps entries that another request is
    /// about to restore, and skips entries whose time is in the future because of a wrong clock.
    /// - Returns: The number of purged entries.
    @discardableResult
    package func purge(while isWanted: (TrashEntry) -> Bool) -> Int {
        var count = 0
        let now = now()
        do throws(StateError) {
            try state.forEachTrashEntry { entry in
                guard isWanted(entry) else { return entry.deleted > now }
                if purge(entry) { count += 1 }
                return true
            }
        } catch {
            report("reading the trash failed: \(error)")
        }
        return count
    }

    /// Permanently removes the file of an entry.
    /// - Returns: false if the entry no longer exists, or another request is about to restore it.
    func purge(_ entry: TrashEntry) -> Bool {
        var tree: (any DetachedTree)?
        let isDone = withTrashed(entry) { entry in
            do throws(StoreError) {
                tree = try takeOut(entry)
                return true
            } catch {
                report("removing from the trash failed: \(error)")
                return false
            }
        }
        _ = tree?.destroy()
        return isDone
    }

    /// Hides the file of an entry and drops the entry. If a crash prevents the removal of the file, the file
    /// is removed later as a leftover.
    ///
    /// The caller must hold the path lock on the file's location in the trash.
    func takeOut(_ entry: TrashEntry) throws(StoreError) -> (any DetachedTree)? {
        let exists = try resources.identity(at: entry.location) == entry.identity
        let tree = exists ? try stored.detach(entry.location) : nil
        do throws(StoreError) { try record([.removeRows(under: entry.location), .dropTrash(entry)]) } catch {
            try? tree?.restore()
            throw error
        }
        versions.forget(entry.path)
        return tree
    }

    /// Returns the path locks needed to change an entry: exclusive for its location in the trash, shared for
    /// its original path. An entry is committed before its file is moved; until then, the change that moves
    /// the file holds a lock on the original path.
    static func claims(on entry: TrashEntry) -> [PathLockRequest] {
        [
            PathLockRequest(path: entry.location, mode: .exclusive),
            PathLockRequest(path: entry.path, mode: .shared),
        ]
    }

    /// Runs `body` with the current entry, unless the entry no longer exists or its path locks are held by
    /// another change.
    @discardableResult
    private func withTrashed(_ entry: TrashEntry, _ body: (TrashEntry) -> Bool) -> Bool {
        let result = pathLocks.withPathLockIfFree(Self.claims(on: entry)) { () -> Bool? in
            guard let current = try? state.trashEntry(entry.id) else { return false }
            return body(current)
        }
        return result ?? false
    }
}
