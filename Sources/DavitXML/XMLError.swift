/// Where in a document something is wrong; both count from 1, and 0 means unknown.
public struct XMLPosition: Hashable, Sendable {
    public let line: Int
    /// In bytes of UTF-8, as far as the parser had read.
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// Why a document is refused. Says where, never what: the bytes can be secrets.
public enum XMLError: Error, Hashable, Sendable {
    /// Not well-formed, not namespace-well-formed, not text in its encoding, in an encoding that is not supported, or with
    /// a document type declaration (RFC 4918 §8.2 and §20.6): 400.
    case malformed(XMLPosition)
    /// A document type declaration that refers to something outside; it was not read: 403 with
    /// `no-external-entities` (RFC 4918 §16).
    case externalEntity(XMLPosition)
    /// 413 for ``XMLLimits/Kind/bytes``, else 400.
    case limitExceeded(XMLLimits.Kind, XMLPosition)
}
