#if Postgres
internal import CPQ

/// Migrates the tables of a database to the version that this davit needs.
///
/// Each migration is a transaction, under an advisory lock, so that nodes that start at the same time do it once. A running
/// node holds a shared advisory lock in each of its sessions, so that the tables do not change while it uses them.
package struct PostgresMigration: Sendable {
    // The advisory locks (1684108905, 1) to (1684108905, 3): keys with two numbers never equal those with one number, which
    // paths have.
    let migrations: [StaticString]
    /// How long to wait for sessions of older nodes: those that have just stopped.
    private let patience: Duration

    package init() { self.init(migrations: PostgresSchema.migrations) }

    /// For tests.
    package init(migrations: [StaticString], patience: Duration = .seconds(3)) {
        self.migrations = migrations
        self.patience = patience
    }

    /// The version of the tables that this davit needs.
    package var version: Int { migrations.count }

    /// Migrates the database, unless it has the current version.
    ///
    /// - Throws: `wrongSchema` if a newer davit has migrated it, if older nodes are using it, or if the schema `davit` was
    ///   not created by davit. The database is unchanged then, or has a version between the old and the current one.
    package func run(_ servers: PostgresServers, until deadline: ContinuousClock.Instant)
        throws(PostgresError)
    {
        while true {
            let connection = try servers.open(until: deadline).connection
            defer { connection.close() }
            do throws(PostgresError) {
                guard try currentVersion(connection, until: deadline) < version else { return }
                while try !runNext(connection, until: deadline) {}
                return
            } catch {
                // Whether COMMIT succeeded is seen in the version.
                guard error.kind == .inDoubt else { throw error }
            }
        }
    }

    /// Takes the lock of a session that uses the tables, and checks their version. Runs on each connection of a pool.
    ///
    /// - Throws: `wrongSchema` if the database has another version, or is being migrated.
    package func attach(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard
            try connection.run("SELECT pg_try_advisory_lock_shared(1684108905, 2)", until: deadline).flag(
                0, 0)
        else { throw PostgresError(.wrongSchema, "the database is being migrated") }
        let found = try currentVersion(connection, until: deadline)
        guard found == version else {
            throw PostgresError(
                .wrongSchema,
                "the database has schema version \(found), but this davit needs version \(version)")
        }
    }

    /// Returns the version of the tables; 0 if there are none.
    private func currentVersion(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Int {
        let found = try connection.run(
            """
            SELECT to_regclass('davit.schema_version') IS NOT NULL,
                EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'davit')
            """, until: deadline)
        guard try found.flag(0, 0) else {
            guard try !found.flag(0, 1) else {
                throw PostgresError(
                    .wrongSchema,
                    "the schema davit exists, and was not created by davit: use another database")
            }
            return 0
        }
        let highest = try connection.run(
            "SELECT coalesce(max(version), 0) FROM davit.schema_version", until: deadline)
        let version = Int(try highest.integer(0, 0))
        guard version <= self.version else {
            throw PostgresError(
                .wrongSchema,
                "the database has schema version \(version), but this davit supports at most \(self.version): "
                    + "use a newer davit")
        }
        return version
    }

    /// Runs one migration. Returns whether none is left.
    private func runNext(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Bool {
        var begin = PostgresBatch()
        begin.add("BEGIN")
        begin.add("SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)")
        // Other nodes that migrate wait here.
        begin.add("SELECT pg_advisory_xact_lock(1684108905, 1)")
        begin.add("CREATE SCHEMA IF NOT EXISTS davit")
        _ = try connection.run(begin, until: deadline)
        do throws(PostgresError) {
            let found = try currentVersion(connection, until: deadline)
            guard found < version else {
                try connection.run("ROLLBACK", until: deadline)
                return true
            }
            try excludeUsers(connection, until: deadline)
            if found == 0 {
                try connection.run(
                    """
                    CREATE TABLE davit.schema_version (
                        version bigint PRIMARY KEY,
                        migrated timestamptz NOT NULL DEFAULT clock_timestamp()
                    )
                    """, until: deadline)
            }
            try connection.runScript(migrations[found], until: deadline)
            var end = PostgresBatch()
            end.add("INSERT INTO davit.schema_version (version) VALUES ($1)", .integer(Int64(found) + 1))
            end.addCommit()
            _ = try connection.run(end, until: deadline)
            return found + 1 == version
        } catch {
            if connection.isInTransaction { _ = try? connection.run("ROLLBACK", until: deadline) }
            throw error
        }
    }

    /// Waits for the end of the sessions that use the tables, and throws `wrongSchema` if they do not end soon.
    private func excludeUsers(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        var batch = PostgresBatch()
        batch.add("SELECT set_config('lock_timeout', $1, true)", .text(patience.setting))
        batch.add("SELECT pg_advisory_xact_lock(1684108905, 2)")
        do throws(PostgresError) { _ = try connection.run(batch, until: deadline) } catch {
            guard error.kind == .busy else { throw error }
            try connection.run("ROLLBACK", until: deadline)
            let users = try connection.run(
                """
                SELECT coalesce(string_agg(DISTINCT application_name, ', '), '') FROM pg_stat_activity
                WHERE pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
                    AND classid = 1684108905 AND objid = 2 AND database = (
                        SELECT oid FROM pg_database WHERE datname = current_database()))
                """, until: deadline)
            throw PostgresError(
                .wrongSchema,
                "the database must be migrated, but older nodes are using it (\(try users.text(0, 0))): stop them first"
            )
        }
    }
}

extension PostgresConnection {
    /// Runs several statements without parameters, which are not prepared, and drops their rows.
    func runScript(_ text: StaticString, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard let handle = unsafe handle else {
            throw PostgresError(.connectionLost, "the connection is closed")
        }
        let start = unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
        guard unsafe PQexitPipelineMode(handle) == 1, unsafe PQsendQuery(handle, start) == 1 else {
            throw unsafe lost(.connectionLost, Self.line(PQerrorMessage(handle)))
        }
        try unsafe flush(handle, until: deadline)
        var failure: PostgresError?
        while let result = try unsafe nextResult(handle, until: deadline) {
            defer { unsafe PQclear(result) }
            if unsafe PQresultStatus(result) == PGRES_FATAL_ERROR {
                failure = unsafe failure ?? Self.error(result)
            }
            if unsafe PQstatus(handle) != CONNECTION_OK { break }
        }
        guard unsafe PQstatus(handle) == CONNECTION_OK, unsafe PQenterPipelineMode(handle) == 1 else {
            throw lost(
                .connectionLost, state: failure?.state ?? "", failure?.message ?? "the connection is lost")
        }
        if let failure { throw failure }
    }
}
#endif
