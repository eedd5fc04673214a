/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The opaque text without quotes.
    public let opaque: [UInt8]
    public let isWeak: Bool

    public init(opaque: [UInt8], isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// As it stands in a field: quoted, with `W/` in front if weak.
    public var encoded: [UInt8] {
        (isWeak ? [UInt8(ascii: "W"), UInt8(ascii: "/")] : []) + [UInt8(ascii: "\"")] + opaque
            + [UInt8(ascii: "\"")]
    }

    /// Strong comparison (§8.8.3.2): equal, and neither is weak.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Weak comparison (§8.8.3.2).
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
