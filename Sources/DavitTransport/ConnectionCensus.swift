package import DavitHTTP
internal import Synchronization

/// How many connections are open, and how many of each peer.
package final class ConnectionCensus: Sendable {
    private struct State {
        var count = 0
        var perNetwork: [PeerNetwork: Int] = [:]
        /// Each is called once when there is room again.
        var onRoom: [@Sendable () -> Void] = []
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let onOccupancy: (@Sendable (Bool) -> Void)?
    /// Proxies: their connections are those of many clients.
    private let unlimited: [IPNetwork]
    private let state = Mutex(State())

    /// - Parameter onOccupancy: called with true when the first connection is open, and with false when the last
    ///   one is closed. Under the lock, so that the calls come in order: it must not block, nor ask this object.
    package init(
        limit: Int, limitPerAddress: Int, unlimited: [IPNetwork] = [],
        onOccupancy: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.onOccupancy = onOccupancy
        self.limit = max(1, limit)
        self.unlimited = unlimited
        self.limitPerAddress = max(1, limitPerAddress)
    }

    /// False if the peer has too many connections already. Local sockets and proxies have no limit but that of
    /// all: theirs are the connections of many clients.
    package func enter(_ address: NetworkAddress) -> Bool {
        state.withLock { state in
            let network = PeerNetwork(of: address.address)
            let count = state.perNetwork[network, default: 0]
            guard count < limitPerAddress || isUnlimited(address) else { return false }
            state.perNetwork[network] = count + 1
            state.count += 1
            if state.count == 1 { onOccupancy?(true) }
            return true
        }
    }

    private func isUnlimited(_ address: NetworkAddress) -> Bool {
        guard let known = address.address else { return true }
        return unlimited.contains { $0.contains(known) }
    }

    package func leave(_ address: NetworkAddress) {
        let onRoom = state.withLock { state -> [@Sendable () -> Void] in
            let network = PeerNetwork(of: address.address)
            let count = state.perNetwork[network, default: 1] - 1
            state.perNetwork[network] = count == 0 ? nil : count
            state.count -= 1
            if state.count == 0 { onOccupancy?(false) }
            guard state.count < limit else { return [] }
            defer { state.onRoom = [] }
            return state.onRoom
        }
        for call in onRoom { call() }
    }

    /// True if one more connection may be open; else `onRoom` is called, on any thread, when it may.
    package func hasRoom(onRoom: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.count < limit { return true }
            state.onRoom.append(onRoom)
            return false
        }
    }
}
