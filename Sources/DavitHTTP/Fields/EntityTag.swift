/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// The opaque text without quotes.
    public let opaque: [UInt8]
    /// True for a tag that stands for content of the same meaning, not of the same bytes (RFC 9110 §8.8.1).
    public let isWeak: Bool

    /// A tag of these bytes, which stand between its quotes.
    public init(opaque: [UInt8], isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// A tag for any text that is another one for other content, as a hash or a number that counts changes. What no tag may
    /// hold is percent-encoded.
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

/// Tags of content that is kept in a coding beside the content itself.
extension EntityTag {
    /// No tag that davit makes of a file has these letters.
    private static let separator = Array("-gzip-".utf8)

    /// The tag of the same content in a coding: this one, then that of the coded bytes.
    package func coded(as other: EntityTag) -> EntityTag {
        EntityTag(opaque: opaque + Self.separator + other.opaque, isWeak: isWeak || other.isWeak)
    }

    /// True for a tag that ``coded(as:)`` has made.
    package var isCoded: Bool { codingStart != nil }

    /// The tag of the content as it is, whichever form of it this one is for.
    package var plain: EntityTag {
        guard let start = codingStart else { return self }
        return EntityTag(opaque: Array(opaque[..<start]), isWeak: isWeak)
    }

    private var codingStart: Int? { opaque.firstRange(of: Self.separator)?.lowerBound }
}
