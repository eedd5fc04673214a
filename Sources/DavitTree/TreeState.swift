#if Postgres
package import DavitHTTP
internal import DavitPostgres
package import DavitStore
package import DavitWebDAV
internal import Synchronization

/// The locks, dead properties and trash entries of a share in a database.
///
/// The database decides at each call, because other nodes change the rows too. Rows belong to resources, so that
/// ``TreeStore`` moves and removes them together with the resources: the changes that a share in a folder needs for this
/// do nothing here. There are no intents, because a change is one transaction.
package final class TreeState: ShareState {
    let database: TreeDatabase
    private let report: @Sendable (String) -> Void
    private let totals = Mutex<(totals: TrashTotals, readAt: ContinuousClock.Instant)?>(nil)
    private let lockTotals = Mutex<(count: Int, bytes: Int, readAt: ContinuousClock.Instant)?>(nil)

    /// - Parameter report: reports failures that cannot be returned to the client.
    package init(_ database: TreeDatabase, report: @escaping @Sendable (String) -> Void) {
        self.database = database
        self.report = report
    }

    /// Runs calls that cannot throw. If they fail, the unit to which they belong fails, see `StoreSessions`.
    private func answer<T>(_ other: T, _ body: (TreeSession) throws(StoreError) -> T) -> T {
        assert(database.isInUnit, "the call can block, and its failure would be lost")
        do throws(StoreError) { return try database.session(body) } catch { return other }
    }

    /// Runs calls that can throw.
    func query<T>(_ body: (TreeSession) throws(StoreError) -> T) throws(StateError) -> T {
        do throws(StoreError) { return try database.session(body) } catch { throw StateError(error) }
    }

    // MARK: Changes

    package func commit(_ changes: [StateChange]) throws(StateError) {
        var changes = changes
        changes.removeAll(where: \.isDoneByTreeStore)
        if changes.isEmpty { return }
        try query { (session) throws(StoreError) in
            let change = try TreeStateChange(changes, session)
            session.withProperties.formUnion(change.changedIDs)
            try session.write { batch in change.add(to: &batch) }
        }
    }

    package func commitWithoutBlocking(_ changes: [StateChange]) async throws(StateError) {
        try commit(changes)
    }

    package func commitLater(_ changes: [StateChange]) {
        do throws(StateError) { try commit(changes) } catch {
            report("a change that completes another one failed: \(error.text)")
        }
    }

    package func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void) {}

    // MARK: Locks

    /// Always true, because only the database knows.
    package var hasLocks: Bool { true }

    package func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        answer([]) { (session) throws(StoreError) in
            let place = try session.place(path)
            let own = place.row?.id
            return place.locks.filter { $0.resource == own || $0.lock.depth == .infinity }.map(\.lock)
        }
    }

    package func locks(under path: ResourcePath, now: Timestamp) -> [Lock] {
        answer([]) { (session) throws(StoreError) in
            guard let row = try session.row(path), row.isCollection else { return [] }
            let result = try session.read(
                """
                SELECT token, is_infinite, is_exclusive, owner, principal, network, timeout_seconds, created, expiry,
                    root_href, resource, (
                        SELECT string_agg(r.name, '/' ORDER BY step)
                        FROM unnest(l.ancestors[2:] || l.resource) WITH ORDINALITY AS steps (id, step)
                        JOIN resource r ON r.id = steps.id
                    )
                FROM lock l WHERE ancestors @> $1 AND expiry > clock_timestamp() ORDER BY number
                """, .integers([row.id]))
            return try session.locks(result)
        }
    }

    package func lockCount(atOrUnder path: ResourcePath) -> Int {
        locks(under: path, now: database.now).count
    }

    package func lock(for token: LockToken, now: Timestamp) -> Lock? {
        guard let uuid = token.uuid else { return nil }
        return answer(nil) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT token, is_infinite, is_exclusive, owner, principal, network, timeout_seconds, created, expiry,
                    root_href, resource, (
                        SELECT string_agg(r.name, '/' ORDER BY step)
                        FROM unnest(l.ancestors[2:] || l.resource) WITH ORDINALITY AS steps (id, step)
                        JOIN resource r ON r.id = steps.id
                    )
                FROM lock l WHERE token = $1 AND share = $2 AND expiry > clock_timestamp()
                """, .uuid(uuid), .integer(database.share))
            return try session.locks(result).first
        }
    }

    package func binding(ofLockRoot path: ResourcePath) -> Binding? {
        answer(nil) { (session) throws(StoreError) in
            try session.row(path).map { Binding(identity: $0.identity) }
        }
    }

    /// Does nothing: an expired lock does not count, and maintenance removes it.
    package func expireLocks(now: Timestamp) {}
    package func hasEndedLocks(now: Timestamp) -> Bool { false }

    package var storedLockCount: Int { lockTotals.withLock { $0?.count ?? 0 } }

    package func admits(_ lock: Lock, _ limits: QuotaLimits) -> Bool {
        answer(false) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT count(*), coalesce(sum(256 + 2 * octet_length(root_href) + coalesce(octet_length(owner), 0)), 0)::bigint
                FROM lock WHERE share = $1 AND coalesce(principal, network, '') = $2
                    AND (principal IS NULL) = $3
                """, .integer(database.share), .text(lock.principal ?? lock.network ?? ""),
                .flag(lock.principal == nil))
            let (count, bytes) = try session.decode { () throws(PostgresError) in
                (Int(try result.integer(0, 0)), Int(try result.integer(0, 1)))
            }
            guard count < limits.countPerClient, bytes + lock.chargedBytes <= limits.bytesPerClient else {
                return false
            }
            let all = try lockTotals(session)
            return all.count < limits.count && all.bytes + lock.chargedBytes <= limits.bytes
        }
    }

    /// Returns the number and size of all locks, at most a second old.
    private func lockTotals(_ session: TreeSession) throws(StoreError) -> (count: Int, bytes: Int) {
        if let known = lockTotals.withLock({ $0 }), .now - known.readAt < .seconds(1) {
            return (known.count, known.bytes)
        }
        let result = try session.read(
            """
            SELECT count(*), coalesce(sum(256 + 2 * octet_length(root_href) + coalesce(octet_length(owner), 0)), 0)::bigint
            FROM lock WHERE share = $1
            """, .integer(database.share))
        let (count, bytes) = try session.decode { () throws(PostgresError) in
            (Int(try result.integer(0, 0)), Int(try result.integer(0, 1)))
        }
        lockTotals.withLock { $0 = (count, bytes, .now) }
        return (count, bytes)
    }

    // MARK: Properties

    /// Always false: ``TreeStore`` moves and removes the rows of a resource together with it.
    package func hasRows(atOrUnder path: ResourcePath) -> Bool { false }

    package func hasRows(at path: ResourcePath) -> Bool {
        answer(false) { (session) throws(StoreError) in try session.row(path)?.hasProperties ?? false }
    }

    package func hasContentLanguage(at path: ResourcePath) -> Bool {
        answer(false) { (session) throws(StoreError) in try session.row(path)?.hasLanguage ?? false }
    }

    package func properties(
        at path: ResourcePath, identity: ResourceIdentity
    ) throws(StateError) -> [StoredProperty] {
        try properties(of: [(path, identity)], limitBytes: .max)[0]
    }

    package func hasProperties(below path: ResourcePath) -> Bool { true }

    package func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int
    ) throws(StateError) -> [[StoredProperty]] {
        if resources.isEmpty { return [] }
        return try query { (session) throws(StoreError) in
            let result = try session.read(
                """
                WITH total AS (
                    SELECT id, step, sum(bytes) OVER (ORDER BY step) AS bytes
                    FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, step), LATERAL (
                        SELECT coalesce(sum(octet_length(namespace) + octet_length(local) + octet_length(element)), 0) AS bytes
                        FROM property WHERE resource = wanted.id
                    ) AS own
                )
                SELECT t.step, p.namespace, p.local, p.element FROM total t LEFT JOIN property p ON p.resource = t.id
                WHERE t.bytes <= $2
                ORDER BY t.step, p.namespace COLLATE "C", p.local COLLATE "C"
                """, .integers(resources.map(\.identity.rowID)), .integer(Int64(limitBytes)))
            return try session.decode { () throws(PostgresError) in
                var found: [[StoredProperty]] = []
                for index in 0..<result.count {
                    if try result.integer(index, 0) > Int64(found.count) { found.append([]) }
                    if result.isNull(index, 1) { continue }
                    found[found.count - 1].append(
                        StoredProperty(
                            name: PropertyName(
                                namespace: try result.text(index, 1), local: try result.text(index, 2)),
                            value: PropertyValue(element: try result.bytes(index, 3))))
                }
                return found
            }
        }
    }

    package func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] { [] }

    package func pathsWithProperties(
        under path: ResourcePath
    ) -> [(path: ResourcePath, binding: Binding)] { [] }

    // MARK: Uploads

    package func admitsUpload(
        of bytes: Int, for client: ClientKey, _ limits: QuotaLimits
    ) -> [String]? { nil }
    package var hasUploads: Bool { false }
    package func upload(_ id: String) -> UploadRecord? { nil }
    package func keepsStaged(_ name: [UInt8]) -> Bool { false }
    package func endedUploads(now: Timestamp) -> [UploadRecord] { [] }
    package func allUploads() -> [UploadRecord] { [] }
    package var openUploads: (count: Int, bytes: Int64) { (0, 0) }

    // MARK: Intents, of which there are none

    package func intents() throws(StateError) -> [RenameIntent] { [] }
    package func nextIntentID() -> Int64 { 0 }

    // MARK: Trash

    /// The size of the trash, at most five seconds old. Outside of a unit of calls, the last known size.
    package var trashTotals: TrashTotals {
        let known = totals.withLock { $0 }
        if let known, !database.isInUnit || .now - known.readAt < .seconds(5) { return known.totals }
        if !database.isInUnit { return TrashTotals() }
        return answer(TrashTotals()) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT count(*), coalesce(sum(length), 0)::bigint, coalesce(max(number), 0) FROM trash WHERE share = $1
                """, .integer(database.share))
            let read = try session.decode { () throws(PostgresError) in
                TrashTotals(
                    count: Int(try result.integer(0, 0)), bytes: try result.integer(0, 1),
                    lastNumber: try result.integer(0, 2))
            }
            totals.withLock { $0 = (read, .now) }
            return read
        }
    }

    /// The database numbers the entries.
    package func nextTrashNumber() -> Int64 { 0 }

    package func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        try query { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT t.number, t.id, t.path, t.resource, r.created, t.deleted, t.principal, t.length, t.is_collection,
                    t.is_overwritten
                FROM trash t JOIN resource r ON r.id = t.resource
                WHERE t.share = $1 AND t.number > $2 ORDER BY t.number LIMIT $3
                """, .integer(database.share), .integer(number), .integer(Int64(limit)))
            return try session.trashEntries(result)
        }
    }

    package func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        // The server refuses a null character in a text.
        guard TrashEntry.isID(Array(id.utf8)) else { return nil }
        return try query { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT t.number, t.id, t.path, t.resource, r.created, t.deleted, t.principal, t.length, t.is_collection,
                    t.is_overwritten
                FROM trash t JOIN resource r ON r.id = t.resource WHERE t.share = $1 AND t.id = $2
                """, .integer(database.share), .text(id))
            return try session.trashEntries(result).first
        }
    }
}

extension TreeSession {
    /// Reads locks with the ids and paths of their roots.
    fileprivate func locks(_ result: PostgresResult) throws(StoreError) -> [Lock] {
        try decode { () throws(PostgresError) in
            var locks: [Lock] = []
            for index in 0..<result.count {
                let path = result.isNull(index, 11) ? [] : try result.bytes(index, 11)
                guard let root = ResourcePath(segments: path.split(separator: UInt8(ascii: "/"))) else {
                    continue
                }
                locks.append(
                    try TreeLock(result, index, from: 0, of: try result.integer(index, 10), root: root).lock)
            }
            return locks
        }
    }

    fileprivate func trashEntries(_ result: PostgresResult) throws(StoreError) -> [TrashEntry] {
        try decode { () throws(PostgresError) in
            var entries: [TrashEntry] = []
            for index in 0..<result.count {
                let id = try result.text(index, 1)
                guard
                    let path = ResourcePath(
                        segments: try result.bytes(index, 2).split(separator: UInt8(ascii: "/"))),
                    let location = ResourcePath(segments: [TreeDatabase.trashName, Array(id.utf8)])
                else { continue }
                entries.append(
                    TrashEntry(
                        number: try result.integer(index, 0), id: id, path: path, location: location,
                        identity: ResourceIdentity(
                            inode: UInt64(bitPattern: try result.integer(index, 3)),
                            birth: try result.integer(index, 4)),
                        deleted: Timestamp(nanoseconds: try result.time(index, 5)),
                        principal: result.isNull(index, 6) ? nil : try result.text(index, 6),
                        length: result.isNull(index, 7) ? nil : try result.integer(index, 7),
                        isCollection: try result.flag(index, 8),
                        reason: try result.flag(index, 9) ? .overwritten : .deleted))
            }
            return entries
        }
    }
}
#endif
