internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// UNLOCK (RFC 4918 §9.11): removes the lock with the token in `Lock-Token`, if it covers the target.
struct UnlockMethod: RowMethod {
    let share: Share
    let token: LockToken

    init(share: Share, request: HTTPRequest) throws(WebDAVError) {
        self.share = share
        guard let token = try request.value(of: .lockToken, { LockTokenHeader.parse($0) }) else {
            throw WebDAVError(.badRequest)
        }
        self.token = token
    }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        // Only the owner of a lock can remove it, even without any right to the resource.
        []
    }

    func check(_ change: ChangeTarget) {}
    func effects(on change: ChangeTarget) -> [WriteEffect] { [] }

    var auditedOperation: AuditEvent.Operation? { .unlock }
    func describe(_ outcome: Void, on change: ChangeTarget, in event: inout AuditEvent) -> Bool {
        event.detail = token.uri
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { nil }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        let root = share.state.lock(for: token, now: change.context.now)?.root
        return [PathLockRequest(path: root ?? change.target.path, mode: .exclusive)]
    }

    var pathLocksDependOnState: Bool { true }

    func rowChange(
        _ change: ChangeTarget, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Void> {
        let covering = try check.locks(covering: change.target.path)
        // §9.11.1: the lock must cover the target, and the target must exist.
        guard change.target.info != nil, let lock = covering.first(where: { $0.token == token }) else {
            throw WebDAVError(.conflict, .lockTokenMatchesRequestURI)
        }
        guard check.isOwner(of: lock) else { throw WebDAVError(.forbidden) }
        return RowChange(rows: [.removeLock(token, root: lock.root)], outcome: ())
    }

    func finish(_ outcome: Void, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        HTTPResponse(status: .noContent)
    }
}
