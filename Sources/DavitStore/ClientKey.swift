/// Identifies the client to which the server charges stored entries, work and open resources: the account or,
/// without authentication, the network of the client's address.
public enum ClientKey: Hashable, Sendable {
    case account(String)
    /// An IPv4 address or the /64 prefix of an IPv6 address; empty for local sockets and for rows written by
    /// earlier versions.
    case network(String)

    /// Creates a key from the account if there is one, otherwise from the network.
    public init(principal: String?, network: String?) {
        self = principal.map { .account($0) } ?? .network(network ?? "")
    }
}

/// Limits on how many entries and bytes the server remembers, for each client and for all clients together.
public struct QuotaLimits: Hashable, Sendable {
    public var countPerClient: Int
    public var bytesPerClient: Int
    public var count: Int
    public var bytes: Int

    public init(countPerClient: Int, bytesPerClient: Int, count: Int, bytes: Int) {
        self.countPerClient = countPerClient
        self.bytesPerClient = bytesPerClient
        self.count = count
        self.bytes = bytes
    }
}

/// Counts entries and their bytes, per client and in total. Each call takes constant time.
struct QuotaTracker: Sendable {
    struct Charge: Sendable {
        var count = 0
        var bytes = 0
    }

    private(set) var total = Charge()
    private var byClient: [ClientKey: Charge] = [:]

    func charge(of client: ClientKey) -> Charge { byClient[client] ?? Charge() }

    mutating func add(_ bytes: Int, for client: ClientKey) {
        total.count += 1
        total.bytes += bytes
        var charge = charge(of: client)
        charge.count += 1
        charge.bytes += bytes
        byClient[client] = charge
    }

    mutating func remove(_ bytes: Int, for client: ClientKey) {
        total.count -= 1
        total.bytes -= bytes
        var charge = charge(of: client)
        charge.count -= 1
        charge.bytes -= bytes
        byClient[client] = charge.count > 0 ? charge : nil
    }

    /// Whether one more entry of `bytes` stays within all limits.
    func admits(_ bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> Bool {
        let own = charge(of: client)
        return own.count < limits.countPerClient && own.bytes + bytes <= limits.bytesPerClient
            && total.count < limits.count && total.bytes + bytes <= limits.bytes
    }
}
