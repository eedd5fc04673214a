internal import DavitHTTP
public import DavitServer

extension Configuration {
    /// The proxies in front of a server.
    public struct Proxies: Hashable, Sendable {
        /// Addresses (`192.0.2.1`), networks (`10.0.0.0/24`, `2001:db8::/64`), or `unix` for all processes
        /// that can connect to the Unix socket. Do not include networks of clients: a trusted peer can claim
        /// any client address.
        public var trusted: [String] = []
        /// The fields that the proxies set.
        public var fields = TrustedProxies.Fields.either

        /// The fields in which the proxies report the user whom they have authenticated; nil if they do not.
        /// Everyone who can connect from a trusted address can then be any user. A user needs no account here.
        ///
        /// Requests from other addresses, and those without a user, must authenticate with an account.
        public var identityFields: IdentityFields?

        /// Trusts no proxy.
        public init() {}

        /// Whether ``trusted`` can contain `text`.
        package static func isUsable(_ text: String) -> Bool { text == localName || IPNetwork(text) != nil }

        fileprivate static let localName = "unix"
    }

    /// Returns nil without proxies.
    /// - Throws: ``ServerError/trustedProxyMalformed(_:)``.
    func trustedProxies() throws(ServerError) -> TrustedProxies? {
        guard !proxies.trusted.isEmpty else { return nil }
        return TrustedProxies(
            networks: try proxyNetworks(), trustsLocalSockets: proxies.trusted.contains(Proxies.localName),
            fields: proxies.fields, identityFields: proxies.identityFields)
    }

    /// The proxies that are addresses or networks.
    func proxyNetworks() throws(ServerError) -> [IPNetwork] {
        var networks: [IPNetwork] = []
        for text in proxies.trusted where text != Proxies.localName {
            guard let network = IPNetwork(text) else { throw .trustedProxyMalformed(text) }
            networks.append(network)
        }
        return networks
    }
}
