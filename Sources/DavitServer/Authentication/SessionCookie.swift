package import DavitHTTP

/// The cookie with the token of a session, or of a sign-in that has begun.
package struct SessionCookie: Sendable {
    /// The host names that browsers reach only over TLS, even if a proxy terminates it.
    private let secureHosts: [[UInt8]]
    /// The path of the server in addition to ``DavitHTTP/HTTPRequest/mountPath``, percent-encoded.
    private let prefix: [UInt8]
    /// How long browsers keep the cookie.
    private var maxAgeSeconds: Int
    /// The beginning of the name, after the prefix for TLS.
    private var label = "davit"

    package init(
        secureHosts: [String] = [], prefix: [UInt8] = [],
        limits: BrowserSession.Limits = BrowserSession.Limits()
    ) {
        self.prefix = prefix
        self.secureHosts = secureHosts.map { Array($0.lowercased().utf8) }
        maxAgeSeconds = Int(limits.lifetimeSeconds)
    }

    #if TLS
    /// The cookie with which a browser returns from a ``SignInProvider``.
    package var ofTickets: SessionCookie {
        var cookie = self
        cookie.label = "davit-sign-in"
        cookie.maxAgeSeconds = Int(SignInTickets.lifetime)
        return cookie
    }
    #endif

    /// Whether the browser reaches the server over TLS.
    package func isSecure(_ request: HTTPRequest) -> Bool {
        if request.isSecure { return true }
        guard let host = request.host?.host else { return false }
        return secureHosts.contains(host)
    }

    /// Returns the name of the cookie.
    ///
    /// Browsers send a cookie to all ports of a host, and to all servers behind one proxy, so the name contains
    /// the port and, if there is one, the path of the server. Over TLS, the prefix `__Host-` (RFC 6265bis
    /// §4.1.3.2) prevents other hosts of the domain, and pages without TLS, from setting the cookie.
    package func name(for request: HTTPRequest) -> String {
        let isSecure = isSecure(request)
        let port = request.host?.port ?? (isSecure ? 443 : 80)
        var name = "\(isSecure ? "__Host-" : "")\(label)-\(port)"
        // A path can contain bytes that a name cannot.
        for byte in request.mountPath + prefix {
            name.unicodeScalars.append(byte.isUnreserved ? Unicode.Scalar(byte) : "_")
        }
        return name
    }

    /// Returns the token that a request contains; nil without one. Two different tokens count as none: one of
    /// them may have been set by another host.
    package func token(in request: HTTPRequest) -> String? {
        guard request.string(named: "Cookie") != nil else { return nil }
        let tokens = Set(request.cookies.all(name(for: request)))
        return tokens.count == 1 ? tokens.first : nil
    }

    /// Whether the request contains the cookie, with any value.
    package func isSent(by request: HTTPRequest) -> Bool {
        request.string(named: "Cookie") != nil && !request.cookies.all(name(for: request)).isEmpty
    }

    /// Adds the cookie to a response.
    package func set(_ token: String, in response: inout HTTPResponse, for request: HTTPRequest) {
        response.setCookie(cookie(token, maxAgeSeconds, request))
    }

    /// Removes the cookie from the browser.
    package func remove(in response: inout HTTPResponse, for request: HTTPRequest) {
        response.setCookie(cookie("", 0, request))
    }

    private func cookie(_ value: String, _ seconds: Int, _ request: HTTPRequest) -> Cookie {
        // Lax, because a link in a message must not lead to the form for a user who has signed in. Requests of
        // other sites are refused by what the browser reports about them.
        Cookie(
            name: name(for: request), value: value, maxAgeSeconds: seconds, isSecure: isSecure(request),
            isHTTPOnly: true, sameSite: .lax)
    }
}
