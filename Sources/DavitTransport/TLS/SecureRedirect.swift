internal import DavitHTTP
internal import DavitServer

/// Answers those who speak HTTP without TLS to a port with TLS: the same URL with `https`.
///
/// Nothing else is done with the request, and what was in it has been sent in the clear: the connection ends.
struct SecureRedirect: Handler {
    func respond(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { answer(to: request) }

    func respondAtOnce(to request: HTTPRequest) -> HTTPResponse? { answer(to: request) }

    private func answer(to request: HTTPRequest) -> HTTPResponse {
        var response = HTTPResponse.error(.badRequest, "This port speaks HTTPS only.")
        if let location = location(for: request) {
            response = .redirect(to: location, redirect(for: request))
        }
        response.closesConnection = true
        return response
    }

    /// 301 is what every client knows; but for methods other than these two it may be followed with GET
    /// (RFC 9110 §15.4.2).
    private func redirect(for request: HTTPRequest) -> HTTPResponse.Redirect {
        switch request.method {
        case .get, .head: .movedPermanently
        default: .permanent
        }
    }

    /// Nil without a host, and for targets that have no URL. The port is the one the client has named: behind an
    /// address translation it can be another one than ours.
    private func location(for request: HTTPRequest) -> String? {
        guard let host = request.authority ?? request.bytes(of: .host), HostField(parsing: host.span) != nil,
            request.target.rawPath.first == UInt8(ascii: "/")
        else { return nil }
        var location = Array("https://".utf8) + host + request.target.rawPath
        if let query = request.target.rawQuery { location += [UInt8(ascii: "?")] + query }
        return String(decoding: location, as: UTF8.self)
    }
}
