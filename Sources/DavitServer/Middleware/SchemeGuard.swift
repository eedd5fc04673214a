package import DavitHTTP

/// Answers 421 to requests for an `https` URI that came without TLS (RFC 9110 §7.4): who asked believes that nobody
/// could read along.
///
/// Only the absolute form names a scheme. A trusted proxy may pass on what came to it with TLS.
package struct SchemeGuard<Next: Handler>: Handler {
    private let next: Next

    package init(next: Next) { self.next = next }

    package func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard Self.isSecureEnough(request) else {
            return .error(.misdirectedRequest, "This is not a connection for https.", for: request)
        }
        return try await next.respond(to: request)
    }

    package func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? {
        Self.isSecureEnough(request) ? next.respondAtOnce(to: request) : nil
    }

    private static func isSecureEnough(_ request: HTTPRequest) -> Bool {
        !request.target.namesSecureScheme || request.isSecure
    }
}
