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

    /// A text that is different for each client.
    package var text: String {
        switch self {
        case .account(let name): "account " + name
        case .network(let network): network
        }
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

/// What is remembered for a client, or for all clients together.
package struct QuotaCharge: Sendable {
    package var count = 0
    package var bytes = 0

    package init() {}

    package init(count: Int, bytes: Int) {
        self.count = count
        self.bytes = bytes
    }

    package mutating func add(_ bytes: Int) {
        count += 1
        self.bytes += bytes
    }

    package mutating func remove(_ bytes: Int) {
        count -= 1
        self.bytes -= bytes
    }
}

extension QuotaLimits {
    /// Whether a client may add an entry of `bytes`.
    package func admits(_ bytes: Int, own: QuotaCharge, total: QuotaCharge) -> Bool {
        own.count < countPerClient && own.bytes + bytes <= bytesPerClient && total.count < count
            && total.bytes + bytes <= self.bytes
    }
}

/// Counts entries and their bytes, per client and in total. Each call takes constant time.
struct QuotaTracker: Sendable {
    private(set) var total = QuotaCharge()
    private var byClient: [ClientKey: QuotaCharge] = [:]

    func charge(of client: ClientKey) -> QuotaCharge { byClient[client] ?? QuotaCharge() }

    mutating func add(_ bytes: Int, for client: ClientKey) {
        total.add(bytes)
        byClient[client, default: QuotaCharge()].add(bytes)
    }

    mutating func remove(_ bytes: Int, for client: ClientKey) {
        total.remove(bytes)
        var charge = charge(of: client)
        charge.remove(bytes)
        byClient[client] = charge.count > 0 ? charge : nil
    }

    /// Whether one more entry of `bytes` stays within all limits.
    func admits(_ bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> Bool {
        limits.admits(bytes, own: charge(of: client), total: total)
    }
}
