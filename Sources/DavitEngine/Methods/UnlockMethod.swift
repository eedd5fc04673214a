internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// UNLOCK (RFC 4918 §9.11): removes the lock with the token in `Lock-Token`, wherever its root is.
struct UnlockMethod: ChangeMethod {
    let share: Share
    let token: LockToken

    init(share: Share, request: HTTPRequest) throws(WebDAVError) {
        self.share = share
        guard let token = try request.value(of: .lockToken, { LockTokenHeader.parse($0) }) else {
            throw WebDAVError(.badRequest)
        }
        self.token = token
    }

    func effects(on scene: Scene) throws(WebDAVError) -> [Effect] { [] }

    func actionKind(on scene: Scene) -> ShareAction.Kind? { nil }

    func claims(on scene: Scene) -> [Claim] {
        let root = share.state.lock(for: token, now: scene.context.now)?.root
        return [Claim(path: root ?? scene.target.path, mode: .exclusive)]
    }

    var mayChangeRowsOnly: Bool { true }

    func commit(_ scene: Scene, _ prepared: Void, guard check: WriteGuard) throws(WebDAVError) {
        guard let change = try rowChange(scene, prepared, guard: check) else { return }
        try storing { () throws(StoreError) in try share.record(change.rows) }
    }

    func rowChange(
        _ scene: Scene, _ prepared: Void, guard check: WriteGuard
    ) throws(WebDAVError) -> RowChange<Void>? {
        let covering = try check.locks(covering: scene.target.path)
        // §9.11.1: 409 if no lock with this token covers the target, or if the target does not exist.
        guard scene.target.info != nil, let lock = covering.first(where: { $0.token == token }) else {
            throw WebDAVError(.conflict, .lockTokenMatchesRequestURI)
        }
        guard check.isOwner(of: lock) else { throw WebDAVError(.forbidden) }
        return RowChange(rows: [.removeLock(token, root: lock.root)], outcome: ())
    }

    func finish(_ outcome: Void, on scene: Scene) async throws(WebDAVError) -> HTTPResponse {
        HTTPResponse(.noContent)
    }
}
