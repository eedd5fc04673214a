internal import DavitHTTP
public import DavitServer

extension Configuration {
    /// The proxies in front of a server.
    public struct Proxies: Hashable, Sendable {
        /// Addresses (`192.0.2.1`), networks (`10.0.0.0/24`, `2001:db8::/64`), or `unix` for whoever can connect to the
        /// Unix socket. Not the networks of clients: whom the server trusts can give itself any address.
        public var trusted: [String] = []
        /// Which fields they set.
        public var fields = TrustedProxies.Fields.either

        /// Believes nobody.
        public init() {}

        /// True for a text that ``trusted`` may hold.
        package static func isUsable(_ text: String) -> Bool { text == localName || IPNetwork(text) != nil }

        fileprivate static let localName = "unix"
    }

    /// Nil without proxies.
    /// - Throws: ``ServerError/trustedProxyMalformed(_:)``.
    func trustedProxies() throws(ServerError) -> TrustedProxies? {
        guard !proxies.trusted.isEmpty else { return nil }
        return TrustedProxies(
            networks: try proxyNetworks(), trustsLocalSockets: proxies.trusted.contains(Proxies.localName),
            fields: proxies.fields)
    }

    /// The proxies that have an address.
    func proxyNetworks() throws(ServerError) -> [IPNetwork] {
        var networks: [IPNetwork] = []
        for text in proxies.trusted where text != Proxies.localName {
            guard let network = IPNetwork(text) else { throw .trustedProxyMalformed(text) }
            networks.append(network)
        }
        return networks
    }
}
