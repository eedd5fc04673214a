/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The opaque text without its quotes.
    public let opaque: [UInt8]
    /// Whether the tag is weak: it identifies semantically equivalent content, not identical bytes (RFC 9110
    /// §8.8.1).
    public let isWeak: Bool

    /// Creates a tag with the given opaque text.
    public init(opaque: [UInt8], isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Creates a tag from a text that differs for different content, such as a hash or change counter. White
    /// space, control characters, quotes, percent signs and bytes outside ASCII are percent-encoded.
    public init(version: String, isWeak: Bool = false) {
        var opaque: [UInt8] = []
        for byte in version.utf8 {
            if byte <= 32 || byte >= 127 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "%") {
                PercentCoding.append(CollectionOfOne(byte), to: &opaque)
            } else {
                opaque.append(byte)
            }
        }
        self.init(opaque: opaque, isWeak: isWeak)
    }

    /// The tag in field syntax: quoted, and prefixed with `W/` if weak.
    public var encoded: [UInt8] {
        (isWeak ? [UInt8(ascii: "W"), UInt8(ascii: "/")] : []) + [UInt8(ascii: "\"")] + opaque
            + [UInt8(ascii: "\"")]
    }

    /// Whether the tags match by strong comparison (§8.8.3.2): they are equal, and neither is weak.
    public func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Whether the tags match by weak comparison (§8.8.3.2): their opaque texts are equal.
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

/// Tags of resources that also have a representation with a content coding.
extension EntityTag {
    /// Separates the two tags of a combined tag. Tags that davit creates for files never contain it.
    private static let separator = Array("-gzip-".utf8)

    /// Returns the tag of the representation with a content coding: this tag followed by the tag of the
    /// coded bytes.
    package func coded(as other: EntityTag) -> EntityTag {
        EntityTag(opaque: opaque + Self.separator + other.opaque, isWeak: isWeak || other.isWeak)
    }

    /// Whether the tag has the format of a tag created by ``coded(as:)``.
    package var isCoded: Bool { codingStart != nil }

    /// The tag of the unencoded representation: this tag without the part that ``coded(as:)`` adds.
    package var plain: EntityTag {
        guard let start = codingStart else { return self }
        return EntityTag(opaque: Array(opaque[..<start]), isWeak: isWeak)
    }

    private var codingStart: Int? { opaque.firstRange(of: Self.separator)?.lowerBound }
}
