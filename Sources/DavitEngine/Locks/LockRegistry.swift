internal import DavitAccess
package import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// Lists and breaks the locks of a share, for administration, and removes unlocked resources. All calls may block.
package final class LockRegistry: Sendable {
    private let resources: any ResourceStore
    private let state: any ShareState
    private let rows: ResourceRows
    private let pathLocks: PathLocks
    private let hooks: ShareHooks
    private let audit: ShareAudit?
    /// Returns the file system path of a resource, for hooks.
    private let filePath: @Sendable (ResourcePath) -> String
    private let now: @Sendable () -> Timestamp

    init(
        _ resources: any ResourceStore, _ state: any ShareState, _ rows: ResourceRows, _ pathLocks: PathLocks,
        _ configuration: ShareConfiguration, now: @escaping @Sendable () -> Timestamp
    ) {
        self.resources = resources
        self.state = state
        self.rows = rows
        self.pathLocks = pathLocks
        hooks = configuration.hooks
        audit = configuration.audit
        filePath = configuration.filePath
        self.now = now
    }

    /// Returns all active locks, ordered by root and then by creation.
    package func heldLocks() throws(StoreError) -> [Lock] {
        let now = now()
        let here = state.locks(covering: .root, now: now)
        var held: [Lock] = []
        for lock in here + state.locks(under: .root, now: now) {
            let info = try resources.lookup(lock.root, last: .notFollowed, wait: .allowed).info
            if state.isInEffect(lock, on: info) { held.append(lock) }
        }
        return held.enumerated().sorted { a, b in
            let (first, second) = (a.element.root.bytes, b.element.root.bytes)
            return first == second ? a.offset < b.offset : first.lexicographicallyPrecedes(second)
        }.map(\.element)
    }

    /// Breaks the selected locks, regardless of their owners. Hooks are notified, but cannot refuse.
    /// - Parameter origin: see ``BrokenLock/origin``.
    /// - Returns: the broken locks; nil, with no lock broken, if a path lock on one of the lock roots is in use.
    /// - Throws: ``StoreError``, also if the audit log cannot be written.
    package func breakLocks(_ choice: BreakLockTarget, from origin: String) throws(StoreError) -> [Lock]? {
        try audit?.admitAdministration()
        let locks = try heldLocks().filter(choice.includes)
        let requests = Set(locks.map(\.root)).map { PathLockRequest(path: $0, mode: .exclusive) }
        let isDone = try pathLocks.withPathLockIfFree(requests) { () throws(StoreError) -> Bool? in
            try rows.commit(locks.map { .removeLock($0.token, root: $0.root) })
            return true
        }
        guard isDone == true else { return nil }
        for lock in locks { notify(broken: lock, from: origin) }
        return locks
    }

    private func notify(broken lock: Lock, from origin: String) {
        if let audit {
            var event = AuditEvent(.breakLock)
            event.describe(lock)
            event.origin = origin
            audit.record(event)
        }
        hooks.lockBroken?(BrokenLock(lock, by: nil, from: origin))
        guard let completed = hooks.completed else { return }
        let info = try? resources.lookup(lock.root, last: .notFollowed, wait: .allowed).info
        completed(
            ShareAction(
                breaking: lock, info?.isCollection == true, by: nil, locatedBy: filePath))
    }

    /// Removes a resource and its rows, unless it is locked or a path lock on it is in use.
    ///
    /// - Parameter removal: removes the resource and everything below it, and returns whether it was removed. May
    ///   block.
    /// - Returns: whether the resource was removed.
    package func removeUnlocked(_ path: ResourcePath, _ removal: () -> Bool) -> Bool {
        let isDone = pathLocks.withPathLockIfFree([PathLockRequest(path: path, mode: .exclusive)]) {
            () -> Bool? in
            guard state.locks(covering: path, now: now()).isEmpty, removal() else { return false }
            rows.drop(under: path)
            return true
        }
        return isDone ?? false
    }
}
