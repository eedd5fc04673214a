package import DavitSystem

/// The interfaces on which a server is announced: those on which other machines can reach it.
package struct InterfaceSelection: Sendable {
    /// The beginnings of the names that container engines and hypervisors give to their bridges and to the interfaces of
    /// their guests. Other machines cannot reach the server there.
    private static let virtualPrefixes = [
        "docker", "br-", "veth", "virbr", "vnet", "cni", "podman", "flannel", "cali", "lxcbr", "lxdbr",
        "incusbr",
    ]

    /// An interface, and the protocols with which the server can be reached on it.
    package struct Place: Hashable, Sendable {
        package var name: String
        package var index: UInt32
        package var hasIPv4: Bool
        package var hasIPv6: Bool
    }

    /// The addresses that the server listens on.
    private let addresses: [SocketAddress]
    /// Empty for all interfaces that are not virtual.
    private let names: [String]

    package init(addresses: [SocketAddress], names: [String]) {
        self.addresses = addresses
        self.names = names
    }

    /// Returns the places among `interfaces`, in their order.
    package func places(among interfaces: [NetworkInterface]) -> [Place] {
        interfaces.compactMap { interface in
            guard !interface.isLoopback, interface.hasMulticast, isWanted(interface.name) else { return nil }
            func canBeReached(_ family: SocketAddress.Family) -> Bool {
                interface.addresses.contains { own in
                    own.family == family
                        && addresses.contains { listening in
                            listening.family == family
                                && (listening.isUnspecified
                                    || (listening.high, listening.low) == (own.high, own.low))
                        }
                }
            }
            let place = Place(
                name: interface.name, index: interface.index, hasIPv4: canBeReached(.ipv4),
                hasIPv6: canBeReached(.ipv6))
            return place.hasIPv4 || place.hasIPv6 ? place : nil
        }
    }

    private func isWanted(_ name: String) -> Bool {
        names.isEmpty ? !Self.virtualPrefixes.contains { name.hasPrefix($0) } : names.contains(name)
    }
}
