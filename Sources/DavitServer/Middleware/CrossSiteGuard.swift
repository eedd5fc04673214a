public import DavitHTTP

/// Refuses with 403 what the pages of other sites send through somebody's browser (cross-site request forgery).
///
/// A browser sends a form to this server with the credentials it has for it, and from inside its network, whosever page
/// the form is on. It says where the page is from: in Sec-Fetch-Site (Fetch Metadata §2.2), or else in Origin. Only POST is
/// looked at, because whatever else changes something needs a preflight first, which ``CORS`` alone answers. Programs that
/// are no browsers send neither field, and are let through.
public struct CrossSiteGuard: Middleware {
    private let origins: Set<[UInt8]>
    /// In lower case.
    private let names: [[UInt8]]

    /// - Parameters:
    ///   - origins: other sites whose forms are taken, as browsers write them: `https://app.example`.
    ///   - names: hosts that this server is besides the one in Host, as behind a proxy that changes it.
    public init(allowing origins: [String] = [], names: [String] = []) {
        self.init(allowing: Set(origins.map { Array($0.utf8) }), names: names)
    }

    package init(allowing origins: Set<[UInt8]>, names: [String]) {
        self.origins = origins
        self.names = names.map { Array($0.lowercased().utf8) }
    }

    public func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        guard isForgery(request) else { return try await next.respond(to: request) }
        return .error(.forbidden, "This was sent by a page of another site.", for: request)
    }

    public func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        isForgery(request) ? nil : next.respondAtOnce(to: request)
    }

    private func isForgery(_ request: HTTPRequest) -> Bool {
        guard request.method == .post else { return false }
        let site = request.string(named: "Sec-Fetch-Site")
        if site == "same-origin" || site == "none" { return false }
        guard request.count(of: .origin) == 1, let origin = request.bytes(of: .origin) else {
            // Of another site, or with an Origin that can be read in two ways.
            return site != nil || request.contains(.origin)
        }
        if origins.contains(origin) { return false }
        return site != nil || !isOurs(origin, request)
    }

    /// True if an origin (RFC 6454 §6.1) is this server.
    private func isOurs(_ origin: [UInt8], _ request: HTTPRequest) -> Bool {
        // `null` is the origin of pages that may not be trusted, such as those in a sandbox.
        guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8),
            let page = HostField(parsing: origin.span.extracting((colon + 3)..<origin.count))
        else { return false }
        if names.contains(page.host) { return true }
        // A form of another site cannot set the fields of proxies.
        let hosts = [request.forwardedOrigin?.host, request.authority ?? request.bytes(of: .host)]
        return hosts.contains { host in
            guard let host, let server = HostField(parsing: host.span) else { return false }
            return server.isSameServer(as: page)
        }
    }
}
