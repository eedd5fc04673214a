internal import DavitAccess
internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

extension ChangeCommitter {
    /// Checks that the change can be recorded.
    /// - Throws: 507 or 503 if it cannot; see ``ShareAudit/admitChange()``.
    @inline(__always)
    func admitAudit() throws(WebDAVError) {
        if share.hasAudit { try share.configuration.audit?.admitChange() }
    }

    /// Returns the members of a collection that the change deletes; nil for other changes, and if changes are not
    /// recorded. Blocks.
    @inline(__always)
    func recordedMembers(on change: ChangeTarget, _ mode: LookupMode) -> AuditEvent.Members? {
        (share.hasAudit || share.hasOutbox) && mode == .mayWait ? deletedMembers(of: change) : nil
    }

    @inline(never)
    private func deletedMembers(of change: ChangeTarget) -> AuditEvent.Members? {
        guard method.auditedOperation == .delete, let info = change.target.info, info.isCollection else {
            return nil
        }
        return AuditEvent.Members(under: change.target.path, info, in: share.stored)
    }

    /// Records a committed change. Called while its path locks are held, so that the records of a resource are in the order
    /// of its changes.
    @inline(__always)
    func audit(_ outcome: Method.Outcome, on change: ChangeTarget, _ members: AuditEvent.Members? = nil) {
        if share.hasAudit { record(outcome, on: change, members) }
    }

    @inline(never)
    private func record(_ outcome: Method.Outcome, on change: ChangeTarget, _ members: AuditEvent.Members?) {
        guard let audit = share.configuration.audit, var event = event(of: change) else { return }
        event.members = members
        if method.describe(outcome, on: change, in: &event) { audit.record(event) }
    }

    /// Returns the event of a change, without its outcome; nil if it is not recorded.
    func event(of change: ChangeTarget) -> AuditEvent? {
        guard let operation = method.auditedOperation else { return nil }
        var event = AuditEvent(operation, request: change.context.request)
        if operation == .upload {
            // A request that adds a member targets the collection; the new member is the destination.
            event.path = (change.destination ?? change.target).path
        } else {
            event.path = change.target.path
            event.destination = change.destination?.path
        }
        return event
    }

    /// Records that some members could not be removed after all.
    @inline(__always)
    func auditPartial(_ response: HTTPResponse, on change: ChangeTarget) {
        if share.hasAudit, response.status == .multistatus { recordPartial(change) }
    }

    @inline(never)
    private func recordPartial(_ change: ChangeTarget) {
        guard let audit = share.configuration.audit, method.auditedOperation == .delete else { return }
        var event = AuditEvent(.delete, .partial, request: change.context.request)
        event.path = change.target.path
        audit.record(event)
    }

    /// Records that the client lacks a right, or that a lock prevents the change.
    func audit(_ refusal: WebDAVError) {
        guard share.hasAudit, let audit = share.configuration.audit, let operation = method.auditedOperation,
            refusal.status == .forbidden || refusal.status == .locked
        else { return }
        var event = AuditEvent(operation, .refused(refusal.status), request: context.request)
        event.path = context.path
        event.destination = method.destination?.path
        audit.record(event)
    }
}

extension AuditEvent {
    /// Adds the lock that was broken.
    mutating func describe(_ lock: Lock) {
        path = lock.root
        detail = lock.principal.map { "\(lock.token.uri) of \($0)" } ?? lock.token.uri
    }
}

extension AuditEvent.Members {
    /// The maximum number of members that are listed.
    static let listLimit = 1_000
    /// The number of members at which counting stops.
    static let countLimit = 50_000

    /// Lists the members at all levels, those of each collection before those of its subcollections. Blocks. Members that
    /// cannot be read are left out.
    /// - Parameter info: describes the collection at `path`.
    init(under path: ResourcePath, _ info: ResourceInfo, in resources: any ResourceReader) {
        self.init()
        var traversal = TreeTraversal(of: resources, order: .asListed)
        do throws(StoreError) { try traversal.begin(at: path, info) } catch {
            isComplete = false
            return
        }
        var member = Member()
        while true {
            switch traversal.next(&member) {
            case .member:
                guard count < Self.countLimit else {
                    isComplete = false
                    return
                }
                count += 1
                if paths.count < Self.listLimit, let path = traversal.path.appending(member.name) {
                    paths.append(path)
                }
            case .interrupted, .inaccessible: isComplete = false
            case .listed, .passed, .entered, .left: break
            case .end: return
            }
        }
    }
}
