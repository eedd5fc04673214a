internal import DavitHTTP

/// The name that a client proposes for what it adds: the field `Slug` (RFC 5023 §9.7).
public enum Slug {
    /// Bytes of a name that the server chooses: room for a number behind it, where a volume takes 255.
    private static let lengthLimit = 200

    /// A name for a member, made of what was proposed: percent-decoded once, and without what some system cannot have
    /// in a name. So no slash and no control character, none of `\ : * ? " < > |`, which are no names in Windows, and
    /// neither dots nor spaces at its ends, where they would hide it or be lost.
    ///
    /// - Parameter value: of the field, UTF-8, percent-encoded where it is not printable ASCII (§9.7.1).
    /// - Returns: nil if that is not UTF-8, or if nothing is left of it.
    public static func name(from value: [UInt8]) -> [UInt8]? {
        // A lone `%` is one that a client has not encoded.
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
            // Invisible ones make two names look alike, or one look like another.
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

    /// Cut before its extension, and between two characters.
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
