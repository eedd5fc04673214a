package import DavitHTTP

/// Restores the path prefix that a proxy removed, so that hrefs, lock roots and redirects include it, and
/// references sent by clients are resolved with it.
///
/// Uses the prefix reported by a trusted proxy, else the one configured for the requested host, else that of
/// the first configured host.
package struct PublicPrefix: Middleware {
    /// A host in lower case without port, and the prefix that its proxy removes.
    package struct Host: Hashable, Sendable {
        package var name: [UInt8]
        package var prefix: PathPrefix

        package init(name: [UInt8], prefix: PathPrefix) {
            self.name = name
            self.prefix = prefix
        }
    }

    private let hosts: [Host]
    /// Whether any of `hosts` has a prefix.
    private let isConfigured: Bool

    package init(hosts: [Host]) {
        self.hosts = hosts
        isConfigured = hosts.contains { $0.prefix != .empty }
    }

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        let prefix = prefix(of: request)
        if prefix == .empty { return try next.respond(to: request) }
        return try request.whileMounted(request.enter(prefix)) { () throws(HTTPError) in
            try next.respond(to: request)
        }
    }

    private func prefix(of request: HTTPRequest) -> PathPrefix {
        if let prefix = request.forwardedOrigin?.prefix { return prefix }
        guard isConfigured, request.targetForm != .asterisk else { return .empty }
        let asked = request.host?.host
        let host = hosts.first { $0.name == asked } ?? hosts.first
        return host?.prefix ?? .empty
    }
}
