/// Whether a lock shares its resource (RFC 4918 §6.1).
public enum LockScope: Hashable, Sendable {
    case exclusive, shared

    /// The compatibility table of §6.1: only shared goes with shared.
    public func isCompatible(with other: LockScope) -> Bool { self == .shared && other == .shared }
}
