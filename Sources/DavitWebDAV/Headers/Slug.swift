internal import DavitHTTP

/// The name that a client suggests for a new member: the field `Slug` (RFC 5023 §9.7).
public enum Slug {
    /// The maximum length of a generated name in bytes: leaves room for a numeric suffix on volumes that
    /// allow 255.
    private static let lengthLimit = 200

    /// Derives a member name from a suggestion: decodes percent-encoding once, and replaces or removes
    /// characters that some systems do not allow in names. The result has no slashes or control characters,
    /// none of `\ : * ? " < > |`, which Windows does not allow, and neither dots nor spaces at its ends,
    /// where they would hide the file or be lost.
    ///
    /// - Parameter value: the field value in UTF-8, percent-encoded except for printable ASCII (§9.7.1).
    /// - Returns: nil if the value is not UTF-8, or if the resulting name is empty.
    public static func name(from value: [UInt8]) -> [UInt8]? {
        // If decoding fails, the client has sent an unencoded `%`.
        let decoded = PercentCoding.decode(value) ?? value
        guard let text = String(validating: decoded, as: UTF8.self) else { return nil }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isPlain(scalar) ? scalar : "-")
        }
        let name = shortened(trimmed(Array(String(scalars).utf8)))
        return name.isEmpty ? nil : name
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": false
        default:
            switch scalar.properties.generalCategory {
            // Invisible characters can make different names look identical.
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
            default: true
            }
        }
    }

    private static func trimmed(_ name: [UInt8]) -> [UInt8] {
        let isOuter = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: ".") }
        let start = name.drop(while: isOuter)
        guard let last = start.lastIndex(where: { !isOuter($0) }) else { return [] }
        return Array(start[...last])
    }

    /// Shortens the stem without splitting a character, and keeps an extension of at most 19 bytes.
    private static func shortened(_ name: [UInt8]) -> [UInt8] {
        guard name.count > lengthLimit else { return name }
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.count
        let suffix = name.count - dot <= 20 ? name[dot...] : []
        var stem = name[..<(lengthLimit - suffix.count)]
        while let last = stem.last, last & 0xC0 == 0x80 { stem.removeLast() }
        if let last = stem.last, last >= 0xC0 { stem.removeLast() }
        return trimmed(Array(stem)) + suffix
    }
}
