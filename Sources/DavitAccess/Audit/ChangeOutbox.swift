/// Stores events until other programs have received them.
///
/// An event is stored before its change is committed, so that it is not lost if the server ends in between. Calls block.
package protocol ChangeOutbox: Sendable {
    /// Returns whether the events of an operation are passed on. Does not block.
    func accepts(_ operation: AuditEvent.Operation) -> Bool

    /// Stores an event whose change is about to be committed, without its result. ``complete(_:_:)`` or ``cancel(_:)``
    /// must follow; if the server ends before, the event is delivered with an unknown result.
    /// - Returns: the ID of the event.
    func prepare(_ event: AuditEvent) throws(OutboxError) -> String

    /// Passes on an event whose change has been committed.
    func complete(_ id: String, _ event: AuditEvent)

    /// Removes an event whose change has not been committed.
    func cancel(_ id: String)
}

/// The reason why an event cannot be stored.
package enum OutboxError: Error, Hashable, Sendable {
    case outOfSpace
    case failed(reason: String)
}
