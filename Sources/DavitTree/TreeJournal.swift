#if Postgres
package import DavitHTTP
package import DavitPostgres
package import DavitStore
internal import DavitSystem
internal import DavitWebDAV
internal import Synchronization

/// The journal of a share in a database.
///
/// Each change inserts a row into `change`, without a number: transactions become visible in another order than that in which
/// they began, and a counter would make all changes wait for each other. A node that reads the journal first gives numbers to
/// the rows that are visible, while it holds the row of the share. So a change that becomes visible later has a higher number,
/// and one that a client was answered before has one already.
package final class TreeJournal: ChangeJournal {
    private struct State {
        var handlers: [@Sendable (Int64?) -> Void] = []
        var news: TreeNews?
        /// When the use of the journal was last recorded in the database.
        var usedAt: ContinuousClock.Instant?
        /// The highest number of a change of locks that was reported; nil before the first reading.
        var lastLocks: Int64?
    }

    private let database: TreeDatabase
    private let servers: PostgresServers
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - servers: on which a listener waits for notifications of other nodes.
    ///   - report: reports failures, as a line for the log.
    package init(
        _ database: TreeDatabase, _ servers: PostgresServers, report: @escaping @Sendable (String) -> Void
    ) {
        self.database = database
        self.servers = servers
        self.report = report
    }

    /// The number of steps of one call, each of which is a transaction of about ``rowLimit`` rows.
    private static let stepLimit = 4
    private static let rowLimit = 1_000

    // MARK: Reading

    package func advance(_ pass: JournalPass) throws(JournalError) -> JournalPosition? {
        begin()
        do throws(StoreError) {
            var target: JournalTarget?
            // Subscribers have asked about each folder before.
            if !pass.followsSubscribers {
                let row = try database.session { (session) throws(StoreError) in
                    try session.row(pass.path)
                }
                guard let row, row.isCollection else { throw .notFound }
                target = JournalTarget(collection: row.id, isDeep: pass.isDeep)
            }
            if let position = try known(target) { return position }
            for _ in 0..<Self.stepLimit {
                if let position = try step(target) { return position }
            }
            return nil
        } catch {
            if error == .notFound { throw .gone }
            throw .store(error)
        }
    }

    /// Returns the position if the journal is up to date.
    private func known(_ target: JournalTarget?) throws(StoreError) -> JournalPosition? {
        let result = try database.session { (session) throws(StoreError) in
            try session.read(
                """
                SELECT journal, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint, last_number,
                    forgotten_number
                FROM share s WHERE id = $1 AND is_journaled
                    AND NOT EXISTS (SELECT FROM change c WHERE c.share = $1)
                    AND ($2 IS NULL OR EXISTS (
                        SELECT FROM journal_collection c
                        WHERE c.share = $1 AND c.collection = $2 AND c.is_listed AND (c.is_deep OR NOT $3)))
                    AND (NOT $3 OR NOT EXISTS (
                        SELECT FROM journal_collection c WHERE c.share = $1 AND NOT c.is_listed AND c.is_deep))
                """, .integer(database.share), .integer(target?.collection),
                .flag(target?.isDeep ?? false))
        }
        do throws(PostgresError) { return try position(result) } catch { throw StoreError(error) }
    }

    private func position(_ result: PostgresResult) throws(PostgresError) -> JournalPosition? {
        guard result.count == 1 else { return nil }
        // After a failover, numbers that were given before may be given again.
        let name = BlobKeyText.text(try result.uuid(0, 0)) + String(try result.integer(0, 1), radix: 16)
        return JournalPosition(
            journal: name, last: try result.integer(0, 2), forgotten: try result.integer(0, 3))
    }

    package func changes(
        in path: ResourcePath, isDeep: Bool, since token: SyncToken, through: Int64, limit: Int
    ) throws(JournalError) -> [ResourceChange] {
        do throws(StoreError) {
            return try database.session { (session) throws(StoreError) in
                let place = try session.place(path)
                guard let row = place.row, row.isCollection else { throw .notFound }
                let canonical = ResourcePath.canonical(place)
                guard try session.isInPlace(place, since: token.base, isDeep: isDeep ? canonical : nil) else {
                    throw .superseded
                }
                return isDeep
                    ? try session.changes(below: canonical, after: token.number, through: through, limit)
                    : try session.changes(
                        of: row.id, at: canonical, after: token.number, through: through, limit)
            }
        } catch {
            switch error {
            case .notFound: throw .gone
            case .superseded: throw .forgotten
            default: throw .store(error)
            }
        }
    }

    // MARK: Numbering

    /// Numbers changes, and continues to list collections, in one transaction.
    /// - Returns: nil if there is more to do.
    private func step(_ target: JournalTarget?) throws(StoreError) -> JournalPosition? {
        do throws(PostgresError) {
            return try database.pool.transaction(until: database.deadline) {
                transaction throws(PostgresError) in
                var numbering = JournalNumbering(transaction, share: database.share, limit: Self.rowLimit)
                try numbering.begin()
                let isCurrent = try numbering.numberChanges()
                let isListed = try numbering.list(target)
                try numbering.end()
                guard isCurrent, isListed else { return .commit(nil) }
                let result = try transaction.run(
                    """
                    SELECT journal, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
                        last_number, forgotten_number
                    FROM share WHERE id = $1
                    """, .integer(database.share))
                return .commit(try position(result))
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Numbers changes without waiting for a reader, and forgets what is too old. Blocks.
    package func maintain() throws(StoreError) {
        if state.withLock({ $0.news != nil }), try known(nil) == nil { _ = try step(nil) }
        try database.commit { batch in
            batch.add(
                """
                UPDATE share SET is_journaled = false
                WHERE id = $1 AND is_journaled AND journal_used < clock_timestamp() - interval '30 days'
                """, .integer(database.share))
            batch.add(
                """
                UPDATE share SET forgotten_number = old.number FROM (
                    SELECT number FROM member_change WHERE share = $1 AND resource = 0
                    ORDER BY number DESC OFFSET $2 LIMIT 1
                ) old WHERE id = $1 AND forgotten_number < old.number
                """, .integer(database.share), .integer(Self.removalLimit))
            batch.add(
                """
                DELETE FROM member_change WHERE share = $1 AND resource = 0
                    AND number <= (SELECT forgotten_number FROM share WHERE id = $1)
                """, .integer(database.share))
            // The row is locked, so that no node begins the journal in the meantime. Rows of `change` are never updated, so that
            // they stay where they are; a join by their key could read all of them.
            batch.add(
                """
                WITH idle AS (SELECT id FROM share WHERE id = $1 AND NOT is_journaled FOR UPDATE)
                DELETE FROM change WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM change WHERE share = $1 AND EXISTS (SELECT FROM idle)
                    ORDER BY xid, number LIMIT 10000))
                """, .integer(database.share))
        }
    }

    /// How many removals of members are remembered.
    private static let removalLimit: Int64 = 100_000

    // MARK: Notifications

    package func onChange(_ body: @escaping @Sendable (_ last: Int64?) -> Void) {
        state.withLock { $0.handlers.append(body) }
    }

    /// Begins to listen to other nodes, and records from time to time that the journal is in use.
    private func begin() {
        let isUnused = state.withLock { state in
            if state.news == nil {
                state.news = TreeNews(servers, share: database.share, report) { [weak self] in
                    self?.notify()
                }
            }
            if let used = state.usedAt, .now - used < .seconds(3600) { return false }
            state.usedAt = .now
            return true
        }
        guard isUnused else { return }
        // A failure is reported by the statements that follow.
        try? database.commit { batch in
            batch.add(
                "UPDATE share SET journal_used = clock_timestamp() WHERE id = $1", .integer(database.share))
        }
    }

    /// Called on the thread of ``TreeNews`` when something may have changed.
    private func notify() {
        let handlers = state.withLock { $0.handlers }
        for handler in handlers { handler(nil) }
        reportLocks()
    }

    /// Reports the locks that were created or removed since the last call.
    private func reportLocks() {
        let handlers = database.lockHandlers.withLock { $0 }
        if handlers.isEmpty { return }
        let last = state.withLock { $0.lastLocks }
        // They have numbers now, because the handlers have read the journal, if there are readers.
        let found: (locks: [Lock], last: Int64)
        do throws(StoreError) {
            found = try database.session { (session) throws(StoreError) in
                try session.lockChanges(after: last ?? 0)
            }
        } catch {
            return
        }
        state.withLock { $0.lastLocks = found.last }
        // Those of before the first call are not news.
        if last != nil, !found.locks.isEmpty { for handler in handlers { handler(found.locks) } }
    }

    /// Ends the threads of the journal.
    package func stop() { state.withLock { $0.news.take() }?.stop() }
}

/// A collection that a reader of the journal asks about.
struct JournalTarget {
    let collection: Int64
    let isDeep: Bool
}

/// The hexadecimal digits of an id.
private enum BlobKeyText {
    static func text(_ id: PostgresUUID) -> String {
        [id.high, id.low].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }
}

extension TreeSession {
    /// Whether the collections along a path, and with `isDeep` those below it, existed at a number of the journal: the
    /// members of another collection that has come to the place of one are not in the journal as changes.
    fileprivate func isInPlace(
        _ place: TreePlace, since number: Int64, isDeep path: ResourcePath?
    ) throws(StoreError) -> Bool {
        let above = place.rows.dropLast()
        let below = place.rows.dropFirst()
        let result = try read(
            """
            SELECT EXISTS (
                SELECT FROM unnest($2::bigint[], $3::bytea[]) AS member (parent, key) JOIN member_change m
                    ON m.share = $1 AND m.parent = member.parent AND m.key = member.key
                WHERE m.placed > $4
            ) OR $5 AND EXISTS (
                SELECT FROM member_change m, LATERAL path_of(m.parent) p
                WHERE m.share = $1 AND m.replaced > $4 AND p.root = $6
                    AND ($7 = ''::bytea OR p.path = $7 OR substr(p.path, 1, length($7) + 1) = $7 || '/')
            )
            """, .integer(database.share), .integers(above.map(\.id)),
            .byteStrings(below.map { TreeKey.key(of: $0.name) }), .integer(number), .flag(path != nil),
            .integer(database.files), .bytes(path?.bytes ?? []))
        return try decode { () throws(PostgresError) in try !result.flag(0, 0) }
    }

    /// Returns the last changes of the members of a collection.
    fileprivate func changes(
        of collection: Int64, at path: ResourcePath, after: Int64, through: Int64, _ limit: Int
    ) throws(StoreError) -> [ResourceChange] {
        let result = try read(
            """
            SELECT number, resource, is_collection, name FROM member_change
            WHERE share = $1 AND parent = $2 AND number > $3 AND number <= $4 ORDER BY number LIMIT $5
            """, .integer(database.share), .integer(collection), .integer(after), .integer(through),
            .integer(Int64(limit)))
        return try decode { () throws(PostgresError) in
            var changes: [ResourceChange] = []
            for row in 0..<result.count {
                if let change = try ResourceChange(result, row, in: path) { changes.append(change) }
            }
            return changes
        }
    }

    /// Returns the last changes of everything below a collection.
    fileprivate func changes(
        below path: ResourcePath, after: Int64, through: Int64, _ limit: Int
    ) throws(StoreError) -> [ResourceChange] {
        let result = try read(
            """
            SELECT m.number, m.resource, m.is_collection, m.name, p.path
            FROM member_change m, LATERAL path_of(m.parent) p
            WHERE m.share = $1 AND m.number > $2 AND m.number <= $3 AND p.root = $4
                AND ($5 = ''::bytea OR p.path = $5 OR substr(p.path, 1, length($5) + 1) = $5 || '/')
            ORDER BY m.number LIMIT $6
            """, .integer(database.share), .integer(after), .integer(through), .integer(database.files),
            .bytes(path.bytes), .integer(Int64(limit)))
        return try decode { () throws(PostgresError) in
            var changes: [ResourceChange] = []
            for row in 0..<result.count {
                let folder = ResourcePath(
                    segments: try result.bytes(row, 4).split(separator: UInt8(ascii: "/")))
                if let folder, let change = try ResourceChange(result, row, in: folder) {
                    changes.append(change)
                }
            }
            return changes
        }
    }

    /// Returns what is known of locks that were created or removed after a number of the journal, and the highest number.
    fileprivate func lockChanges(after number: Int64) throws(StoreError) -> (locks: [Lock], last: Int64) {
        let result = try read(
            """
            SELECT m.locks, m.is_collection, m.name, p.path
            FROM member_change m, LATERAL path_of(m.parent) p
            WHERE m.share = $1 AND m.locks > $2 AND p.root = $3 ORDER BY m.locks LIMIT 1000
            """, .integer(database.share), .integer(number), .integer(database.files))
        return try decode { () throws(PostgresError) in
            var last = number
            var locks: [Lock] = []
            for row in 0..<result.count {
                last = try result.integer(row, 0)
                let folder = ResourcePath(
                    segments: try result.bytes(row, 3).split(separator: UInt8(ascii: "/")))
                guard let path = folder?.appending(try result.bytes(row, 2)) else { continue }
                let isCollection = try result.flag(row, 1)
                locks.append(
                    Lock(
                        token: LockToken(uri: ""), root: path, depth: .infinity, scope: .shared, owner: nil,
                        principal: nil, timeoutSeconds: 0, expiry: database.now,
                        rootHref: path.bytes + (isCollection ? [UInt8(ascii: "/")] : [])))
            }
            return (locks, last)
        }
    }
}

extension ResourceChange {
    /// Reads number, resource, is_collection and name.
    fileprivate init?(
        _ result: PostgresResult, _ row: Int, in folder: ResourcePath
    ) throws(PostgresError) {
        guard let path = folder.appending(try result.bytes(row, 3)) else { return nil }
        self.init(
            number: try result.integer(row, 0), path: path,
            kind: try result.integer(row, 1) == 0 ? .removed : .changed,
            isCollection: try result.flag(row, 2))
    }
}
#endif
