internal import DavitHTTP
package import DavitSystem
package import DavitTransport

extension WebServer {
    /// The URL to tell people who want to reach the server, with a slash at its end; nil while it does not listen.
    ///
    /// The first of ``Configuration/publicURLs``, if there is one. Else the first address it listens on: for all addresses
    /// the primary one of this machine, for loopback `localhost`; for a Unix socket alone `http+unix://…`. The default port is left out. Looks the addresses of the
    /// machine up at each call.
    public var url: String? {
        let addresses = addresses
        if addresses.isEmpty { return nil }
        if let first = configuration.publicURLs.first, let url = PublicURL(parsing: first) {
            return url.text + "/"
        }
        let url = ServerURL.text(of: addresses, isSecure: configuration.tls != nil) {
            InterfaceAddresses.primary($0)?.text
        }
        return url.map { ServerURL.below($0, prefix: configuration.prefix) }
    }
}

/// Makes URLs of bound addresses.
package enum ServerURL {
    /// - Parameters:
    ///   - url: of a whole server, with a slash at its end.
    ///   - prefix: as ``Configuration/prefix``.
    package static func below(_ url: String, prefix: String) -> String {
        guard let prefix = PathPrefix(prefix) else { return url }
        return url.dropLast() + prefix.text + "/"
    }

    /// - Parameter primary: the address of the machine towards the network.
    /// - Returns: nil without addresses.
    package static func text(
        of addresses: [BoundAddress], isSecure: Bool, primary: (SocketAddress.Family) -> String?
    ) -> String? {
        guard let first = addresses.first(where: { $0.path == nil }) else {
            return addresses.first?.url(scheme: isSecure ? "https" : "http")
        }
        let url = PublicURL(
            isSecure: isSecure, host: host(of: first.host, addresses, primary),
            port: first.port == (isSecure ? 443 : 80) ? nil : first.port)
        return url.text + "/"
    }

    private static func host(
        of host: String, _ addresses: [BoundAddress], _ primary: (SocketAddress.Family) -> String?
    ) -> String {
        if host == "::1" || ServeOptions.isLoopback(host) { return "localhost" }
        guard host == "0.0.0.0" || host == "::" else { return bracketed(host) }
        // Both families on one port: whichever this machine has a way with, and IPv4 first.
        let families: [SocketAddress.Family] = [.ipv4, .ipv6].filter { family in
            addresses.contains { $0.host == (family == .ipv4 ? "0.0.0.0" : "::") }
        }
        for family in families {
            if let address = primary(family) { return bracketed(address) }
        }
        return "localhost"
    }

    private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
