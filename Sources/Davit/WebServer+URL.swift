public import DavitHTTP
package import DavitSystem
package import DavitTransport

extension WebServer {
    /// The URL of the server for users, with a trailing slash; nil while the server is not running.
    ///
    /// This is the first of ``Configuration/publicURLs``, if any. Otherwise it is derived from the first TCP
    /// address that the server listens on. The host is `localhost` for a loopback address, and the primary
    /// address of this machine, which each call reads again, for a wildcard address. A default port is
    /// omitted. If there is only a Unix socket, the URL is `http+unix://…`.
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

    /// The URL at which clients in the Internet reach the server through a mapped port of the router, with a trailing
    /// slash; nil without ``Configuration/portMapping``, and while the port is not mapped.
    public var publicURL: String? { publicPort?.url }

    /// The address at which other machines can reach this one, for display to users: that of the interface
    /// with the default route or, without one, of the first other interface. Its port is 0. Asks the system
    /// each time, which takes microseconds.
    /// - Parameter family: `.ipv4` or `.ipv6`.
    /// - Returns: nil without a network, and for `.local`.
    public static func primaryAddress(_ family: NetworkAddress.Family = .ipv4) -> NetworkAddress? {
        switch family {
        case .ipv4: InterfaceAddresses.primary(.ipv4).map { NetworkAddress($0) }
        case .ipv6: InterfaceAddresses.primary(.ipv6).map { NetworkAddress($0) }
        case .local: nil
        }
    }
}

/// Creates URLs from bound addresses.
package enum ServerURL {
    /// Returns `url` with `prefix` appended.
    ///
    /// - Parameters:
    ///   - url: the URL of the server, with a trailing slash.
    ///   - prefix: the path prefix, as in ``Configuration/prefix``.
    package static func below(_ url: String, prefix: String) -> String {
        guard let prefix = PathPrefix(prefix) else { return url }
        return url.dropLast() + prefix.text + "/"
    }

    /// Returns the URL of the first TCP address, or else of the first Unix socket.
    ///
    /// - Parameter primary: returns the primary address of the machine in a family.
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
        if host == "::1" || Configuration.isLoopback(host) { return "localhost" }
        guard host == "0.0.0.0" || host == "::" else { return bracketed(host) }
        // If the server listens on both families, use the first one that has a primary address, and try IPv4
        // first.
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
