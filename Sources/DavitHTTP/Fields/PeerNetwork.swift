/// Peers that count as one: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has whole. All that is no
/// address is one network, too.
package struct PeerNetwork: Hashable, Sendable {
    private enum Kind: Hashable, Sendable { case ipv4, ipv6, other }

    private let kind: Kind
    private let bits: UInt64

    /// - Parameter address: nil for a peer without one.
    package init(of address: IPAddress?) {
        guard let address else {
            (kind, bits) = (.other, 0)
            return
        }
        kind = address.isIPv4 ? .ipv4 : .ipv6
        bits = address.isIPv4 ? address.low : address.high
    }

    private init(_ kind: Kind, _ bits: UInt64) { (self.kind, self.bits) = (kind, bits) }

    /// The network around this one that one party often has all of: an IPv4 network of 24 bits, an IPv6 network of 48.
    package var surrounding: PeerNetwork {
        switch kind {
        case .ipv4: PeerNetwork(kind, bits & ~0xFF)
        case .ipv6: PeerNetwork(kind, bits & ~0xFFFF)
        case .other: self
        }
    }

    /// - Parameter text: an address as the system or a proxy writes it, perhaps with a zone.
    package init(of text: String) {
        self.init(of: IPAddress(String(text.prefix { $0 != "%" })))
    }

    /// The network of an address as text, equal for peers that count as one: an IPv4 address, the first half of an IPv6
    /// address, or "".
    package static func text(of address: String) -> String {
        let network = PeerNetwork(of: address)
        switch network.kind {
        case .other: return ""
        case .ipv4:
            return stride(from: 24, through: 0, by: -8).map { String(network.bits >> $0 & 0xFF) }
                .joined(separator: ".")
        case .ipv6:
            let groups = stride(from: 48, through: 0, by: -16).map {
                String(network.bits >> $0 & 0xFFFF, radix: 16)
            }
            return groups.joined(separator: ":") + "::/64"
        }
    }
}
