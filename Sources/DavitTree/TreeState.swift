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
    private let uploadTotals = Mutex<(count: Int, bytes: Int64, readAt: ContinuousClock.Instant)?>(nil)
    private let lockTotals = Mutex<(charge: QuotaCharge, readAt: ContinuousClock.Instant)?>(nil)

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
            for case .setUploadProgress(let id, let progress) in changes {
                try session.setProgress(progress, ofUpload: id)
            }
            let change = try TreeStateChange(changes, session)
            session.withProperties.formUnion(change.changedIDs)
            if change.changesLocks { session.hasChanges = true }
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

    /// Registers a handler. ``TreeJournal`` calls it while the journal is read.
    package func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void) {
        database.lockHandlers.withLock { $0.append(body) }
    }

    // MARK: Locks

    /// Always true, because only the database knows.
    package var hasLocks: Bool { true }

    package func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        answer([]) { (session) throws(StoreError) in
            try session.locks(covering: path)
        }
    }

    package func locks(under path: ResourcePath, now: Timestamp) -> [Lock] {
        answer([]) { (session) throws(StoreError) in
            guard let row = try session.row(path), row.isCollection else { return [] }
            // A change asks several times.
            if let known = session.locksBelow, known.collection == row.id { return known.locks }
            let result = try session.read(
                """
                SELECT token, is_infinite, is_exclusive, owner, principal, network, timeout_seconds, created, expiry,
                    root_href, resource, (
                        SELECT string_agg(r.name, '/' ORDER BY step)
                        FROM unnest((l.ancestors || l.resource)[2:]) WITH ORDINALITY AS steps (id, step)
                        JOIN resource r ON r.id = steps.id
                    )
                FROM lock l WHERE ancestors @> $1 AND expiry > clock_timestamp() ORDER BY number
                """, .integers([row.id]))
            let locks = try session.locks(result)
            session.locksBelow = (row.id, locks)
            return locks
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
                        FROM unnest((l.ancestors || l.resource)[2:]) WITH ORDINALITY AS steps (id, step)
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

    package var storedLockCount: Int { lockTotals.withLock { $0?.charge.count ?? 0 } }

    package func admits(_ lock: Lock, _ limits: QuotaLimits) -> Bool {
        answer(false) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT count(*), coalesce(sum(256 + 2 * octet_length(root_href) + coalesce(octet_length(owner), 0)), 0)::bigint
                FROM lock WHERE share = $1 AND coalesce(principal, network, '') = $2
                    AND (principal IS NULL) = $3
                """, .integer(database.share), .text(lock.principal ?? lock.network ?? ""),
                .flag(lock.principal == nil))
            let own = try session.charge(result)
            return limits.admits(lock.chargedBytes, own: own, total: try lockTotals(session))
        }
    }

    /// Returns the number and size of all locks, at most a second old.
    private func lockTotals(_ session: TreeSession) throws(StoreError) -> QuotaCharge {
        if let known = lockTotals.withLock({ $0 }), .now - known.readAt < .seconds(1) { return known.charge }
        let result = try session.read(
            """
            SELECT count(*), coalesce(sum(256 + 2 * octet_length(root_href) + coalesce(octet_length(owner), 0)), 0)::bigint
            FROM lock WHERE share = $1
            """, .integer(database.share))
        let charge = try session.charge(result)
        lockTotals.withLock { $0 = (charge, .now) }
        return charge
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
    ) -> [String]? {
        let (name, isAccount) =
            switch client {
            case .account(let name): (name, true)
            case .network(let name): (name, false)
            }
        return answer(nil) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT count(*), coalesce(sum(charged_bytes), 0)::bigint,
                    count(*) FILTER (WHERE own), coalesce(sum(charged_bytes) FILTER (WHERE own), 0)::bigint
                FROM (
                    SELECT charged_bytes, coalesce(principal, network, '') = $2 AND (principal IS NOT NULL) = $3 AS own
                    FROM upload WHERE share = $1
                ) charge
                """, .integer(database.share), .text(name), .flag(isAccount))
            var (total, own) = (try session.charge(result), try session.charge(result, 2))
            if limits.admits(bytes, own: own, total: total) { return [] }
            // A complete upload is remembered only for clients that missed the response.
            let isOwnLimit =
                own.count >= limits.countPerClient || own.bytes + bytes > limits.bytesPerClient
            let complete = try session.read(
                """
                SELECT id, charged_bytes, own FROM (
                    SELECT *, coalesce(principal, network, '') = $2 AND (principal IS NOT NULL) = $3 AS own FROM upload
                    WHERE share = $1 AND is_complete AND options & $4 = 0
                ) ended
                WHERE own OR NOT $5 ORDER BY expiry LIMIT $6
                """, .integer(database.share), .text(name), .flag(isAccount),
                .integer(UploadRecord.Options.isPart.rawValue), .flag(isOwnLimit),
                .integer(Int64(Self.forgottenUploads)))
            return try session.decode { () throws(PostgresError) in
                var forgotten: [String] = []
                for row in 0..<complete.count {
                    let charge = Int(try complete.integer(row, 1))
                    total.remove(charge)
                    if try complete.flag(row, 2) { own.remove(charge) }
                    forgotten.append(try complete.text(row, 0))
                }
                return limits.admits(bytes, own: own, total: total) ? forgotten : nil
            }
        }
    }

    /// How many complete uploads are forgotten in one step, so that such steps are rare.
    private static let forgottenUploads = 64

    /// Always true, because only the database knows.
    package var hasUploads: Bool { true }

    package func upload(_ id: String) -> UploadRecord? {
        // The server refuses a null character in a text.
        guard id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        return answer(nil) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT u.id, p.root, p.path, u.name, u.blob, u.principal, u.network, u.field_lines, u.options, u.length,
                    u.received, u.is_unverified, u.is_complete, u.expiry
                FROM upload u, LATERAL path_of(u.parent) p WHERE u.share = $1 AND u.id = $2
                """, .integer(database.share), .text(id))
            return try session.uploads(result).first
        }
    }

    /// False: names in a collection belong to resources.
    package func keepsStaged(_ name: [UInt8]) -> Bool { false }

    package func endedUploads(now: Timestamp) -> [UploadRecord] {
        answer([]) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT u.id, p.root, p.path, u.name, u.blob, u.principal, u.network, u.field_lines, u.options, u.length,
                    u.received, u.is_unverified, u.is_complete, u.expiry
                FROM (
                    SELECT * FROM upload WHERE share = $1 AND expiry <= clock_timestamp() ORDER BY expiry LIMIT 1000
                ) u, LATERAL path_of(u.parent) p
                """, .integer(database.share))
            return try session.uploads(result)
        }
    }

    package func allUploads() -> [UploadRecord] {
        answer([]) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT u.id, p.root, p.path, u.name, u.blob, u.principal, u.network, u.field_lines, u.options, u.length,
                    u.received, u.is_unverified, u.is_complete, u.expiry
                FROM upload u, LATERAL path_of(u.parent) p WHERE u.share = $1
                """, .integer(database.share))
            return try session.uploads(result)
        }
    }

    /// At most five seconds old. Outside of a unit of calls, the last known number.
    package var openUploads: (count: Int, bytes: Int64) {
        let known = uploadTotals.withLock { $0 }
        if let known, !database.isInUnit || .now - known.readAt < .seconds(5) {
            return (known.count, known.bytes)
        }
        if !database.isInUnit { return (0, 0) }
        return answer((0, 0)) { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT count(*), coalesce(sum(received), 0)::bigint FROM upload
                WHERE share = $1 AND (NOT is_complete OR options & $2 <> 0)
                """, .integer(database.share), .integer(UploadRecord.Options.isPart.rawValue))
            let (count, bytes) = try session.decode { () throws(PostgresError) in
                (Int(try result.integer(0, 0)), try result.integer(0, 1))
            }
            uploadTotals.withLock { $0 = (count, bytes, .now) }
            return (count, bytes)
        }
    }

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
                SELECT count(*), least(coalesce(sum(length), 0), 9223372036854775807)::bigint, coalesce(max(number), 0) FROM trash WHERE share = $1
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
    /// Reads a number and a size.
    fileprivate func charge(
        _ result: PostgresResult, _ column: Int = 0
    ) throws(StoreError) -> QuotaCharge {
        try decode { () throws(PostgresError) in
            QuotaCharge(
                count: Int(try result.integer(0, column)), bytes: Int(try result.integer(0, column + 1)))
        }
    }

    /// Sets the progress of an upload, unless another node has taken it over.
    fileprivate func setProgress(
        _ progress: UploadRecord.Progress, ofUpload id: String
    ) throws(StoreError) {
        let changed = try read(
            """
            UPDATE upload SET length = $3, received = $4, is_unverified = $5, is_complete = $6, expiry = $7
            WHERE share = $1 AND id = $2 AND ($8 IS NULL OR turn = $8) RETURNING 1::bigint
            """, .integer(database.share), .text(id), .integer(progress.length), .integer(progress.offset),
            .flag(progress.isUnverified), .flag(progress.isComplete), .time(progress.expiry.nanoseconds),
            .integer(database.turns.withLock { $0.turn(of: id) }))
        if changed.count == 0 { throw .superseded }
    }

    /// Reads locks with the ids and paths of their roots.
    fileprivate func locks(_ result: PostgresResult) throws(StoreError) -> [Lock] {
        try decode { () throws(PostgresError) in
            var locks: [Lock] = []
            for index in 0..<result.count {
                let (id, pathColumn) = (TreeLock.columnCount, TreeLock.columnCount + 1)
                let path = result.isNull(index, pathColumn) ? [] : try result.bytes(index, pathColumn)
                guard let root = ResourcePath(segments: path.split(separator: UInt8(ascii: "/"))) else {
                    continue
                }
                locks.append(
                    try TreeLock(result, index, from: 0, of: try result.integer(index, id), root: root).lock)
            }
            return locks
        }
    }

    fileprivate func uploads(_ result: PostgresResult) throws(StoreError) -> [UploadRecord] {
        try decode { () throws(PostgresError) in
            var records: [UploadRecord] = []
            for row in 0..<result.count {
                let root = try result.integer(row, 1)
                let segments = try result.bytes(row, 2).split(separator: UInt8(ascii: "/"))
                // An upload whose collection is being removed cannot be continued.
                guard root == database.files || root == database.trash,
                    let collection = ResourcePath(
                        segments: (root == database.trash ? [TreeDatabase.trashName[...]] : []) + segments)
                else { continue }
                let (id, blob) = (try result.text(row, 0), try result.integer(row, 4))
                database.turns.withLock { $0.link(id, to: blob) }
                records.append(
                    UploadRecord(
                        id: id, collection: collection, name: try result.bytes(row, 3),
                        stagedName: Array(String(blob).utf8),
                        identity: ResourceIdentity(inode: UInt64(bitPattern: blob), birth: 0),
                        principal: result.isNull(row, 5) ? nil : try result.text(row, 5),
                        network: result.isNull(row, 6) ? nil : try result.text(row, 6),
                        fieldLines: try result.bytes(row, 7),
                        options: UploadRecord.Options(rawValue: try result.integer(row, 8)),
                        progress: UploadRecord.Progress(
                            length: result.isNull(row, 9) ? nil : try result.integer(row, 9),
                            offset: try result.integer(row, 10), isUnverified: try result.flag(row, 11),
                            isComplete: try result.flag(row, 12),
                            expiry: Timestamp(nanoseconds: try result.time(row, 13)))))
            }
            return records
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
