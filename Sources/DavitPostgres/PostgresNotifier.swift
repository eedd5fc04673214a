#if Postgres
internal import Synchronization

/// Notifies the other nodes that shares have changed.
///
/// NOTIFY takes a lock that all transactions of the database share, so it is not part of a change. A node sends one
/// notification for all changes since the last one, and at most one in 50 ms. It may be lost if the node ends: other nodes
/// must read the journal from time to time without one.
package final class PostgresNotifier: Sendable {
    /// The shortest time between two notifications.
    package static let interval = Duration.milliseconds(50)
    static let channel = "davit"
    /// The server refuses 8000 bytes.
    private static let payloadLimit = 7000

    private struct State {
        var shares: Set<Int64> = []
        /// Whether a notification is scheduled, or was sent less than ``interval`` ago.
        var isScheduled = false
    }

    private let pool: PostgresPool
    private let node: Int64
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - node: identifies this node to itself, so that it can ignore its notifications.
    ///   - schedule: runs a closure after the given time, on a thread that it may block.
    package init(
        _ pool: PostgresPool, node: Int64,
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    ) {
        self.pool = pool
        self.node = node
        self.schedule = schedule
    }

    /// Records that a share has changed. Call it after the change is committed. Does not block.
    package func recordChange(of share: Int64) {
        let isFirst = state.withLock { state in
            state.shares.insert(share)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule(.zero) { [self] in send() } }
    }

    private func send() {
        let shares = state.withLock { state in
            defer { state.shares = [] }
            state.isScheduled = !state.shares.isEmpty
            return state.shares
        }
        guard !shares.isEmpty else { return }
        do throws(PostgresError) {
            let deadline = ContinuousClock.now + pool.settings.roundTripTimeout
            try pool.withConnection(until: deadline) { connection throws(PostgresError) in
                _ = try connection.run(
                    "SELECT pg_notify($1, $2)", .text(Self.channel), .text(payload(shares)), until: deadline)
            }
        } catch {
            // With the next one.
            state.withLock { $0.shares.formUnion(shares) }
        }
        schedule(Self.interval) { [self] in send() }
    }

    private func payload(_ shares: Set<Int64>) -> String {
        let list = shares.sorted().map(String.init).joined(separator: ",")
        return "\(node):" + (list.utf8.count <= Self.payloadLimit ? list : "*")
    }
}

/// What other nodes have notified this one of.
package struct PostgresNews: Hashable, Sendable {
    /// The shares that have changed.
    package var shares: Set<Int64>
    /// Whether any share may have changed.
    package var isEverything: Bool
    /// The number of notifications.
    package var count: Int

    package init(shares: Set<Int64> = [], isEverything: Bool = false, count: Int = 0) {
        self.shares = shares
        self.isEverything = isEverything
        self.count = count
    }

    /// - Parameter own: the node whose notifications are ignored.
    mutating func add(_ payload: String, own: Int64) {
        let parts = payload.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let node = Int64(parts[0]) else {
            isEverything = true
            return
        }
        guard node != own else { return }
        count += 1
        if parts[1] == "*" { isEverything = true }
        shares.formUnion(parts[1].split(separator: ",").compactMap { Int64($0) })
    }
}
#endif
