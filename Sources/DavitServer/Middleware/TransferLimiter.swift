package import DavitHTTP
internal import Synchronization

/// Limits the bytes per second of each account and of each network of addresses, for content of requests and of responses
/// separately. Nothing is refused: the transport waits between pieces of the content; see ``TransferPacer``.
package final class TransferLimiter: Middleware {
    private struct Rates {
        var sending: TransferRate
        let receiving: TransferRate

        init(_ bytesPerSecond: Int) {
            sending = TransferRate(bytesPerSecond: bytesPerSecond)
            receiving = TransferRate(bytesPerSecond: bytesPerSecond)
        }

        func areUnused(now: Int64) -> Bool { sending.isUnused(now: now) && receiving.isUnused(now: now) }
    }

    private struct State {
        var rates: [LimitedClient: Rates] = [:]
        /// The number of clients at which those without transfers are removed.
        var sweepCount = TransferLimiter.leastSweepCount
    }

    private static let leastSweepCount = 1024

    private let accountRate: Int?
    private let networkRate: Int?
    private let proxies: [IPNetwork]
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - accountRate: the bytes per second of an account, in each direction; nil without a limit.
    ///   - networkRate: those of a network of addresses.
    ///   - proxies: the networks of trusted proxies, whose own requests are limited only by account.
    ///   - now: returns the nanoseconds of the monotonic clock of the transport.
    package init(
        accountRate: Int?, networkRate: Int?, proxies: [IPNetwork] = [], now: @escaping @Sendable () -> Int64
    ) {
        self.accountRate = accountRate
        self.networkRate = networkRate
        self.proxies = proxies
        self.now = now
    }

    package func handle(_ request: HTTPRequest, next: some Handler) throws(HTTPError) -> Reply {
        request.pacer = pacer(of: request)
        return try next.respond(to: request)
    }

    private func pacer(of request: HTTPRequest) -> TransferPacer? {
        var clients: [(LimitedClient, rate: Int)] = []
        if let accountRate, let name = request.principal { clients.append((.account(name), accountRate)) }
        if let networkRate, let network = LimitedClient.network(of: request, proxies: proxies) {
            clients.append((network, networkRate))
        }
        if clients.isEmpty { return nil }
        let found = state.withLock { state in clients.map { rates(of: $0.0, $0.rate, &state) } }
        return TransferPacer(sending: found.map(\.sending), receiving: found.map(\.receiving))
    }

    private func rates(of client: LimitedClient, _ rate: Int, _ state: inout State) -> Rates {
        if let known = state.rates[client] { return known }
        if state.rates.count >= state.sweepCount {
            // A client that transfers again after a second begins like a new one, so its rates need not be kept unless a request
            // in progress refers to them.
            let now = now()
            let unused = state.rates.compactMap { $0.value.areUnused(now: now) ? $0.key : nil }
            for client in unused {
                if isKnownUniquelyReferenced(&state.rates[client]!.sending) { state.rates[client] = nil }
            }
            state.sweepCount = max(Self.leastSweepCount, 2 * state.rates.count)
        }
        let new = Rates(rate)
        state.rates[client] = new
        return new
    }

    /// The number of clients whose rates are kept.
    var clientCount: Int { state.withLock { $0.rates.count } }
}
