internal import DavitHTTP
internal import DavitStore

/// The rows of a tree that is hidden and may be restored in part.
struct SavedRows: Sendable {
    var records: [(path: ResourcePath, record: PropertyRecord)] = []
    var locks: [(lock: Lock, binding: Binding)] = []
}

extension Share {
    /// Returns the property records at and below a path. Needs no query if the index contains none.
    func records(
        under path: ResourcePath
    ) throws(StoreError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard state.hasRows(atOrUnder: path) else { return [] }
        do throws(StateError) { return try state.records(under: path) } catch { throw StoreError(error) }
    }

    /// Returns the properties and locks at and below a path.
    func savedRows(under path: ResourcePath) throws(StoreError) -> SavedRows {
        var rows = SavedRows(records: try records(under: path))
        let now = now()
        let own = state.locks(covering: path, now: now).filter { $0.root == path }
        for lock in own + state.locks(under: path, now: now) {
            if let binding = state.binding(ofLockRoot: lock.root) { rows.locks.append((lock, binding)) }
        }
        return rows
    }

    /// Restores the properties and locks of those resources that still exist.
    func putBack(_ rows: SavedRows) throws(StoreError) {
        var changes: [StateChange] = []
        for (path, record) in rows.records where try exists(path, record.binding) {
            changes.append(.putRecord(path, record))
        }
        for (lock, binding) in rows.locks where try exists(lock.root, binding) {
            changes.append(.bind(lock.root, current: binding.identity, pending: binding.pending))
            changes.append(.addLock(lock))
        }
        do throws(StateError) { try state.commit(changes) } catch { throw StoreError(error) }
    }

    private func exists(_ path: ResourcePath, _ binding: Binding) throws(StoreError) -> Bool {
        let current = try stored.lookup(path, last: .notFollowed, wait: .allowed).info
        return current.map { binding.holds(for: $0.identity) } ?? false
    }

    /// The maximum size in bytes of content that can be removed quickly enough on an event loop.
    private static let inlineCommitBytes: Int64 = 1 << 20

    /// Whether replacing or removing a name is quick if the volume's metadata is in memory: the old resource
    /// is not a collection, not large, and has no rows.
    func commitsInline(replacing old: Lookup) -> Bool {
        guard let info = old.info else { return !state.hasRows(atOrUnder: old.path) }
        // Moving a resource to the trash commits an entry.
        if configuration.trash != nil { return false }
        return !info.isCollection && info.length <= Self.inlineCommitBytes
            && !state.hasRows(atOrUnder: old.path)
    }

    /// Removes the rows of a removed resource. Errors are only reported, because rows without their resource
    /// have no effect.
    func dropRows(under path: ResourcePath) {
        guard state.hasRows(atOrUnder: path) else { return }
        do throws(StateError) {
            try state.commit([.removeRows(under: path)])
        } catch {
            report("the properties of a removed resource could not be deleted: \(error)")
        }
    }
}
