/// The content codings that davit supports (RFC 9110 §8.4.1).
public enum ContentCoding: Hashable, Sendable {
    /// Unencoded content.
    case identity
    /// The gzip format (RFC 1952).
    case gzip
    /// The zlib format (RFC 1950), or the raw deflate data that some clients send instead. Because of this
    /// ambiguity it is only decoded, never encoded.
    case deflate

    /// The error for an unsupported coding, or for several codings; answered with 415.
    public struct Unsupported: Error, Hashable, Sendable {}

    /// Parses a token, ignoring case; returns nil for other codings. `x-gzip` means gzip (§8.4.1.3).
    public init?(parsing token: borrowing Span<UInt8>) {
        if token.equalsIgnoringCase("gzip") || token.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if token.equalsIgnoringCase("identity") {
            self = .identity
        } else if token.equalsIgnoringCase("deflate") {
            self = .deflate
        } else {
            return nil
        }
    }

    /// The value of Accept-Encoding in responses (RFC 9110 §12.5.3): the codings that can be decoded.
    public static let accepted: StaticString = "gzip, deflate, identity"
}

extension HTTPRequest {
    /// Returns the coding of the content (RFC 9110 §8.4); identity without Content-Encoding.
    /// - Throws: ``ContentCoding/Unsupported``, including for nested codings, which are useful mainly for
    ///   decompression attacks.
    public func contentCoding() throws(ContentCoding.Unsupported) -> ContentCoding {
        var coding = ContentCoding.identity
        try forEachElement(of: .contentEncoding) { element throws(ContentCoding.Unsupported) in
            if element.isEmpty { return }
            guard let next = ContentCoding(parsing: element) else { throw ContentCoding.Unsupported() }
            guard next != .identity else { return }
            guard coding == .identity else { throw ContentCoding.Unsupported() }
            coding = next
        }
        return coding
    }
}
