package import DavitHTTP
package import DavitSystem

extension NetworkAddress {
    package init(_ address: SocketAddress) {
        self.init(
            family: address.family == .ipv4 ? .ipv4 : .ipv6, high: address.high, low: address.low,
            scope: address.scope, port: address.port)
    }
}

extension SocketAddress {
    /// Numeric, without port and brackets.
    package var text: String { NetworkAddress(self).host }
}
