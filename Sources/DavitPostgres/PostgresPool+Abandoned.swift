#if Postgres
internal import Synchronization

/// The processes of sessions whose connections were lost before they had answered.
struct AbandonedSessions {
    var processes: Set<Int64> = []
    /// Until then, the server is not asked again.
    var refusedUntil: ContinuousClock.Instant?
}

/// A session whose connection is lost ends when it tries to answer. While no synchronous standby confirms what is committed, each
/// attempt to change something leaves one that waits, until all connections of the server are in use, and nothing can be read. So
/// changes fail when some of them exist.
extension PostgresPool {
    /// Records that the connection of a session was lost.
    func recordAbandoned(_ process: Int64) {
        abandoned.withLock { _ = $0.processes.insert(process) }
    }

    /// Throws `busy` if too many sessions whose connections were lost still wait for a standby.
    func checkAbandoned(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let known = try abandoned.withLock { state throws(PostgresError) -> Set<Int64>? in
            guard state.processes.count >= settings.abandonedSessions else { return nil }
            if let end = state.refusedUntil, now() < end { throw Self.refusal(state.processes.count) }
            return state.processes
        }
        guard let known else { return }
        let waiting = try withConnection(until: deadline, isReading: true) {
            connection throws(PostgresError) in
            let result = try connection.run(
                "SELECT pid::bigint FROM pg_stat_activity WHERE pid = ANY ($1) AND wait_event = 'SyncRep'",
                .integers(Array(known)), until: deadline)
            return Set(
                try (0..<result.count).map { row throws(PostgresError) in try result.integer(row, 0) })
        }
        try abandoned.withLock { state throws(PostgresError) in
            state.processes.subtract(known.subtracting(waiting))
            guard state.processes.count >= settings.abandonedSessions else { return }
            state.refusedUntil = now() + .seconds(1)
            throw Self.refusal(state.processes.count)
        }
    }

    private static func refusal(_ count: Int) -> PostgresError {
        PostgresError(
            .busy, "no synchronous standby confirms changes: \(count) sessions wait for one")
    }
}
#endif
