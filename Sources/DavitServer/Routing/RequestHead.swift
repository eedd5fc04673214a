public import DavitHTTP

/// The head of a request, on which routing decisions are based.
public struct RequestHead {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    /// See ``DavitHTTP/HTTPRequest/method``.
    public var method: HTTPMethod { request.method }
    /// The request target, split but not decoded.
    public var target: RequestTarget { request.target }
    /// The decoded fields of the query; empty without a query.
    public var query: FormFields { request.query }
    /// The value of `Content-Type`; nil if missing or malformed.
    public var contentType: ContentType? { request.contentType }
    /// The value of Content-Length; nil for chunked content, 0 without content.
    public var contentLength: Int64? { request.body.declaredLength }
    /// The authenticated account; nil if the server has no accounts.
    public var principal: String? { request.principal }
    /// Whether the client used TLS, to this server or to a trusted proxy.
    public var isSecure: Bool { request.isSecure }
    /// See ``DavitHTTP/HTTPRequest/peerAddress``.
    public var peerAddress: String { request.peerAddress }
    /// See ``DavitHTTP/HTTPRequest/localAddress``.
    public var localAddress: NetworkAddress? { request.localAddress }
    /// See ``DavitHTTP/HTTPRequest/remoteAddress``.
    public var remoteAddress: NetworkAddress? { request.remoteAddress }

    /// See ``DavitHTTP/HTTPRequest/path``. A condition sees only paths that a resource can have.
    public var path: String { request.path }

    /// See ``DavitHTTP/HTTPRequest/fields``.
    public var fields: RequestFields { request.fields }
}
