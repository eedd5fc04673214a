#if Postgres
internal import Synchronization

/// Refuses connections to another database than that of the first connection: one that was created again under the same name, or
/// that a wrong server has. What a node remembers, and the folder or bucket with content, belong to one database.
package final class PostgresDatabaseIdentity: Sendable {
    private let known = Mutex<PostgresUUID?>(nil)

    package init() {}

    /// Checks a new connection. The tables must exist.
    /// - Throws: `wrongSchema` if it leads to another database.
    package func check(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let id = try connection.run("SELECT id FROM database", until: deadline).uuid(0, 0)
        let isSame = known.withLock { known in
            let first = known ?? id
            known = first
            return first == id
        }
        if !isSame {
            throw PostgresError(
                .wrongSchema, "the database is not the one with which this node started; restart the node")
        }
    }
}
#endif
