public import DavitHTTP

/// Responds with 421 to requests for unknown hosts.
///
/// A server without accounts relies on network access control. A web page could bypass that through a user's
/// browser by pointing its own host name at the address of this server (DNS rebinding). The browser then
/// sends the page's name in Host, so names other than `localhost` must be configured.
public struct HostGuard: Middleware {
    private let hosts: AcceptedHosts

    /// - Parameter names: host names without port that are accepted in addition to IP literals and
    ///   `localhost`.
    public init(names: [String]) { hosts = AcceptedHosts(names: names) }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard hosts.accept(request) else {
            var fields = HTTPFields()
            fields.append(.contentType, "text/plain; charset=utf-8")
            let text = "This server is not configured for this host name.\n"
            return .ready(
                HTTPResponse(status: .misdirectedRequest, fields: fields, body: .bytes(Array(text.utf8))))
        }
        return try next.respond(to: request)
    }
}

/// The hosts that requests without an account may name.
package struct AcceptedHosts: Sendable {
    /// Accepted host names in lower case.
    private let names: [[UInt8]]

    /// - Parameter names: as for ``HostGuard``.
    package init(names: [String]) {
        self.names = [Array("localhost".utf8)] + names.map { Array($0.lowercased().utf8) }
    }

    /// Whether the host of the request is accepted. The absolute form overrides Host (RFC 9112 §3.2.2).
    /// HTTP/1.0 requests may have neither; browsers always send Host.
    ///
    /// The host reported by a trusted proxy is checked in addition to Host, not instead of it. Otherwise a
    /// proxy that passes on such a field from a page would defeat this check.
    package func accept(_ request: HTTPRequest) -> Bool {
        if let forwarded = request.forwardedHost, !isKnown(forwarded.span) { return false }
        if let authority = request.authority { return isKnown(authority.span) }
        if let kind = request.hostKind, kind != .name { return true }
        return request.withValue(of: .host) { isKnown($0) } ?? true
    }

    private func isKnown(_ authority: borrowing Span<UInt8>) -> Bool {
        guard let parts = HostField.Parts(parsing: authority) else { return false }
        if parts.kind != .name { return true }
        for name in names where name.count == parts.hostLength {
            if Self.matches(name, authority) { return true }
        }
        return false
    }

    /// - Parameter name: a name in lower case, no longer than `authority`.
    private static func matches(_ name: [UInt8], _ authority: borrowing Span<UInt8>) -> Bool {
        for index in 0..<name.count where authority[index].lowercasedASCII != name[index] { return false }
        return true
    }
}
