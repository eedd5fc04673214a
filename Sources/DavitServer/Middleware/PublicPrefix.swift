package import DavitHTTP

/// Gives requests back what a proxy in front has taken away from their path, so that hrefs, lock roots and redirects have
/// it, and references that clients send are understood with it.
///
/// What a trusted proxy says counts, else what is configured for the host that was asked, else the first that is.
package struct PublicPrefix: Middleware {
    /// A host, in lower case and without port, and what its proxy takes away.
    package struct Host: Hashable, Sendable {
        package var name: [UInt8]
        package var prefix: PathPrefix

        package init(name: [UInt8], prefix: PathPrefix) {
            self.name = name
            self.prefix = prefix
        }
    }

    private let hosts: [Host]
    /// Some of `hosts` has a prefix.
    private let isConfigured: Bool

    package init(hosts: [Host]) {
        self.hosts = hosts
        isConfigured = hosts.contains { $0.prefix != .empty }
    }

    package func handle(_ request: HTTPRequest, next: some Handler) async throws(HTTPError) -> HTTPResponse {
        let prefix = prefix(of: request)
        if prefix == .empty { return try await next.respond(to: request) }
        let place = request.enter(prefix)
        // For the access log, which has the path as it came.
        defer { request.leaveMount(place) }
        return try await next.respond(to: request)
    }

    package func handleAtOnce(_ request: HTTPRequest, next: some Handler) -> HTTPResponse? {
        let prefix = prefix(of: request)
        if prefix == .empty { return next.respondAtOnce(to: request) }
        let place = request.enter(prefix)
        defer { request.leaveMount(place) }
        return next.respondAtOnce(to: request)
    }

    private func prefix(of request: HTTPRequest) -> PathPrefix {
        if let prefix = request.forwardedOrigin?.prefix { return prefix }
        guard isConfigured, request.target.form != .asterisk else { return .empty }
        let asked = request.host?.host
        let host = hosts.first { $0.name == asked } ?? hosts.first
        return host?.prefix ?? .empty
    }
}
