#if Postgres
/// How a node connects to its database.
package struct PostgresSettings: Sendable {
    /// Connection strings or URLs of libpq, one for each server that can be the primary. Name hosts by address: libpq
    /// resolves names without a deadline.
    package var servers: [String]
    /// The name that the server shows in `pg_stat_activity`.
    package var applicationName = "davit"
    /// The maximum number of connections of a pool, which is also the number of threads that it keeps busy.
    package var connections = 8
    /// The maximum number of threads that wait for a connection. Further ones get the error `busy`.
    package var waiters = 256
    /// For connecting to one server, authentication and settings included.
    package var connectTimeout = Duration.seconds(2)
    /// For one statement. The server ends it; a round trip may take one second longer, and is then given up.
    package var statementTimeout = Duration.seconds(3)
    /// For each lock that a statement waits for.
    package var lockTimeout = Duration.seconds(2)
    /// The time after which the server ends a transaction whose node has stopped. This is what keeps a node that wakes
    /// up from committing a change that other nodes no longer expect.
    package var idleTransactionTimeout = Duration.seconds(5)
    /// For finding out whether a transaction is committed whose connection was lost. Must be longer than a failover takes.
    package var settleTimeout = Duration.seconds(10)
    /// How many sessions whose connections were lost may wait for a synchronous standby until further changes fail. Changes in
    /// progress can add as many as there are connections.
    package var abandonedSessions = 4
    /// The time after which the servers are compared again, see ``PostgresServers``.
    package var comparisonInterval = Duration.seconds(5)
    /// The longest pause between two attempts to connect, after failures.
    package var longestPause = Duration.seconds(1)

    package init(servers: [String]) { self.servers = servers }

    /// For one round trip.
    package var roundTripTimeout: Duration { statementTimeout + .seconds(1) }
}

extension Duration {
    /// In whole milliseconds, at least 1, as the server's settings are written: 0 would mean no limit.
    var setting: String { String(max(1, milliseconds)) }

    /// In whole milliseconds, rounded up.
    var milliseconds: Int64 {
        let parts = components
        return parts.seconds * 1000 + (parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
#endif
