internal import DavitAccess
internal import DavitHTTP
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

    /// Commits a change and passes on its event: stores it before the commit, and completes or removes it afterwards.
    /// Called while the path locks are held, so that the events of a resource are in the order of its changes.
    /// - Throws: the error of the commit; 507 or 503 if the event cannot be stored; `wouldBlock` unless the caller may
    ///   wait.
    @inline(never)
    func commitWithEvent(
        _ change: ChangeTarget, _ prepared: Method.Prepared, guard check: WriteGuard,
        _ members: AuditEvent.Members?, _ mode: LookupMode
    ) throws(WebDAVError) -> Method.Outcome {
        if mode != .mayWait { throw WebDAVError(store: .wouldBlock) }
        guard let outbox = share.configuration.outbox, var event = event(of: change) else {
            return try method.commit(change, prepared, guard: check)
        }
        let id = try outbox.prepare(event)
        do throws(WebDAVError) {
            let outcome = try method.commit(change, prepared, guard: check)
            event.members = members
            if method.describe(outcome, on: change, in: &event) {
                outbox.complete(id, event)
            } else {
                outbox.cancel(id)
            }
            return outcome
        } catch {
            if error.status == .internalServerError {
                // Part of the change may have taken effect.
                event.result = .unknown
                outbox.complete(id, event)
            } else {
                outbox.cancel(id)
            }
            throw error
        }
    }
}
