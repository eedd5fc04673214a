#if Postgres
/// A row of the journal.
package struct PostgresChange: Hashable, Sendable {
    package let xid: UInt64
    package let number: Int64
    package let resource: Int64
    package let parent: Int64
    package let name: [UInt8]
    package let kind: Int64
}

/// What a reader of the journal of a share knows.
///
/// Transactions do not become visible in the order of their numbers, and a counter for all would be a bottleneck. So a
/// position is a number below which no transaction was running when the journal was read: what becomes visible later has a
/// number at or above it. A reader may get the same change twice, and never misses one.
package struct PostgresChangePosition: Hashable, Sendable {
    /// The page that follows, if the reader has not received all changes yet.
    package struct Page: Hashable, Sendable {
        /// The last change of the page before.
        package var xid: UInt64
        package var number: Int64
        /// The position after the last page.
        package var next: UInt64
        /// Later transactions belong to the next reading, so that pages end while others write.
        package var end: UInt64

        package init(xid: UInt64, number: Int64, next: UInt64, end: UInt64) {
            self.xid = xid
            self.number = number
            self.next = next
            self.end = end
        }
    }

    /// Identifies the journal of the share.
    package var journal: PostgresUUID
    /// The timeline of the server. After a failover, numbers of transactions that were lost may be used again.
    package var timeline: Int64
    /// The reader knows all changes of transactions with lower numbers.
    package var xid: UInt64
    package var page: Page?

    package init(journal: PostgresUUID, timeline: Int64, xid: UInt64, page: Page? = nil) {
        self.journal = journal
        self.timeline = timeline
        self.xid = xid
        self.page = page
    }
}

/// The journal of a share.
package struct PostgresChanges: Sendable {
    package let share: Int64

    package init(share: Int64) { self.share = share }

    package struct Answer {
        /// In the order of their transactions' numbers.
        package let changes: [PostgresChange]
        package let position: PostgresChangePosition

        /// Whether these are all changes.
        package var isComplete: Bool { position.page == nil }
    }

    /// Appends the statement that records a change in the transaction that makes it.
    ///
    /// - Parameter kind: see the table `change`.
    package func add(
        to batch: inout PostgresBatch, resource: Int64, parent: Int64, name: [UInt8], kind: Int64
    ) {
        batch.add(
            "INSERT INTO change (share, resource, parent, name, kind) VALUES ($1, $2, $3, $4, $5)",
            .integer(share), .integer(resource), .integer(parent), .bytes(name), .integer(kind))
    }

    /// Returns the present position, from which changes can be read later; nil if the share does not exist.
    ///
    /// What is read afterwards includes all changes before the position.
    package func position(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresChangePosition? {
        let found = try connection.run(
            """
            SELECT journal, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
                pg_snapshot_xmin(pg_current_snapshot())
            FROM share WHERE id = $1
            """, .integer(share), until: deadline)
        guard found.count == 1 else { return nil }
        return PostgresChangePosition(
            journal: try found.uuid(0, 0), timeline: try found.integer(0, 1),
            xid: try found.transactionID(0, 2))
    }

    /// Returns the changes since a position.
    ///
    /// - Parameter limit: the maximum number of changes; at least 1.
    /// - Returns: nil if the journal cannot report all changes since the position (RFC 6578 §3.2, `valid-sync-token`).
    package func read(
        since position: PostgresChangePosition, limit: Int, _ connection: PostgresConnection,
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Answer? {
        // One statement, so that the snapshot is that of the rows.
        let rows = try connection.run(
            """
            SELECT pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()),
                c.xid, c.number, c.resource, c.parent, c.name, c.kind
            FROM share s LEFT JOIN LATERAL (
                SELECT * FROM change WHERE share = s.id AND (xid, number) > ($2, $3) AND xid < $4
                ORDER BY xid, number LIMIT $5
            ) c ON true
            WHERE s.id = $1 AND s.journal = $6 AND s.first_change <= $7
                AND ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint = $8
            ORDER BY c.xid, c.number
            """,
            .integer(share), .transactionID(position.page?.xid ?? position.xid),
            // The numbers of changes begin with 1.
            .integer(position.page?.number ?? 0), .transactionID(position.page?.end ?? .max),
            .integer(Int64(limit) + 1), .uuid(position.journal), .transactionID(position.xid),
            .integer(position.timeline), until: deadline)
        guard rows.count > 0 else { return nil }
        var changes: [PostgresChange] = []
        for row in 0..<min(rows.count, limit) where !rows.isNull(row, 2) {
            changes.append(
                PostgresChange(
                    xid: try rows.transactionID(row, 2), number: try rows.integer(row, 3),
                    resource: try rows.integer(row, 4), parent: try rows.integer(row, 5),
                    name: try rows.bytes(row, 6), kind: try rows.integer(row, 7)))
        }
        var position = position
        // What the later pages see of running transactions must not count.
        let (next, end) = (position.page?.next, position.page?.end)
        let (minimum, maximum) = (try rows.transactionID(0, 0), try rows.transactionID(0, 1))
        if rows.count > limit, let last = changes.last {
            position.page = .init(
                xid: last.xid, number: last.number, next: next ?? minimum, end: end ?? maximum)
        } else {
            position.xid = next ?? minimum
            position.page = nil
        }
        return Answer(changes: changes, position: position)
    }

    /// Appends the statements that remove all but the last `kept` changes, at most `limit` of them. Older positions are no
    /// longer valid.
    package func addTrim(to batch: inout PostgresBatch, keeping kept: Int, limit: Int) {
        batch.add(
            """
            UPDATE share SET first_change = oldest.xid FROM (
                -- Positions that are given out from now on remain valid.
                SELECT least(xid, pg_snapshot_xmin(pg_current_snapshot())) AS xid FROM change
                WHERE share = $1 ORDER BY change.xid DESC, number DESC OFFSET $2 LIMIT 1
            ) oldest WHERE id = $1 AND first_change < oldest.xid
            """, .integer(share), .integer(Int64(kept) - 1))
        batch.add(
            """
            DELETE FROM change WHERE (share, xid, number) IN (
                SELECT c.share, c.xid, c.number FROM change c JOIN share s ON s.id = c.share
                WHERE c.share = $1 AND c.xid < s.first_change ORDER BY c.xid, c.number LIMIT $2)
            """, .integer(share), .integer(Int64(limit)))
    }
}
#endif
