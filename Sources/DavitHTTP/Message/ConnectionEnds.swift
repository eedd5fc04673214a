/// Both ends of a connection.
public struct ConnectionEnds: Hashable, Sendable {
    /// This server's; where it listens on all addresses, the one that the peer has chosen.
    public let local: NetworkAddress
    /// The peer's: behind a proxy, the proxy's.
    public let remote: NetworkAddress

    public init(local: NetworkAddress, remote: NetworkAddress) {
        self.local = local
        self.remote = remote
    }
}
