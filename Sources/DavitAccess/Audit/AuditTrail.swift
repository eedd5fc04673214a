/// Records who did what. Calls must not block.
public protocol AuditTrail: Sendable {
    /// Returns whether a change may be committed now, because its record can be written.
    ///
    /// Asked before each change, while its path locks are held. A change that is admitted must be recorded with
    /// ``record(_:)`` once it is committed.
    func admission() -> AuditAdmission

    /// Records an event with the current time. Events that clients can cause at will, such as failed logins, may be
    /// recorded only in part, with the number of those left out.
    func record(_ event: AuditEvent)
}

/// Whether an audit log accepts further changes.
public enum AuditAdmission: Hashable, Sendable {
    case admitted
    /// There is no space for further records; changes are refused with 507.
    case outOfSpace
    /// Records cannot be written, for another reason; changes are refused with 503.
    case unavailable
}
