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
