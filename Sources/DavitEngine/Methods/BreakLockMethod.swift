internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Removes a lock, regardless of its owner. The browser page calls this after a warning. Allowed for every
/// user who can write to the share, unless a hook refuses.
///
/// UNLOCK serves only the lock owner and refuses other users (RFC 4918 §9.11).
struct BreakLockMethod: ChangeMethod {
    let share: Share
    /// The lock to remove; nil if no lock has the given token.
    let lock: Lock?

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] {
        // Check this first, so that the hooks are not called for a lock that does not exist.
        guard let lock, lock.covers(scene.target.path), scene.target.info != nil else { throw Self.noLock }
        return []
    }

    var brokenLock: Lock? { lock }
    func actionKind(on scene: Scene) -> ShareAction.Kind? { .breakLock }

    func claims(on scene: Scene) -> [Claim] {
        [Claim(path: lock?.root ?? scene.target.path, mode: .exclusive)]
    }

    var mayChangeRowsOnly: Bool { true }

    func commit(_ scene: Scene, _ prepared: Void, guard check: WriteGuard) throws(WebDAVError) -> Lock {
        let change = try change(scene, check)
        try storing { () throws(StoreError) in try share.record(change.rows) }
        return change.outcome
    }

    func rowChange(
        _ scene: Scene, _ prepared: Void, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Lock>? { try change(scene, check) }

    private func change(_ scene: Scene, _ check: WriteGuard) throws(WebDAVError) -> RowChange<Lock> {
        let covering = try check.locks(covering: scene.target.path)
        guard let lock = covering.first(where: { $0.token == lock?.token }) else { throw Self.noLock }
        return RowChange(rows: [.removeLock(lock.token, root: lock.root)], outcome: lock)
    }

    private static var noLock: WebDAVError { WebDAVError(.conflict, .lockTokenMatchesRequestURI) }

    func finish(_ outcome: Lock, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        let request = scene.context.request
        share.configuration.hooks.lockBroken?(
            BrokenLock(outcome, by: scene.context.principal, from: request.peerAddress))
        return HTTPResponse(.noContent)
    }
}
