/// A name that compares by Unicode canonical equivalence (UAX #15): for example, é as one code point equals é
/// as two. The original bytes are preserved.
package struct CanonicalName: Hashable, Sendable {
    /// The name as a string, which compares and hashes by canonical equivalence.
    package let text: String

    /// - Returns: nil if the bytes are not valid UTF-8; such names are equal only to themselves.
    package init?(_ bytes: some Sequence<UInt8>) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.text = text
    }

    /// The original bytes.
    package var bytes: [UInt8] { Array(text.utf8) }

    /// The equivalent ASCII spelling, or nil if there is none, which is the usual case. Only three non-ASCII
    /// characters have an ASCII equivalent: the Greek question mark, the Greek varia and the Kelvin sign.
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
    /// A key that is identical for all paths canonically equivalent to this one and, barring hash collisions,
    /// different for all others. It does not identify a resource. The key of an ASCII path is the path
    /// itself.
    package var equivalenceKey: ResourcePath {
        if isASCII { return self }
        var key: [UInt8] = []
        for segment in segments {
            if !key.isEmpty { key.append(UInt8(ascii: "/")) }
            key.append(contentsOf: Self.key(of: segment))
        }
        return ResourcePath(unchecked: key)
    }

    /// Whether both paths are members of the same collection and their names are canonically equivalent.
    package func isRespelling(of other: ResourcePath) -> Bool {
        parent == other.parent && equivalenceKey == other.equivalenceKey
    }

    private static func key(of segment: ArraySlice<UInt8>) -> [UInt8] {
        if segment.allSatisfy({ $0 < 0x80 }) { return Array(segment) }
        guard let name = CanonicalName(segment) else { return Array(segment) }
        // The NUL distinguishes the key from every valid name. Two different names with the same 64-bit hash
        // would be treated as equivalent, which is too improbable to matter.
        return name.asciiSpelling ?? [0] + Array(String(UInt(bitPattern: name.hashValue), radix: 16).utf8)
    }
}
