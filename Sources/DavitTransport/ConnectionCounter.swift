package import DavitHTTP
internal import Synchronization

/// Counts open connections, in total and per peer network, and enforces their limits.
package final class ConnectionCounter: Sendable {
    /// The numbers of connections since the server was created.
    package struct Totals: Hashable, Sendable {
        /// The open connections.
        package var open = 0
        package var accepted: UInt64 = 0
        /// Connections closed because their address has too many.
        package var refusedByAddress: UInt64 = 0
        /// Connections closed because their address is banned.
        package var refusedByBan: UInt64 = 0
        /// Connections closed because the application refused them.
        package var refusedByApplication: UInt64 = 0
        /// Connections closed for lack of descriptors or memory.
        package var dropped: UInt64 = 0

        package init() {}
    }

    /// The reason why a connection is closed immediately.
    enum Refusal { case ban, application, exhaustion }

    private struct State {
        var count = 0
        var totals = Totals()
        var perNetwork: [PeerNetwork: Int] = [:]
        /// Callbacks that are called once when a connection may be opened again.
        var onRoom: [@Sendable () -> Void] = []
        /// Whether the server has stopped.
        var hasEnded = false
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let onOccupancy: (@Sendable (Bool) -> Void)?
    /// The networks of proxies, which connect on behalf of many clients and are exempt from the limit per
    /// address.
    private let unlimited: [IPNetwork]
    private let state = Mutex(State())

    /// - Parameter onOccupancy: called with true when the first connection opens, and with false when the
    ///   last one closes. Called while the lock is held, so that the calls are in order: it must not block or
    ///   call this object.
    package init(
        limit: Int, limitPerAddress: Int, unlimited: [IPNetwork] = [],
        onOccupancy: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.onOccupancy = onOccupancy
        self.limit = max(1, limit)
        self.unlimited = unlimited
        self.limitPerAddress = max(1, limitPerAddress)
    }

    /// Counts a new connection. Proxies and peers on local sockets are exempt from the limit per address,
    /// because they connect on behalf of many clients.
    /// - Returns: false if the peer already has too many connections.
    package func enter(_ address: NetworkAddress) -> Bool {
        state.withLock { state in
            let network = PeerNetwork(of: address.address)
            let count = state.perNetwork[network, default: 0]
            guard count < limitPerAddress || isUnlimited(address) else {
                state.totals.refusedByAddress += 1
                return false
            }
            state.perNetwork[network] = count + 1
            state.count += 1
            state.totals.accepted += 1
            if state.count == 1 { onOccupancy?(true) }
            return true
        }
    }

    /// Counts a connection that is closed without ``enter(_:)``.
    func refused(_ reason: Refusal) {
        state.withLock { state in
            switch reason {
            case .ban: state.totals.refusedByBan += 1
            case .application: state.totals.refusedByApplication += 1
            case .exhaustion: state.totals.dropped += 1
            }
        }
    }

    package var totals: Totals {
        state.withLock { state in
            var totals = state.totals
            totals.open = state.count
            return totals
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
            if state.count == 0, !state.hasEnded { onOccupancy?(false) }
            guard state.count < limit else { return [] }
            defer { state.onRoom = [] }
            return state.onRoom
        }
        for call in onRoom { call() }
    }

    /// Stops calling `onOccupancy`: the server has stopped, and connections that close later, because their
    /// requests did not end in time, belong to no server.
    package func end() { state.withLock { $0.hasEnded = true } }

    /// Returns true if another connection may be opened; otherwise calls `onRoom`, on any thread, when that
    /// is possible again.
    package func hasRoom(onRoom: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.count < limit { return true }
            state.onRoom.append(onRoom)
            return false
        }
    }
}
