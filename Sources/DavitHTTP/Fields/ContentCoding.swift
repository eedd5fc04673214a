/// The content codings that davit knows (RFC 9110 §8.4.1).
public enum ContentCoding: Hashable, Sendable {
    /// The content as it is.
    case identity
    /// RFC 1952.
    case gzip
    /// RFC 1950, or what clients take for it. Read, never written: it is gzip with two meanings.
    case deflate

    /// A coding, or several, that are not read; the server answers 415.
    public struct Unsupported: Error, Hashable, Sendable {}

    /// Parses a token in any case; nil if it is another coding. `x-gzip` is gzip (§8.4.1.3).
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

    /// For the field Accept-Encoding of a response (RFC 9110 §12.5.3): the codings that are read.
    public static let accepted: StaticString = "gzip, deflate, identity"
}

extension HTTPRequest {
    /// The coding of the content (RFC 9110 §8.4); identity where there is no Content-Encoding.
    /// - Throws: ``ContentCoding/Unsupported`` also for codings on top of each other: nobody needs them but those who
    ///   want a short request to become very long.
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
