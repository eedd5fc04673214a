/// The two endpoints of a connection.
public struct ConnectionEndpoints: Hashable, Sendable {
    /// The server's endpoint, with the address to which the peer connected, even if the server listens on all
    /// addresses.
    public let local: NetworkAddress
    /// The peer's endpoint; the proxy's endpoint if a proxy forwards the request.
    public let remote: NetworkAddress

    /// Creates a pair of endpoints.
    public init(local: NetworkAddress, remote: NetworkAddress) {
        self.local = local
        self.remote = remote
    }
}
