package import DavitHTTP

/// A name as Unicode compares it: canonically equivalent spellings (UAX #15), such as é in one code point or in two,
/// are equal. Each keeps the bytes it was made of.
package struct CanonicalName: Hashable, Sendable {
    /// Compares and hashes by canonical equivalence.
    package let text: String

    /// - Returns: nil for bytes that are not UTF-8: those equal nothing but themselves.
    package init?(_ bytes: some Sequence<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.text = text
    }

    /// The bytes it was made of.
    package var bytes: [UInt8] { Array(text.utf8) }

    /// The equivalent spelling in ASCII; nil for most, which have none. Three characters are equivalent to one of
    /// ASCII: the Greek question mark, the Greek varia and the Kelvin sign.
    package var asciiSpelling: [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case ..<0x80: bytes.append(UInt8(scalar.value))
            case 0x37E: bytes.append(UInt8(ascii: ";"))
            case 0x1FEF: bytes.append(UInt8(ascii: "`"))
            case 0x212A: bytes.append(UInt8(ascii: "K"))
            default: return nil
            }
        }
        return bytes
    }
}

extension ResourcePath {
    /// The same bytes for all paths that are canonically equivalent to this one, and, as good as always, for no
    /// others. It names no resource; a path in ASCII is its own.
    package var equivalenceKey: ResourcePath {
        if isASCII { return self }
        var key: [UInt8] = []
        for segment in segments {
            if !key.isEmpty { key.append(UInt8(ascii: "/")) }
            key.append(contentsOf: Self.key(of: segment))
        }
        return ResourcePath(unchecked: key)
    }

    /// Whether this is a member of the same collection, under the same name in whatever spelling.
    package func isRespelling(of other: ResourcePath) -> Bool {
        parent == other.parent && equivalenceKey == other.equivalenceKey
    }

    private static func key(of segment: ArraySlice<UInt8>) -> [UInt8] {
        if segment.allSatisfy({ $0 < 0x80 }) { return Array(segment) }
        guard let name = CanonicalName(segment) else { return Array(segment) }
        // The NUL keeps it apart from all names. Two that collide only wait for each other.
        return name.asciiSpelling ?? [0] + Array(String(UInt(bitPattern: name.hashValue), radix: 16).utf8)
    }
}
