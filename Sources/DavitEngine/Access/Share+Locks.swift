package import DavitHTTP
package import DavitStore
internal import DavitWebDAV

/// Selects the locks to break.
package enum BreakLockTarget: Hashable, Sendable {
    /// The lock with this token.
    case token(String)
    /// The locks with this root.
    case root(ResourcePath)

    func includes(_ lock: Lock) -> Bool {
        switch self {
        case .token(let uri): lock.token.uri == uri
        case .root(let path): lock.root == path
        }
    }
}

/// Administration of locks. These calls block.
extension Share {
    /// Returns all active locks, ordered by root and then by creation.
    package func heldLocks() throws(StoreError) -> [Lock] {
        let now = now()
        let here = state.locks(covering: .root, now: now)
        var held: [Lock] = []
        for lock in here + state.locks(under: .root, now: now) {
            let info = try resources.lookup(lock.root, last: .notFollowed, wait: .allowed).info
            // The locked resource may have been replaced by another program.
            let binding = state.binding(ofLockRoot: lock.root)
            if let info, binding?.holds(for: info.identity) == true { held.append(lock) }
        }
        return held.enumerated().sorted { a, b in
            let (first, second) = (a.element.root.bytes, b.element.root.bytes)
            return first == second ? a.offset < b.offset : first.lexicographicallyPrecedes(second)
        }.map(\.element)
    }

    /// Breaks the selected locks, regardless of their owners. Hooks are notified, but cannot refuse.
    /// - Parameter origin: see ``BrokenLock/origin``.
    /// - Returns: the broken locks; nil, with no lock broken, if a request is changing one of the locked
    ///   resources.
    package func breakLocks(_ choice: BreakLockTarget, from origin: String) throws(StoreError) -> [Lock]? {
        let locks = try heldLocks().filter(choice.includes)
        let claims = Set(locks.map(\.root)).map { PathLockRequest(path: $0, mode: .exclusive) }
        let isDone = try pathLocks.withPathLockIfFree(claims) { () throws(StoreError) -> Bool? in
            try record(locks.map { .removeLock($0.token, root: $0.root) })
            return true
        }
        guard isDone == true else { return nil }
        for lock in locks { notify(broken: lock, from: origin) }
        return locks
    }

    private func notify(broken lock: Lock, from origin: String) {
        configuration.hooks.lockBroken?(BrokenLock(lock, by: nil, from: origin))
        guard let completed = configuration.hooks.completed else { return }
        let info = try? resources.lookup(lock.root, last: .notFollowed, wait: .allowed).info
        completed(
            ShareAction(
                breaking: lock, info?.isCollection == true, by: nil, locatedBy: configuration.filePath))
    }
}
