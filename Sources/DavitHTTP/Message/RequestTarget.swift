/// The request target (RFC 9112 §3.2), split but not decoded.
public struct RequestTarget: Sendable {
    /// The four forms of RFC 9112 §3.2.
    public enum Form: Sendable {
        /// A path; a URI; `host:port`, for CONNECT only; `*`, for OPTIONS only.
        case origin, absolute, authority, asterisk
    }

    /// The form in which the target was sent; ``Form/asterisk`` also for OPTIONS with an absolute URI that
    /// has no path and no query (RFC 9112 §3.2.4).
    public package(set) var form = Form.origin
    /// The path as sent, percent-encoded, with its leading slash; empty for `*` and CONNECT.
    public package(set) var rawPath: [UInt8] = []
    /// The query as sent, without its `?`; nil without `?`.
    public package(set) var rawQuery: [UInt8]?
    /// `host[:port]` of the absolute form and of CONNECT, else nil. Overrides the Host field (RFC 9112
    /// §3.2.2).
    public package(set) var authority: [UInt8]?
    /// Whether the target is an `https` URI in absolute form. Such a request must be refused on an insecure
    /// connection unless a trusted proxy forwarded it (RFC 9110 §7.4).
    package var namesSecureScheme = false

    /// Creates an empty target for a parser to fill.
    package init() {}
}
