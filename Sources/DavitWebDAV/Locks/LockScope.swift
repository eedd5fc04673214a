/// Whether a lock is exclusive or shared (RFC 4918 §6.1).
public enum LockScope: Hashable, Sendable {
    case exclusive, shared

    /// Whether both locks can coexist, according to the table in §6.1: only shared locks are compatible.
    public func isCompatible(with other: LockScope) -> Bool { self == .shared && other == .shared }
}
