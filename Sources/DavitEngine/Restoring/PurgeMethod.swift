internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Permanently removes an entry from the trash.
struct PurgeMethod: ChangeMethod {
    let share: Share
    let entry: TrashEntry

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        [
            RequiredRight(
                rights: .delete, path: entry.path, isDeep: share.ruleMoves.hasRules(entry), places: .areKept,
                trashed: entry)
        ]
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        guard change.target.info?.isCollection == true else { throw WebDAVError(.notFound) }
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] { [] }

    var trashEntry: TrashEntry? { entry }
    var auditedOperation: AuditEvent.Operation? { .purge }
    func describe(
        _ outcome: (any DetachedTree)?, on change: ChangeTarget, in event: inout AuditEvent
    ) -> Bool {
        event.path = entry.path
        event.trashID = entry.id
        return true
    }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .purge }

    func pathLockRequests(on change: ChangeTarget) -> [PathLockRequest] {
        TrashCan.pathLockRequests(on: entry)
    }

    func commit(
        _ change: ChangeTarget, _ prepared: Void, guard: WriteGuard
    ) throws(WebDAVError) -> (any DetachedTree)? {
        let current: TrashEntry?
        do throws(StateError) { current = try share.state.trashEntry(entry.id) } catch {
            throw WebDAVError(state: error)
        }
        guard let current else { throw WebDAVError(.notFound) }
        return try storing { () throws(StoreError) in try share.trash.takeOut(current) }
    }

    func finish(
        _ outcome: (any DetachedTree)?, on change: ChangeTarget
    ) async throws(WebDAVError) -> HTTPResponse {
        if let outcome {
            await share.work.cleanUpTree(for: change.context.client) { _ = outcome.destroy() }
        }
        return HTTPResponse(status: .noContent)
    }
}
