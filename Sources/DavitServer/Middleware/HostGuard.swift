public import DavitHTTP

/// Answers 421 to requests for hosts that this server is not.
///
/// A server without accounts relies on who can reach it. A web page can reach it through the browser of
/// somebody who can: it gives its own name the address of this server (DNS rebinding). The browser then names
/// that page in Host, so that a name nobody configured is never answered.
public struct HostGuard<Next: Handler>: Handler {
    /// In lower case.
    private let names: [[UInt8]]
    private let next: Next

    /// - Parameter names: host names without port that are answered beside IP literals and `localhost`.
    public init(names: [String], next: Next) {
        self.names = [Array("localhost".utf8)] + names.map { Array($0.lowercased().utf8) }
        self.next = next
    }

    public func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard isForUs(request) else {
            var fields = HTTPFields()
            fields.append(.contentType, "text/plain; charset=utf-8")
            let text = "This server does not answer for that host name.\n"
            return HTTPResponse(.misdirectedRequest, fields: fields, body: .bytes(Array(text.utf8)))
        }
        return try await next.respond(to: request)
    }

    public func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        isForUs(request) ? next.respondAtOnce(to: request) : nil
    }

    /// The absolute form wins over Host (RFC 9112 §3.2.2). HTTP/1.0 may have neither; browsers always have one.
    ///
    /// What a trusted proxy says counts in addition and not instead: one that passes the field of a page on, with the
    /// page's Host, would otherwise open the door that this closes.
    private func isForUs(_ request: HTTPRequest) -> Bool {
        if let forwarded = request.forwardedOrigin?.host, !isKnown(forwarded.span) { return false }
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

    /// - Parameter name: no longer than `authority`, in lower case.
    private static func matches(_ name: [UInt8], _ authority: borrowing Span<UInt8>) -> Bool {
        for index in 0..<name.count where authority[index].lowercasedASCII != name[index] { return false }
        return true
    }
}
