/// A ban of an address.
package struct Ban: Hashable, Sendable {
    /// Why the address was banned.
    package enum Reason: String, Sendable {
        case failedLogins = "failed-logins"
        /// An administrator banned it.
        case command
    }

    /// An IPv4 address, or the /64 network of an IPv6 address.
    package var network: String
    /// The number of bans of this address, including this one, each within 30 days after the end of the previous one.
    package var count: Int
    /// In seconds since 1970, as ``until``.
    package var since: Int64
    package var until: Int64
    package var reason: Reason

    package init(network: String, count: Int, since: Int64, until: Int64, reason: Reason) {
        self.network = network
        self.count = count
        self.since = since
        self.until = until
        self.reason = reason
    }
}

/// Storage in which bans survive a restart of the server. Calls block.
package protocol BanStore: Sendable {
    /// Returns all bans, in no particular order.
    func bans() throws(BanStoreError) -> [Ban]
    /// Adds or replaces bans, and removes those of other networks, all or none.
    func commit(_ bans: [Ban], removing networks: [String]) throws(BanStoreError)
}

/// The reason why bans could not be stored or read, for administrators.
package struct BanStoreError: Error, Hashable, Sendable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}
