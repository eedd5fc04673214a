package import DavitHTTP
package import DavitSystem

extension NetworkAddress {
    package init(_ address: SocketAddress) {
        let family: Family =
            switch address.family {
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            case .local: .local
            }
        self.init(
            family: family, high: address.high, low: address.low,
            scope: address.scope, port: address.port)
    }
}

extension SocketAddress {
    /// The numeric address, without port and brackets.
    package var text: String { NetworkAddress(self).host }
}

extension SocketAddress {
    /// Converts the address of a TCP socket, without the zone of a link-local address; nil for a local socket.
    package init?(_ bound: BoundAddress) {
        let host = bound.host.prefix { $0 != "%" }
        guard bound.path == nil, let address = IPAddress(String(host)) else { return nil }
        self.init(
            family: address.isIPv4 ? .ipv4 : .ipv6, high: address.high, low: address.low, scope: 0,
            port: bound.port)
    }
}
