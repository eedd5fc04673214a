/// The request target (RFC 9112 §3.2), split but not decoded.
public struct RequestTarget: Sendable {
    /// The four forms of RFC 9112 §3.2.
    public enum Form: Sendable {
        /// A path; a URI; `host:port`, for CONNECT only; `*`, for OPTIONS only.
        case origin, absolute, authority, asterisk
    }

    /// How it was written.
    public package(set) var form = Form.origin
    /// The path as sent, percent-encoded, with its leading slash; empty for `*`.
    public package(set) var rawPath: [UInt8] = []
    /// What follows `?`, without it, as sent; nil without a `?`.
    public package(set) var rawQuery: [UInt8]?
    /// `host[:port]` of the absolute form and of CONNECT, else nil. It wins over the Host field
    /// (RFC 9112 §3.2.2).
    public package(set) var authority: [UInt8]?
    /// True for an `https` URI in the absolute form: not to be answered on a connection that is not secured, unless a
    /// trusted proxy sends it (RFC 9110 §7.4).
    package var namesSecureScheme = false

    /// An empty one, for a parser to fill.
    public init() {}
}
