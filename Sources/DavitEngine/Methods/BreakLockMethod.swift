internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Removes a lock, regardless of its owner: the form action `unlock`, which the browser page offers with a warning.
/// If accounts have different rights, the locks of others require the right to manage the locked resource. A hook can
/// refuse the action.
///
/// UNLOCK, by contrast, removes a lock only for its owner (RFC 4918 §9.11).
struct BreakLockMethod: RowMethod {
    let share: Share
    /// The lock to remove; nil if no lock has the given token.
    let lock: Lock?

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        guard let lock, lock.principal == nil || lock.principal != change.context.principal else { return [] }
        return [RequiredRight(rights: .manage, path: lock.root)]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        // `commit` checks the lock again; this check avoids calling hooks for a lock that does not exist.
        guard let lock, lock.covers(change.target.path), change.target.info != nil else { throw Self.noLock }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] { [] }

    var brokenLock: Lock? { lock }
    var auditedOperation: AuditEvent.Operation? { .breakLock }
    func describe(_ outcome: Lock, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        event.describe(outcome)
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .breakLock }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        [PathLockRequest(path: lock?.root ?? change.target.path, mode: .exclusive)]
    }

    func rowChange(
        _ change: ChangeTarget, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Lock> {
        let covering = try check.locks(covering: change.target.path)
        guard let lock = covering.first(where: { $0.token == lock?.token }) else { throw Self.noLock }
        return RowChange(rows: [.removeLock(lock.token, root: lock.root)], outcome: lock)
    }

    private static var noLock: WebDAVError { WebDAVError(.conflict, .lockTokenMatchesRequestURI) }

    func finish(_ outcome: Lock, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        let request = change.context.request
        share.configuration.hooks.lockBroken?(
            BrokenLock(outcome, by: change.context.principal, from: request.peerAddress))
        return HTTPResponse(status: .noContent)
    }
}
