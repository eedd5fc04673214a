/// A URL path prefix below which resources are served, such as `/dav`; may be empty.
package struct PathPrefix: Hashable, Sendable {
    /// The percent-encoded prefix with a leading and without a trailing slash; empty for the root.
    package let bytes: [UInt8]

    /// The empty prefix.
    package static let empty = PathPrefix(bytes: [])

    /// Maximum length in bytes; longer prefixes indicate abuse.
    private static let limitBytes = 1024

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a percent-encoded path with or without a trailing slash.
    ///
    /// Returns nil for an empty or too long text, and for a path without a leading slash, with an empty
    /// segment or dot segment, with invalid UTF-8, or with a character not allowed in a URI path. Empty
    /// segments are rejected because a reference that begins with two slashes refers to a host.
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

    /// Like ``init(parsing:)``.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The decoded path of the prefix.
    package var path: ResourcePath { (try? ResourcePath.parse(rawPath: bytes).path) ?? .root }

    /// Returns this prefix without `suffix`; nil if this prefix does not end in `suffix`. The two may be
    /// percent-encoded differently.
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

    /// Whether the byte is `pchar`, `%` or a slash (RFC 3986 §3.3).
    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: ":"), UInt8(ascii: "@"): true
        default: byte.isUnreserved || byte.isSubDelimiter
        }
    }
}
