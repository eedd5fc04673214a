/// Maps file name extensions to media types. Content is never inspected.
public enum MediaType {
    /// The media type of unknown content.
    public static let octetStream: StaticString = "application/octet-stream"

    /// Returns the media type for a name by its extension, ignoring case.
    ///
    /// All `text` types include `charset=utf-8`. XML types do not, because XML declares its own encoding.
    public static func forName(_ name: some Collection<UInt8>) -> StaticString {
        name.withSpan { byExtension[key(of: $0)] ?? octetStream }
    }

    /// Returns the preferred extension of a media type, without a dot; nil if the table has none.
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

    /// Returns the lower-case extension packed into a number; 0 if there is none that could be in the table.
    private static func key(of name: borrowing Span<UInt8>) -> UInt128 {
        // A UInt128 holds 16 bytes, more than the longest extension in the table.
        var key: UInt128 = 0
        var length = 0
        var hasDot = false
        for index in 0..<name.count {
            let byte = name[index]
            if byte == UInt8(ascii: ".") {
                // A leading dot marks a hidden file, not an extension.
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
