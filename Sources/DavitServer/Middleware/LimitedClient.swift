internal import DavitHTTP

/// What limits apply to: an account or the network of an address.
enum LimitedClient: Hashable, Sendable {
    case account(String)
    case network(PeerNetwork)

    /// The network of the address of a client; nil for requests of trusted proxies themselves and of local sockets, because they
    /// are those of many clients.
    /// - Parameter proxies: the networks of trusted proxies.
    static func network(of request: HTTPRequest, proxies: [IPNetwork]) -> LimitedClient? {
        let peer = request.peerAddress
        guard let address = IPAddress(String(peer.prefix { $0 != "%" })),
            !proxies.contains(where: { $0.contains(address) })
        else { return nil }
        return .network(PeerNetwork(of: address))
    }
}
