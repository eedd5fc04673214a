public import DavitHTTP

/// Refuses cross-site request forgery with 403: requests that pages of other sites send through a user's
/// browser.
///
/// A browser submits a form with the user's credentials for this server and from within the user's network,
/// even if the form is on another site. It reports the relation of the page to this server in Sec-Fetch-Site
/// (Fetch Metadata §2.2), and the origin of the page in Origin. Only POST is checked, because other methods
/// that change state need a preflight request, to which only ``CORS`` responds. Clients other than browsers
/// send neither field and are allowed.
public struct CrossOriginGuard: Middleware {
    private let origins: Set<[UInt8]>
    private let names: ServerNames

    /// - Parameters:
    ///   - origins: origins whose requests are allowed, in the form `https://app.example`.
    ///   - names: names of this server in addition to the one in Host, for example if a proxy changes Host: the host, with
    ///     the port if it is not the default of the scheme.
    ///   - secureNames: the hosts of those that browsers reach only over TLS, even if a proxy terminates it, without ports.
    public init(allowing origins: [String] = [], names: [String] = [], secureNames: [String] = []) {
        self.init(
            allowing: Set(origins.map { Array($0.utf8) }), names: ServerNames(names, secure: secureNames))
    }

    package init(allowing origins: Set<[UInt8]>, names: ServerNames) {
        self.origins = origins
        self.names = names
    }

    public func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        guard isForgery(request) else { return try next.respond(to: request) }
        return .ready(.error(.forbidden, "Cross-origin requests are not allowed.", for: request))
    }

    private func isForgery(_ request: HTTPRequest) -> Bool {
        guard request.method == .post else { return false }
        if request.count(of: .origin) == 1, let origin = request.bytes(of: .origin), origins.contains(origin)
        {
            return false
        }
        return request.site(names: names) == .other
    }
}
