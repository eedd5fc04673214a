internal import DavitAccess
internal import DavitStore

extension ChangeCommitter {
    /// Whether an event is passed on to other programs, which is stored before the commit and therefore blocks.
    @inline(__always)
    var hasEvent: Bool { share.hasOutbox && isAcceptedByOutbox }

    @inline(never)
    private var isAcceptedByOutbox: Bool {
        guard let outbox = share.configuration.outbox, let operation = method.auditedOperation else {
            return false
        }
        return outbox.accepts(operation)
    }

    /// Stores the event of a change that is about to be committed. Blocks if there is one.
    /// - Returns: the ID of the event; nil if the change has none.
    /// - Throws: 507 or 503 if it cannot be stored; see ``ShareOutbox/prepare(_:)``.
    @inline(__always)
    func prepareEvent(on change: ChangeTarget) throws(WebDAVError) -> String? {
        hasEvent ? try storedEvent(of: change) : nil
    }

    @inline(never)
    private func storedEvent(of change: ChangeTarget) throws(WebDAVError) -> String? {
        guard let outbox = share.configuration.outbox, let event = event(of: change) else { return nil }
        return try outbox.prepare(event)
    }

    /// Passes on the event of a committed change, or removes it if nothing was changed. Called while the path locks are
    /// held, so that the events of a resource are in the order of its changes.
    @inline(__always)
    func completeEvent(
        _ id: String?, _ outcome: Method.Outcome, on change: ChangeTarget, _ members: AuditEvent.Members?
    ) {
        if let id { complete(id, outcome, on: change, members) }
    }

    @inline(never)
    private func complete(
        _ id: String, _ outcome: Method.Outcome, on change: ChangeTarget, _ members: AuditEvent.Members?
    ) {
        guard let outbox = share.configuration.outbox, var event = event(of: change) else { return }
        event.members = members
        if method.describe(outcome, on: change, in: &event) {
            outbox.complete(id, event)
        } else {
            outbox.cancel(id)
        }
    }

    /// Removes the event of a change that was not committed.
    @inline(__always)
    func cancelEvent(_ id: String?) { if let id { share.configuration.outbox?.cancel(id) } }
}
