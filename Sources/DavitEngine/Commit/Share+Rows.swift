internal import DavitHTTP
internal import DavitStore

/// The rows of a tree that is taken out of sight and may come back in part.
struct SavedRows: Sendable {
    var records: [(path: ResourcePath, record: PropertyRecord)] = []
    var locks: [(lock: Lock, binding: Binding)] = []
}

extension Share {
    /// The property records at and below a path; no query where the index knows that there are none.
    func records(
        under path: ResourcePath
    ) throws(StoreError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard state.hasRows(atOrUnder: path) else { return [] }
        do throws(StateError) { return try state.records(under: path) } catch { throw StoreError(error) }
    }

    /// The properties and locks at and below a path.
    func savedRows(under path: ResourcePath) throws(StoreError) -> SavedRows {
        var rows = SavedRows(records: try records(under: path))
        let now = now()
        let own = state.locks(covering: path, now: now).filter { $0.root == path }
        for lock in own + state.locks(under: path, now: now) {
            if let binding = state.binding(ofLockRoot: lock.root) { rows.locks.append((lock, binding)) }
        }
        return rows
    }

    /// Gives the resources that are still there the properties and locks they had.
    func putBack(_ rows: SavedRows) throws(StoreError) {
        var changes: [StateChange] = []
        for (path, record) in rows.records where try isThere(path, record.binding) {
            changes.append(.putRecord(path, record))
        }
        for (lock, binding) in rows.locks where try isThere(lock.root, binding) {
            changes.append(.bind(lock.root, current: binding.identity, pending: binding.pending))
            changes.append(.addLock(lock))
        }
        do throws(StateError) { try state.commit(changes) } catch { throw StoreError(error) }
    }

    private func isThere(_ path: ResourcePath, _ binding: Binding) throws(StoreError) -> Bool {
        let current = try stored.lookup(path, last: .itself, wait: .allowed).info
        return current.map { binding.holds(for: $0.identity) } ?? false
    }

    /// Bytes of content whose memory is given back at once, also on an event loop.
    private static let briefBytes: Int64 = 1 << 20

    /// Whether a change of one name is over soon where the volume is in memory: what was there is no tree, not
    /// large, and has no rows.
    func isBrief(replacing old: Lookup) -> Bool {
        guard let info = old.info else { return !state.hasRows(atOrUnder: old.path) }
        // What is kept has an entry, and that a commit.
        if configuration.trash != nil { return false }
        return !info.isCollection && info.length <= Self.briefBytes && !state.hasRows(atOrUnder: old.path)
    }

    /// Drops the rows of what is gone. A fault here is reported, not answered: the resource is gone, and rows
    /// without their resource count for nothing.
    func dropRows(under path: ResourcePath) {
        guard state.hasRows(atOrUnder: path) else { return }
        do throws(StateError) {
            try state.commit([.removeRows(under: path)])
        } catch {
            report("rows of a removed resource could not be dropped: \(error)")
        }
    }
}
