internal import DavitHTTP
internal import DavitStore

/// The rows of a tree that is hidden and may be restored in part.
struct SavedRows: Sendable {
    var records: [(path: ResourcePath, record: PropertyRecord)] = []
    var locks: [(lock: Lock, binding: Binding)] = []
}

/// The rows of resources in the state of a share: properties, locks and trash entries.
final class ResourceRows: Sendable {
    private let state: any ShareState
    private let stored: any ResourceStore
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (String) -> Void

    /// - Parameter stored: all stored resources, including those that rules hide.
    init(
        _ state: any ShareState, _ stored: any ResourceStore, now: @escaping @Sendable () -> Timestamp,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.state = state
        self.stored = stored
        self.now = now
        self.report = report
    }

    /// Commits all changes, or none. Blocks.
    func commit(_ changes: [StateChange]) throws(StoreError) {
        do throws(StateError) { try state.commit(changes) } catch { throw StoreError(error) }
    }

    /// Commits changes that complete an operation. If the commit fails, reports `failure` and adds the
    /// changes to the next commit.
    func commitOrRetry(_ changes: [StateChange], failure: StaticString) {
        do throws(StateError) { try state.commit(changes) } catch {
            state.commitLater(changes)
            report("\(failure): \(error.text)")
        }
    }

    /// Returns the property records at and below a path. Does not query the store if there are none.
    func records(
        under path: ResourcePath
    ) throws(StoreError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard state.hasRows(atOrUnder: path) else { return [] }
        do throws(StateError) { return try state.records(under: path) } catch { throw StoreError(error) }
    }

    /// Returns the properties and locks at and below a path.
    func saved(under path: ResourcePath) throws(StoreError) -> SavedRows {
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
        try commit(changes)
    }

    private func exists(_ path: ResourcePath, _ binding: Binding) throws(StoreError) -> Bool {
        let current = try stored.lookup(path, last: .notFollowed, wait: .allowed).info
        return current.map { binding.holds(for: $0.identity) } ?? false
    }

    /// Removes the rows of a removed resource. Errors are only reported, because rows without their resource
    /// have no effect.
    func drop(under path: ResourcePath) {
        guard state.hasRows(atOrUnder: path) else { return }
        do throws(StateError) {
            try state.commit([.removeRows(under: path)])
        } catch {
            report("cannot delete the properties and locks of a removed resource: \(error.text)")
        }
    }

    /// Stores metadata that a client sent with new content, after the content is in place. An error does not
    /// affect the content and is only reported.
    /// - Returns: whether the metadata was stored.
    func keep(_ facts: [StoredProperty], at path: ResourcePath, of info: ResourceInfo) -> Bool {
        let bound = StateChange.bind(path, current: info.identity, pending: nil)
        do throws(StoreError) {
            try commit([bound] + facts.map { .setProperty(path, $0) })
            return true
        } catch {
            report("cannot store the metadata of an uploaded file: \(error.text)")
            return false
        }
    }

    /// Drops an entry whose file is not in the trash, together with its rows.
    func forget(_ entry: TrashEntry) {
        let rows: [StateChange] =
            state.hasRows(atOrUnder: entry.location) ? [.removeRows(under: entry.location)] : []
        commitOrRetry(
            rows + [.dropTrash(entry)],
            failure: "cannot delete the entry of a file that is not in the trash; retrying later")
    }
}
