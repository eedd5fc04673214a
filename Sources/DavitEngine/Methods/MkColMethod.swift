internal import DavitAccess
internal import DavitHTTP
internal import DavitStore

/// MKCOL (RFC 4918 §9.3): creates an empty collection at the target. ``ExtendedMkColMethod`` handles MKCOL
/// with content.
struct MkColMethod: ChangeMethod {
    let share: Share
    var createsTarget: Bool { true }
    var expectsFreeNames: Bool { true }

    func requiredRights(on change: ChangeTarget) -> [RequiredRight] {
        change.target.info == nil ? [.creating(change.target.path)] : []
    }

    func check(_ change: ChangeTarget) throws(WebDAVError) {
        try change.target.checkCreatable()
        guard let info = change.target.info else { return }
        throw share.methodNotAllowed(
            info.isCollection ? AllowedMethods.collection : AllowedMethods.content, at: change.target,
            change.context)
    }

    func effects(on change: ChangeTarget) -> [WriteEffect] {
        [.write(change.target.path), .member(change.target.path)]
    }

    var auditedOperation: AuditEvent.Operation? { .createCollection }
    func describe(_ outcome: Void, on change: ChangeTarget, in event: inout AuditEvent) -> Bool { true }

    func actionKind(on change: ChangeTarget) -> ShareAction.Kind? { .createCollection }

    func canCommitInline(_ prepared: Void) -> Bool { true }
    func commitsInline(on change: ChangeTarget) -> Bool { true }

    func commit(_ change: ChangeTarget, _ prepared: Void, guard: WriteGuard) throws(WebDAVError) {
        try storing { () throws(StoreError) in
            try share.resources.createCollection(at: change.target.location)
        }
    }

    func finish(_ outcome: Void, on change: ChangeTarget) async throws(WebDAVError) -> HTTPResponse {
        HTTPResponse(status: .created)
    }

    func response(to outcome: Void, on change: ChangeTarget) -> HTTPResponse? {
        HTTPResponse(status: .created)
    }
}
