public import DavitHTTP

/// Refuses with 403 what the pages of other sites send through somebody's browser (cross-site request forgery).
///
/// A browser sends a form to this server with the credentials it has for it, and from inside its network, whosever page
/// the form is on. It says where the page is from: in Sec-Fetch-Site (Fetch Metadata §2.2), or else in Origin. Only POST is
/// looked at, because whatever else changes something needs a preflight first, which ``CORS`` alone answers. Programs that
/// are no browsers send neither field, and are let through.
public struct CrossSiteGuard: Middleware {
    private let origins: Set<[UInt8]>
    private let names: ServerNames

    /// - Parameters:
    ///   - origins: other sites whose forms are taken, as browsers write them: `https://app.example`.
    ///   - names: hosts that this server is besides the one in Host, as behind a proxy that changes it.
    ///   - secureNames: those of them that browsers reach over TLS alone, whatever this server sees of it.
    public init(allowing origins: [String] = [], names: [String] = [], secureNames: [String] = []) {
        self.init(
            allowing: Set(origins.map { Array($0.utf8) }), names: ServerNames(names, secure: secureNames))
    }

    package init(allowing origins: Set<[UInt8]>, names: ServerNames) {
        self.origins = origins
        self.names = names
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
        if request.count(of: .origin) == 1, let origin = request.bytes(of: .origin), origins.contains(origin)
        {
            return false
        }
        return request.site(names: names) == .other
    }
}
