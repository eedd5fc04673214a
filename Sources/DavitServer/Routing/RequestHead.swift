public import DavitHTTP

/// A request without its content: what a route may look at to decide whether it is its own.
public struct RequestHead {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) { self.request = request }

    public var method: HTTPMethod { request.method }
    public var target: RequestTarget { request.target }
    public var query: FormFields { request.query }
    public var contentType: ContentType? { request.contentType }
    /// Content-Length, or nil for chunked content; 0 where there is none.
    public var contentLength: Int64? { request.body.declaredLength }
    public var principal: String? { request.principal }
    public var isSecure: Bool { request.isSecure }
    public var peerAddress: String { request.peerAddress }
    public var localAddress: NetworkAddress? { request.localAddress }
    public var remoteAddress: NetworkAddress? { request.remoteAddress }

    /// The path, decoded; bytes that are not UTF-8 are replaced. Nil for a path no resource can have.
    public var path: String? {
        guard let (path, endsInSlash) = try? request.target.resourcePath() else { return nil }
        return path.description + (endsInSlash && !path.isRoot ? "/" : "")
    }

    /// The value of the first field with this name.
    public func string(of name: FieldName) -> String? { request.string(of: name) }

    /// As ``string(of:)``, for a name that has no case in ``DavitHTTP/FieldName``.
    public func string(named name: String) -> String? { request.string(named: name) }
}
