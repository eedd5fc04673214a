/// A router that can forward a port of its public address to this machine, such as through NAT-PMP or UPnP.
public protocol PortGateway: Sendable {
    /// Requests or renews a mapping of a TCP port. Blocks for at most about ten seconds.
    /// - Parameters:
    ///   - port: the port of this machine.
    ///   - external: the wanted port of the public address; the router may choose another one.
    ///   - seconds: the wanted duration of the mapping.
    func map(_ port: UInt16, to external: UInt16, seconds: Int) throws(PortGatewayError) -> PortLease

    /// Removes a mapping of a TCP port. Blocks for at most about two seconds; failures are ignored, because the mapping
    /// ends by itself.
    func unmap(_ port: UInt16, _ lease: PortLease)
}

/// A mapping of a port of a router to one of this machine.
public struct PortLease: Hashable, Sendable {
    /// The public IPv4 address of the router, numeric.
    public var address: String
    /// The port of the public address.
    public var port: UInt16
    /// The duration in seconds, after which the mapping ends unless it is renewed; 0 if it does not end.
    public var seconds: Int
    /// The protocol, such as `UPnP`.
    public var method: String

    /// Creates a lease.
    public init(address: String, port: UInt16, seconds: Int, method: String) {
        self.address = address
        self.port = port
        self.seconds = seconds
        self.method = method
    }

    /// Whether the address can be reached from the Internet: it is not that of a private network (RFC 1918, RFC 6598).
    public var isPublic: Bool {
        let octets = address.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        guard octets.count == 4 else { return false }
        switch (octets[0], octets[1]) {
        case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127): return false
        case (224..., _): return false
        default: return true
        }
    }
}

/// The reason why a port is not mapped.
public struct PortGatewayError: Error, Hashable, Sendable {
    /// A message for the log.
    public let reason: String

    /// Creates an error.
    public init(reason: String) { self.reason = reason }
}
