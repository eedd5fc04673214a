#if Postgres
internal import DavitSystem

/// How a transaction ends.
package enum PostgresDecision<Value> {
    /// Commits it. The value must not depend on the results of the statements that are sent with COMMIT, because they are
    /// lost if the connection is.
    case commit(Value)
    /// Rolls it back, because nothing is to be changed.
    case rollback(Value)
}

/// A transaction, for the body that runs its statements.
///
/// BEGIN is sent with the first batch. Statements that are added to ``last`` are sent with COMMIT, so that a change needs
/// two round trips: the first one takes locks and reads, the second one writes.
package final class PostgresTransaction {
    /// Statements that are sent with COMMIT.
    package var last = PostgresBatch()
    fileprivate let key = PostgresUUID.random()
    private let connection: PostgresConnection
    private let pool: PostgresPool
    private let deadline: ContinuousClock.Instant
    private var hasBegun = false
    /// How much longer its round trips may take than others.
    private var extraTime = Duration.zero

    fileprivate init(
        _ connection: PostgresConnection, _ pool: PostgresPool, _ deadline: ContinuousClock.Instant
    ) {
        self.connection = connection
        self.pool = pool
        self.deadline = deadline
    }

    /// Runs statements in one round trip, and returns their results.
    package func run(_ batch: PostgresBatch) throws(PostgresError) -> [PostgresResult] {
        var whole = PostgresBatch()
        let isFirst = !hasBegun
        if isFirst { addBegin(to: &whole) }
        let skipped = whole.count
        whole.add(batch)
        let readsClock = isFirst && pool.clock.isStale()
        if readsClock { whole.add("SELECT clock_timestamp()") }
        let sent = ContinuousClock.now
        let results = try connection.run(whole, until: limit)
        if readsClock, let reading = results.last {
            // The last statement of the batch, but the others may have waited for locks: then the reading is inexact, and
            // a more exact one of the last seconds is preferred.
            pool.clock.record(try reading.time(0, 0), sent: sent, received: .now)
        }
        return Array(results[skipped..<(skipped + batch.count)])
    }

    /// Runs one statement in a round trip of its own.
    @discardableResult
    package func run(
        _ statement: PostgresStatement, _ values: PostgresValue...
    ) throws(PostgresError) -> PostgresResult {
        var batch = PostgresBatch()
        batch.add(PostgresBatch.QueuedStatement(statement: statement, values: values, isCommit: false))
        return try run(batch)[0]
    }

    private var limit: ContinuousClock.Instant {
        min(deadline, .now + pool.settings.roundTripTimeout) + extraTime
    }

    /// Appends a statement that gives the following ones of the transaction more time.
    package func addTime(_ time: Duration, to batch: inout PostgresBatch) {
        extraTime = time
        batch.add(
            "SELECT set_config('statement_timeout', $1, true)",
            .text((pool.settings.statementTimeout + time).setting))
    }

    private func addBegin(to batch: inout PostgresBatch) {
        hasBegun = true
        batch.add("BEGIN")
    }

    fileprivate func commit() throws(PostgresError) {
        var batch = PostgresBatch()
        // Transactions of one round trip too: a node that only reads has no others.
        let readsClock = !hasBegun && pool.clock.isStale()
        if !hasBegun { addBegin(to: &batch) }
        if readsClock { batch.add("SELECT clock_timestamp()") }
        batch.add(last)
        batch.add("INSERT INTO commit_marker (key, is_committed) VALUES ($1, true)", .uuid(key))
        batch.addCommit()
        let sent = ContinuousClock.now
        let results = try connection.run(batch, until: limit)
        // After BEGIN. An error would claim that the transaction failed.
        if readsClock, let time = try? results[1].time(0, 0) {
            pool.clock.record(time, sent: sent, received: .now)
        }
    }

    /// Ends what is open, so that the connection can be used again.
    fileprivate func rollBack() {
        guard connection.isInTransaction else { return }
        do { try connection.run("ROLLBACK", until: .now + pool.settings.roundTripTimeout) } catch {
            connection.close()
        }
    }
}

extension PostgresPool {
    /// The number of times that a body is run at most.
    package static let attemptLimit = 8

