/// Media types by the extension of a name. Content is never looked at.
public enum MediaType {
    /// The type of content of which nothing is known.
    public static let octetStream: StaticString = "application/octet-stream"

    /// The media type for a resource with this last segment; the case of the extension does not matter.
    ///
    /// Text gets `charset=utf-8`, unless its format says its encoding itself.
    public static func forName(_ name: some Collection<UInt8>) -> StaticString {
        name.withSpan { byExtension[key(of: $0)] ?? octetStream }
    }

    /// The usual extension of a media type, without a dot; nil if the table has none, or only guesses.
    ///
    /// - Parameter essence: `type/subtype` in lower case, without parameters.
    /// - Complexity: O(size of the table).
    package static func suffix(for essence: String) -> [UInt8]? {
        for (type, extensions) in types {
            let name = type.description.prefix { $0 != ";" }
            guard name == essence else { continue }
            return Array(extensions.description.utf8.prefix { $0 != UInt8(ascii: " ") })
        }
        return nil
    }

    /// The extension in lower case as one number; 0 if there is none that could be in the table.
    private static func key(of name: borrowing Span<UInt8>) -> UInt128 {
        // Packed into one integer from the end: 16 bytes are more than any extension known here has.
        var key: UInt128 = 0
        var length = 0
        var hasDot = false
        for index in 0..<name.count {
            let byte = name[index]
            if byte == UInt8(ascii: ".") {
                // A dot at the start makes a hidden name, not an extension.
                hasDot = index > 0
                key = 0
                length = 0
            } else {
                length += 1
                key = key << 8 | UInt128(byte.lowercasedASCII)
            }
        }
        return hasDot && length <= 16 ? key : 0
    }

    private static let byExtension: [UInt128: StaticString] = {
        var table: [UInt128: StaticString] = [:]
        table.reserveCapacity(256)
        for (type, extensions) in types {
            for suffix in extensions.description.utf8.split(separator: UInt8(ascii: " ")) {
                table[suffix.reduce(0) { $0 << 8 | UInt128($1) }] = type
            }
        }
        return table
    }()
}
