package import DavitHTTP
package import DavitServer

/// Redirects clients that use plain HTTP on a TLS port to the same URL with `https`.
///
/// The request is not processed otherwise. Because its content was sent unencrypted, the connection is
/// closed.
package struct SecureRedirect: Handler {
    /// Returns the host and port of the URL for those that the client used.
    private let authority: @Sendable ([UInt8]) -> [UInt8]

    /// - Parameter authority: returns the host and port of the URL for a valid `Host` field. By default, the port is the one
    ///   that the client used: with address translation it can differ from the port of the server.
    package init(authority: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }) { self.authority = authority }

    package func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        var response = HTTPResponse.error(.badRequest, "This port requires HTTPS.")
        if let location = location(for: request) {
            response = .redirect(to: location, redirect(for: request))
        }
        response.closesConnection = true
        return .ready(response)
    }

    /// Returns 301, which every client supports, for GET and HEAD, and 308 for other methods, because clients
    /// may change the method to GET after a 301 (RFC 9110 §15.4.2).
    private func redirect(for request: HTTPRequest) -> HTTPResponse.Redirect {
        switch request.method {
        case .get, .head: .movedPermanently
        default: .permanent
        }
    }

    /// Returns the `https` URL of the request; nil without a host, and for targets that have no URL.
    private func location(for request: HTTPRequest) -> String? {
        guard let host = request.authority ?? request.bytes(of: .host), HostField(parsing: host.span) != nil,
            request.target.rawPath.first == UInt8(ascii: "/")
        else { return nil }
        var location = Array("https://".utf8) + authority(host) + request.target.rawPath
        if let query = request.target.rawQuery { location += [UInt8(ascii: "?")] + query }
        return String(decoding: location, as: UTF8.self)
    }
}
