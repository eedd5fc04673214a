/// The beginning of the paths of URLs below which something is served: `/dav`, or nothing at all.
package struct PathPrefix: Hashable, Sendable {
    /// Percent-encoded, with a slash at its beginning and none at its end; empty for the root.
    package let bytes: [UInt8]

    /// No prefix: everything is served.
    package static let empty = PathPrefix(bytes: [])

    /// More is a game.
    private static let limitBytes = 1024

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a path, percent-encoded, with or without a slash at its end.
    ///
    /// Nil for what has no slash at its beginning, an empty segment, a dot segment, bytes that are not UTF-8, or a
    /// character that no path of a URI has: two slashes would be the beginning of a host to whoever reads a reference that begins with them.
    package init?(parsing text: borrowing Span<UInt8>) {
        guard text.count <= Self.limitBytes, !text.isEmpty else { return nil }
        let slash = UInt8(ascii: "/")
        var bytes = [UInt8](copying: text)
        if bytes.last == slash { bytes.removeLast() }
        for (index, byte) in bytes.enumerated() {
            if byte == slash, index + 1 == bytes.count || bytes[index + 1] == slash { return nil }
            guard Self.isPathCharacter(byte) else { return nil }
        }
        guard let path = try? ResourcePath.parse(rawPath: bytes).path,
            String(validating: path.bytes, as: UTF8.self) != nil
        else { return nil }
        self.bytes = bytes
    }

    /// As ``init(parsing:)``.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The resource that the prefix names, decoded.
    package var path: ResourcePath { (try? ResourcePath.parse(rawPath: bytes).path) ?? .root }

    /// What comes first in front of `suffix`, where this ends in that, whatever the spelling; nil where it does not.
    package func removing(suffix: PathPrefix) -> PathPrefix? {
        let count = suffix.bytes.reduce(0) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
        var end = bytes.endIndex
        for _ in 0..<count {
            guard let slash = bytes[..<end].lastIndex(of: UInt8(ascii: "/")) else { return nil }
            end = slash
        }
        guard let rest = try? ResourcePath.parse(rawPath: bytes[end...]).path, rest == suffix.path else {
            return nil
        }
        return PathPrefix(bytes: Array(bytes[..<end]))
    }

    package static func + (first: PathPrefix, second: PathPrefix) -> PathPrefix {
        PathPrefix(bytes: first.bytes + second.bytes)
    }

    /// `pchar` or a slash (RFC 3986 §3.3).
    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "@"): true
        default: byte.isUnreserved || byte.isSubDelimiter
        }
    }
}
