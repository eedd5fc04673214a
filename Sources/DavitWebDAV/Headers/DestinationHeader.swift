internal import DavitHTTP

/// The destination of COPY and MOVE (RFC 4918 §10.3): `Simple-ref`, an absolute URI or an absolute path
/// (§8.3).
public struct DestinationHeader: Hashable, Sendable {
    /// The scheme in lower case; nil for a path.
    public let scheme: [UInt8]?
    /// `host[:port]` in lower case, without the user information that some clients include (see
    /// ``parse(_:)``); nil for a path, and for a URI with a scheme other than http and https.
    public let authority: [UInt8]?
    /// The path as sent, percent-encoded, with its leading slash; "/" for a URI without a path, or with a
    /// scheme other than http and https.
    public let rawPath: [UInt8]
    /// The query, without the `?`; nil if there is no `?`.
    public let rawQuery: [UInt8]?

    /// The reason why a value is refused with 400; the offset is in bytes from the start of the value.
    public enum ParseError: Error, Hashable, Sendable {
        /// A control character, a space, or a byte that the grammar does not allow here.
        case unexpectedByte(UInt8, offset: Int)
        case empty(offset: Int)
        /// A fragment, which is not part of a resource's name (RFC 3986 §3.5).
        case fragment(offset: Int)
    }

    /// Parses a field value or another reference to a resource. User information (RFC 3986 §3.2.1) is
    /// discarded: it is not part of a resource's name, but clients that were given it in their URL, such as
    /// git and lftp, repeat it here. It is not used for authentication. For a URI with a scheme other than
    /// http and https, only the scheme is parsed, because the URI cannot refer to this server.
    ///
    /// - Throws: ``ParseError``; the server responds with 400.
    public static func parse(_ value: Span<UInt8>) throws(ParseError) -> DestinationHeader {
        let bytes = FieldText.array(value)
        let text = FieldText.trimmed(bytes[...])
        guard let first = text.first else { throw .empty(offset: text.startIndex) }
        if let offset = text.firstIndex(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw .unexpectedByte(text[offset], offset: offset)
        }
        if let offset = text.firstIndex(of: UInt8(ascii: "#")) { throw .fragment(offset: offset) }
        if first != UInt8(ascii: "/") { return try parse(absolute: text) }
        // Recipients may interpret `//host/path` as a path or as a host.
        if text.dropFirst().first == first { throw .unexpectedByte(first, offset: text.startIndex + 1) }
        return split(text, scheme: nil, authority: nil)
    }

    /// Whether the value is a path, or a URI with the scheme http or https; the resources of an HTTP server
    /// have no other schemes (RFC 9110 §4.2).
    public var isHTTP: Bool { scheme == nil || authority != nil }

    private static func parse(absolute text: ArraySlice<UInt8>) throws(ParseError) -> DestinationHeader {
        guard let colon = text.firstIndex(where: { !isSchemeByte($0) }) else {
            throw .empty(offset: text.endIndex)
        }
        guard text[colon] == UInt8(ascii: ":"), colon > text.startIndex else {
            throw .unexpectedByte(text[colon], offset: colon)
        }
        // RFC 3986 §3.1: a scheme begins with a letter.
        let first = text[text.startIndex]
        guard UInt8(ascii: "a")...UInt8(ascii: "z") ~= first.lowercasedASCII else {
            throw .unexpectedByte(first, offset: text.startIndex)
        }
        let scheme = text[..<colon].map(\.lowercasedASCII)
        guard scheme.elementsEqual("http".utf8) || scheme.elementsEqual("https".utf8) else {
            if colon + 1 == text.endIndex { throw .empty(offset: text.endIndex) }
            return split([], scheme: scheme, authority: nil)
        }
        for offset in colon + 1...colon + 2 {
            guard offset < text.endIndex else { throw .empty(offset: offset) }
            guard text[offset] == UInt8(ascii: "/") else {
                throw .unexpectedByte(text[offset], offset: offset)
            }
        }
        let rest = text[(colon + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        // The host begins after the last `@`, so that an unescaped `@` in a password is interpreted as
        // clients interpret it.
        let host = rest[..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? rest.startIndex
        let authority = rest[host..<end]
        if authority.isEmpty { throw .empty(offset: end) }
        return split(rest[end...], scheme: scheme, authority: authority.map(\.lowercasedASCII))
    }

    private static func split(
        _ text: ArraySlice<UInt8>, scheme: [UInt8]?, authority: [UInt8]?
    ) -> DestinationHeader {
        let mark = text.firstIndex(of: UInt8(ascii: "?"))
        let path = Array(text[..<(mark ?? text.endIndex)])
        return DestinationHeader(
            scheme: scheme, authority: authority, rawPath: path.isEmpty ? [UInt8(ascii: "/")] : path,
            rawQuery: mark.map { Array(text[($0 + 1)...]) })
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte.lowercasedASCII {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
