#if Postgres
package import DavitHTTP
package import DavitPostgres

/// The davit processes that have used a database, and the shares in it.
package struct TreeCluster: Sendable {
    /// A davit process.
    package struct Node: Sendable {
        package let id: Int64
        /// The name of the machine and the process ID.
        package let name: String
        package let started: Timestamp
        package let seen: Timestamp
        /// The time since ``seen``, by the clock of the database.
        package let unseenSeconds: Int64
        /// Whether it was seen in the last minute. Servers record that they run several times in a minute.
        package let isRunning: Bool
        /// The number of blobs that it is writing, or has not given up.
        package let stagedBlobs: Int64
    }

    /// A share.
    package struct StoredShare: Sendable {
        package let name: String
        /// The numbers of files and collections, including those in the trash and those that are being removed.
        package let files: Int64
        package let collections: Int64
        /// The size of all content, in bytes. Content that several files have in common counts once.
        package let bytes: Int64
    }

    package let nodes: [Node]
    package let shares: [StoredShare]

    /// Reads the database. Blocks.
    package init(_ pool: PostgresPool) throws(TreeCheckFailure) {
        do throws(PostgresError) {
            let query = TreeQuery(pool)
            let rows = try query.run(
                """
                SELECT n.id, n.name, n.started, n.seen, extract(epoch FROM clock_timestamp() - n.seen)::bigint,
                    n.seen > clock_timestamp() - interval '1 minute',
                    (SELECT count(*) FROM staged_blob s WHERE s.node = n.id)
                FROM node n ORDER BY n.id
                """)
            nodes = try (0..<rows.count).map { row throws(PostgresError) in
                Node(
                    id: try rows.integer(row, 0), name: try rows.text(row, 1),
                    started: Timestamp(nanoseconds: try rows.time(row, 2)),
                    seen: Timestamp(nanoseconds: try rows.time(row, 3)),
                    unseenSeconds: max(0, try rows.integer(row, 4)), isRunning: try rows.flag(row, 5),
                    stagedBlobs: try rows.integer(row, 6))
            }
            let sums = try query.run(
                """
                SELECT s.name, coalesce(r.files, 0), coalesce(r.collections, 0), coalesce(b.bytes, 0)::bigint
                FROM share s LEFT JOIN (
                    SELECT share, count(*) FILTER (WHERE kind <> 0) AS files, count(*) FILTER (WHERE kind = 0) AS collections
                    FROM resource WHERE parent <> 0 GROUP BY share
                ) r ON r.share = s.id LEFT JOIN (SELECT share, sum(length) AS bytes FROM blob GROUP BY share) b
                    ON b.share = s.id
                ORDER BY s.name
                """)
            shares = try (0..<sums.count).map { row throws(PostgresError) in
                StoredShare(
                    name: try sums.text(row, 0), files: try sums.integer(row, 1),
                    collections: try sums.integer(row, 2), bytes: try sums.integer(row, 3))
            }
        } catch {
            throw TreeCheckFailure(error)
        }
    }
}
#endif