    /// Runs `body` in a transaction, and commits it.
    ///
    /// If another transaction was in the way, or if the connection is lost before the transaction is committed, `body` runs
    /// again: it must have no effects but its statements. If the connection is lost after COMMIT was sent, a new connection
    /// finds out whether the transaction is committed, see ``settle(_:until:)``.
    ///
    /// - Parameters:
    ///   - deadline: for all attempts. Finding out about a lost COMMIT may take ``PostgresSettings/settleTimeout`` longer.
    ///   - attempts: how often to run `body` at most. If it runs only once, and the connection is lost meanwhile, the error is
    ///     `retry`.
    /// - Throws: `inDoubt` if the transaction is committed or not, and that cannot be found out in time. With any other
    ///   error, it is not committed.
    package func transaction<Value>(
        until deadline: ContinuousClock.Instant, attempts: Int = attemptLimit,
        _ body: (PostgresTransaction) throws(PostgresError) -> PostgresDecision<Value>
    ) throws(PostgresError) -> Value {
        var attempt = 0
        while true {
            attempt += 1
            var current: (key: PostgresUUID, decision: PostgresDecision<Value>?)?
            let failure: PostgresError
            do throws(PostgresError) {
                return try withConnection(until: deadline) { connection throws(PostgresError) in
                    let transaction = PostgresTransaction(connection, self, deadline)
                    defer { transaction.rollBack() }
                    current = (transaction.key, nil)
                    let decision = try body(transaction)
                    current = (transaction.key, decision)
                    switch decision {
                    case .commit(let value):
                        try transaction.commit()
                        return value
                    case .rollback(let value): return value
                    }
                }
            } catch { failure = error }
            if failure.state == "55P03" { endStoppedSessions() }
            // Without a connection, the caller responds that the database is unavailable.
            guard let current else { throw failure }
            switch failure.kind {
            case .inDoubt:
                guard try !settle(current.key, until: .now + settings.settleTimeout) else {
                    if case .commit(let value)? = current.decision { return value }
                    throw failure
                }
                guard attempt < attempts, .now < deadline else {
                    throw PostgresError(.connectionLost, state: failure.state, failure.message)
                }
            case .retry, .connectionLost, .timedOut:
                guard attempt < attempts, .now < deadline else {
                    // A caller that repeats its work itself finds another connection, if the database can be reached.
                    if failure.kind == .connectionLost, attempts == 1 {
                        throw .conflict(failure.message)
                    }
                    throw failure
                }
            default: throw failure
            }
        }
    }

    /// Runs `body`, which only reads, with a connection. If that is lost, `body` runs once more, with another one.
    package func read<Value>(
        until deadline: ContinuousClock.Instant, _ body: (PostgresConnection) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        var isStarted = false
        do throws(PostgresError) {
            return try withConnection(until: deadline, isReading: true) { connection throws(PostgresError) in
                isStarted = true
                return try body(connection)
            }
        } catch {
            guard isStarted, error.kind == .connectionLost || error.kind == .timedOut, .now < deadline else {
                throw error
            }
            return try withConnection(until: deadline, isReading: true, body)
        }
    }

    /// Removes markers of transactions that ended more than an hour ago, so that no node looks for them any more.
    ///
    /// - Parameter limit: the maximum number of markers to remove.
    /// - Returns: the number of removed markers.
    package func removeOldMarkers(limit: Int, until deadline: ContinuousClock.Instant) throws(PostgresError)
        -> Int
    {
        try withConnection(until: deadline) { connection throws(PostgresError) in
            // Other nodes do the same.
            try connection.run(
                """
                DELETE FROM commit_marker WHERE key IN (
                    SELECT key FROM commit_marker WHERE created < (SELECT clock_timestamp() - interval '1 hour')
                    ORDER BY created LIMIT $1 FOR UPDATE SKIP LOCKED)
                """, .integer(Int64(limit)), until: deadline
            ).affectedRows
        }
    }

    /// Ends the sessions of nodes that stopped in the middle of a batch and hold locks. The server's limit for idle
    /// transactions does not count until it has received the end of the batch.
    private func endStoppedSessions() {
        let deadline = ContinuousClock.now + settings.roundTripTimeout
        // If this fails, the next transaction that waits in vain tries it again.
        _ = try? withConnection(until: deadline, isReading: true) { connection throws(PostgresError) in
            try connection.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
                    AND application_name LIKE 'davit%' AND state = 'active' AND wait_event = 'ClientRead'
                    AND query_start < clock_timestamp() - $1 * interval '1 millisecond'
                """, .integer(settings.idleTransactionTimeout.milliseconds), until: deadline)
        }
    }

    /// Finds out whether a transaction is committed, after its connection was lost.
    ///
    /// The transaction inserts a row with a random key. This inserts one with the same key. The unique index makes the later
    /// one wait for the earlier one, so that exactly one of them is committed: if it is this one, the transaction can no
    /// longer be committed, even if its COMMIT is still on the way to the server.
    ///
    /// - Throws: `inDoubt` if no answer is received until the deadline.
    func settle(_ key: PostgresUUID, until deadline: ContinuousClock.Instant) throws(PostgresError) -> Bool {
        compareServersNow()
        while true {
            do throws(PostgresError) {
                // Not refused because of earlier changes: this one is to be known.
                return try withConnection(until: deadline, isReading: true) {
                    connection throws(PostgresError) in
                    // The update writes, so that its answer also waits for the replication of the transaction.
                    try connection.run(
                        """
                        INSERT INTO commit_marker AS marker (key, is_committed) VALUES ($1, false)
                        ON CONFLICT (key) DO UPDATE SET created = clock_timestamp() RETURNING marker.is_committed
                        """, .uuid(key), until: min(deadline, .now + settings.roundTripTimeout)
                    ).flag(0, 0)
                }
            } catch {
                guard .now + .milliseconds(50) < deadline else {
                    throw PostgresError(.inDoubt, state: error.state, error.message)
                }
            }
            SystemThread.sleep(milliseconds: 50)
        }
    }
}
#endif
