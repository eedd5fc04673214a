/// A group of peers counted as one: an IPv4 address, or the /64 of an IPv6 address, which usually belongs to
/// one subscriber. All peers without an IP address form a single group.
package struct PeerNetwork: Hashable, Sendable {
    private enum Kind: Hashable, Sendable { case ipv4, ipv6, other }

    private let kind: Kind
    private let bits: UInt64

    /// - Parameter address: the address of the peer; nil if it has none.
    package init(of address: IPAddress?) {
        guard let address else {
            (kind, bits) = (.other, 0)
            return
        }
        kind = address.isIPv4 ? .ipv4 : .ipv6
        bits = address.isIPv4 ? address.low : address.high
    }

    private init(_ kind: Kind, _ bits: UInt64) { (self.kind, self.bits) = (kind, bits) }

    /// The larger network, which often belongs to one organization: /24 for IPv4, /48 for IPv6.
    package var surrounding: PeerNetwork {
        switch kind {
        case .ipv4: PeerNetwork(kind, bits & ~0xFF)
        case .ipv6: PeerNetwork(kind, bits & ~0xFFFF)
        case .other: self
        }
    }

    /// - Parameter text: an address as formatted by the system or a proxy, possibly with a zone.
    package init(of text: String) {
        self.init(of: IPAddress(String(text.prefix { $0 != "%" })))
    }

    /// Returns the text form of the group that contains an address, so that peers counted as one have the
    /// same text: the IPv4 address, the /64 of an IPv6 address, or "".
    package static func text(of address: String) -> String { PeerNetwork(of: address).text }

    /// The text form of the group; see ``text(of:)``.
    package var text: String {
        switch kind {
        case .other: return ""
        case .ipv4:
            return stride(from: 24, through: 0, by: -8).map { String(bits >> $0 & 0xFF) }
                .joined(separator: ".")
        case .ipv6:
            let groups = stride(from: 48, through: 0, by: -16).map {
                String(bits >> $0 & 0xFFFF, radix: 16)
            }
            return groups.joined(separator: ":") + "::/64"
        }
    }
}
