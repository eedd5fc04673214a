package import DavitHTTP

/// Responds with 421 to requests for an `https` URI that arrive without TLS (RFC 9110 §7.4), because the
/// client relies on confidentiality.
///
/// Only the absolute form contains a scheme. A trusted proxy may forward requests that it received over TLS.
package struct SchemeGuard<Next: Handler>: Handler {
    private let next: Next

    package init(next: Next) { self.next = next }

    package func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        guard Self.isSecureEnough(request) else {
            return .error(.misdirectedRequest, "Requests for https URIs require TLS.", for: request)
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
