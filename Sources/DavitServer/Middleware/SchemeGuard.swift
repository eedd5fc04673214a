package import DavitHTTP

/// Responds with 421 to requests for an `https` URI that arrive without TLS (RFC 9110 §7.4), because the
/// client relies on confidentiality.
///
/// Only the absolute form contains a scheme. A trusted proxy may forward requests that it received over TLS.
package struct SchemeGuard: Middleware {
    package init() {}

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard !request.namesSecureScheme || request.isSecure else {
            return .ready(.error(.misdirectedRequest, "Requests for https URIs require TLS.", for: request))
        }
        return try next.respond(to: request)
    }
}
