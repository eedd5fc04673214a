/// The position of an error in a document; line and column are numbered from 1, and 0 means unknown.
public struct XMLPosition: Hashable, Sendable {
    public let line: Int
    /// The column of the position that the parser has reached, in bytes of UTF-8.
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// The reason why a document is refused. Includes the position but never the content, which may be secret.
public enum XMLError: Error, Hashable, Sendable {
    /// Not well-formed, not namespace-well-formed, not valid in its encoding, in an unsupported encoding, or
    /// with a document type declaration (RFC 4918 §8.2 and §20.6): 400.
    case malformed(XMLPosition)
    /// A document type declaration with an external reference, which was not fetched: 403 with
    /// `no-external-entities` (RFC 4918 §16).
    case externalEntity(XMLPosition)
    /// 400, also for ``XMLLimits/Kind/bytes``, because callers refuse content that is too long with 413
    /// before it is parsed.
    case limitExceeded(XMLLimits.Kind, XMLPosition)
}
