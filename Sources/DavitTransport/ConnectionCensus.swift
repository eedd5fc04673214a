package import DavitHTTP
package import DavitSystem
internal import Synchronization

/// How many connections are open, and how many of each peer.
package final class ConnectionCensus: Sendable {
    private struct State {
        var count = 0
        var perNetwork: [Network: Int] = [:]
        /// Called once when there is room again.
        var onRoom: (@Sendable () -> Void)?
    }

    /// An IPv4 address, or the first 64 bits of an IPv6 address: so much is one customer's.
    private struct Network: Hashable {
        let family: SocketAddress.Family
        let bits: UInt64

        init(_ address: SocketAddress) {
            family = address.family
            bits = address.family == .ipv4 ? address.low : address.high
        }
    }

    private let limit: Int
    private let limitPerAddress: Int
    /// Proxies: their connections are those of many clients.
    private let unlimited: [IPNetwork]
    private let state = Mutex(State())

    package init(limit: Int, limitPerAddress: Int, unlimited: [IPNetwork] = []) {
        self.limit = max(1, limit)
        self.unlimited = unlimited
        self.limitPerAddress = max(1, limitPerAddress)
    }

    /// False if the peer has too many connections already. Local sockets and proxies have no limit but that of
    /// all: theirs are the connections of many clients.
    package func enter(_ address: SocketAddress) -> Bool {
        state.withLock { state in
            let network = Network(address)
            let count = state.perNetwork[network, default: 0]
            guard count < limitPerAddress || isUnlimited(address) else { return false }
            state.perNetwork[network] = count + 1
            state.count += 1
            return true
        }
    }

    private func isUnlimited(_ address: SocketAddress) -> Bool {
        let known: IPAddress
        switch address.family {
        case .local: return true
        case .ipv4: known = IPAddress(ipv4: UInt32(truncatingIfNeeded: address.low))
        case .ipv6: known = IPAddress(ipv6High: address.high, low: address.low)
        }
        return unlimited.contains { $0.contains(known) }
    }

    package func leave(_ address: SocketAddress) {
        let onRoom = state.withLock { state -> (@Sendable () -> Void)? in
            let network = Network(address)
            let count = state.perNetwork[network, default: 1] - 1
            state.perNetwork[network] = count == 0 ? nil : count
            state.count -= 1
            guard state.count < limit else { return nil }
            defer { state.onRoom = nil }
            return state.onRoom
        }
        onRoom?()
    }

    /// True if one more connection may be open; else `onRoom` is called, on any thread, when it may.
    package func hasRoom(onRoom: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.count < limit { return true }
            state.onRoom = onRoom
            return false
        }
    }
}
