internal import DavitHTTP
internal import DavitServer

extension Configuration {
    /// When addresses are banned. The connections of a banned IPv4 address, or IPv6 /64 network, are closed; its requests that
    /// a trusted proxy forwards are answered with 403. Bans are kept in the state folder of the first share, and remain after
    /// a restart; without a share, they are only in memory. Loopback addresses, Unix sockets and trusted ``proxies`` are never
    /// banned.
    public struct Bans: Hashable, Sendable {
        /// The number of failed logins within an hour after which an address is banned, at least 1; nil for never. Behind a
        /// proxy that is not in ``Configuration/proxies``, all clients have its address, and are banned together.
        public var failedLogins: Int?
        /// The duration of the first ban of an address; at least a second. Each further ban, until 30 days after the end of
        /// the previous one, lasts four times as long, up to 7 days.
        public var duration = Duration.seconds(600)
        /// Addresses and networks that are never banned, such as `10.0.0.0/8`.
        public var exempt: [String] = []

        /// Bans no address, except those of `davit ban add`.
        public init() {}

        /// Whether ``exempt`` can contain `text`.
        package static func isUsable(_ text: String) -> Bool { IPNetwork(text) != nil }

        var policy: BanList.Policy {
            BanList.Policy(
                failures: failedLogins.map { max(1, $0) },
                firstSeconds: min(max(1, duration.components.seconds), BanList.limitSeconds))
        }

        /// - Throws: ``ServerError/networkMalformed(_:)``.
        func exemptNetworks() throws(ServerError) -> [IPNetwork] {
            var networks: [IPNetwork] = []
            for text in exempt {
                guard let network = IPNetwork(text) else { throw .networkMalformed(text) }
                networks.append(network)
            }
            return networks
        }
    }
}
