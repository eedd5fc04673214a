#if Postgres
package import DavitBlobs
internal import DavitHTTP
package import DavitPostgres
internal import DavitStore

/// Something wrong in a database with shares, or in its store of content.
package struct TreeFinding: Sendable {
    /// The kinds, with the first word of a line of a report.
    package enum Kind: String, Sendable {
        /// A segment needs an object that does not exist.
        case missingObject = "missing-object"
        case wrongObjectLength = "wrong-object-length"
        /// The SHA-256 of an object is not the recorded one.
        case wrongObjectContent = "wrong-object-content"
        /// The database does not name an object.
        case unknownObject = "unknown-object"
        case wrongReferenceCount = "wrong-reference-count"
        /// The blob of a resource does not exist, or has another length.
        case wrongContent = "wrong-content"
        /// The segments of a blob do not cover it.
        case incompleteContent = "incomplete-content"
        /// Segments or bytes of a blob that does not exist.
        case lostContent = "lost-content"
        /// A resource that is not below a root of its share.
        case unreachableResource = "unreachable-resource"
        case lostProperty = "lost-property"
        case lostLock = "lost-lock"
        case lostTrash = "lost-trash"
    }

    package let kind: Kind
    /// The name of the object, or the id of the row.
    package let subject: String
    package let text: String
    /// A resource that is affected: the name of its share, and its path.
    package let resource: (share: String, path: [UInt8])?
}

/// Why a check could not be completed.
package struct TreeCheckFailure: Error, Hashable, Sendable {
    package let reason: String

    init(reason: String) { self.reason = reason }

    init(_ error: PostgresError) { reason = error.message }

    init(_ error: BlobError) { reason = StoreError(error).text }
}

/// Compares a database with its store of content, and changes nothing. Servers may use both meanwhile.
///
/// Each check of the rows of the database is one statement, so that it sees the state after some transaction, in which everything
/// fits together. The store changes before and after transactions. So whatever seems to be wrong with it is looked at again, in
/// the order in which it cannot be the effect of a change in between: see ``checkObjects(_:)``.
package final class TreeCheck {
    /// The maximum number of findings of each kind that are reported.
    package static let limit = 1_000
    /// For one statement, which may read all rows.
    package static let statementLimit = Duration.seconds(3_600)

    let pool: PostgresPool
    let blobs: any BlobInventory
    let comparesContent: Bool
    /// The id of the share; nil for all.
    let share: Int64?
    private let notify: (TreeFinding) -> Void
    private var counts: [TreeFinding.Kind: Int] = [:]
    /// The number of objects that were compared.
    package internal(set) var objectCount = 0

    /// - Parameters:
    ///   - pool: whose connections may take ``statementLimit`` for a statement.
    ///   - name: the share to check; nil for all shares, and for objects and rows that belong to no share.
    ///   - comparesContent: whether the SHA-256 of each object is compared.
    ///   - notify: called for each finding, and at most ``limit`` times for each kind.
    /// - Throws: an error if the share does not exist, or if the store belongs to another database.
    package init(
        _ pool: PostgresPool, _ blobs: any BlobInventory, share name: String?, comparesContent: Bool,
        notify: @escaping (TreeFinding) -> Void
    ) throws(TreeCheckFailure) {
        self.pool = pool
        self.blobs = blobs
        self.comparesContent = comparesContent
        self.notify = notify
        let found: (share: Int64?, database: PostgresUUID)
        do throws(PostgresError) {
            let query = TreeQuery(pool)
            let shares = try query.run("SELECT id FROM share WHERE name = $1", .text(name))
            found = (
                shares.count > 0 ? try shares.integer(0, 0) : nil,
                try query.run("SELECT id FROM database").uuid(0, 0)
            )
        } catch {
            throw TreeCheckFailure(error)
        }
        if let name, found.share == nil {
            throw TreeCheckFailure(reason: "the database has no share '\(name)'")
        }
        share = found.share
        try Self.checkOwner(of: blobs, BlobKey(found.database))
    }

    private static func checkOwner(
        of blobs: any BlobInventory, _ database: BlobKey
    ) throws(TreeCheckFailure) {
        let owner: BlobKey?
        do throws(BlobError) { owner = try blobs.owner() } catch { throw TreeCheckFailure(error) }
        guard let owner else {
            throw TreeCheckFailure(
                reason: "the folder or bucket has no file davit-database, as the content of a database has")
        }
        if owner != database {
            throw TreeCheckFailure(reason: "the folder or bucket contains the content of another database")
        }
    }

    /// Runs all checks. Blocks.
    /// - Returns: the numbers of findings of each kind, which can be higher than ``limit``.
    package func run() throws(TreeCheckFailure) -> [TreeFinding.Kind: Int] {
        let suspicions = try rowSuspicions()
        for folder in UInt8.min...UInt8.max { try checkObjects(folder) }
        try confirm(suspicions)
        return counts
    }

    func query(
        _ statement: PostgresStatement, _ values: PostgresValue...
    ) throws(TreeCheckFailure) -> PostgresResult {
        do throws(PostgresError) { return try TreeQuery(pool).run(statement, values) } catch {
            throw TreeCheckFailure(error)
        }
    }

    func decode<T>(_ body: () throws(PostgresError) -> T) throws(TreeCheckFailure) -> T {
        do throws(PostgresError) { return try body() } catch { throw TreeCheckFailure(error) }
    }

    // MARK: Findings

    /// Counts findings that are not reported, because there are too many.
    func count(_ kind: TreeFinding.Kind, _ number: Int) { counts[kind, default: 0] += number }

    /// Reports a finding.
    /// - Parameter resource: returns the id of a resource that is affected.
    func report(
        _ kind: TreeFinding.Kind, _ subject: String, _ text: String,
        resource: () throws(TreeCheckFailure) -> Int64?
    ) throws(TreeCheckFailure) {
        count(kind, 1)
        if counts[kind, default: 0] > Self.limit { return }
        let resource = try resource()
        notify(
            TreeFinding(
                kind: kind, subject: subject, text: text,
                resource: try resource.flatMap { id throws(TreeCheckFailure) in try path(of: id) }))
    }

    /// Returns where a resource is; nil if it does not exist.
    private func path(of resource: Int64) throws(TreeCheckFailure) -> (share: String, path: [UInt8])? {
        let result = try query(
            """
            WITH RECURSIVE up AS (
                SELECT r.id, r.parent, r.share, r.name, 0 AS depth FROM resource r WHERE r.id = $1
                UNION ALL
                SELECT r.id, r.parent, r.share, r.name, up.depth + 1
                FROM up JOIN resource r ON r.id = up.parent WHERE up.depth < 1000
            )
            SELECT coalesce((SELECT name FROM share s WHERE s.id = min(up.share)), ''),
                string_agg(up.name, '/'::bytea ORDER BY up.depth DESC)
            FROM up HAVING count(*) > 0
            """, .integer(resource))
        guard result.count > 0 else { return nil }
        return try decode { () throws(PostgresError) in
            (share: try result.text(0, 0), path: Self.visible(try result.bytes(0, 1)))
        }
    }

    /// Removes the name of the root of a share from the front of a path.
    private static func visible(_ path: [UInt8]) -> [UInt8] {
        if path == Array("files".utf8) { return [UInt8(ascii: "/")] }
        return path.starts(with: "files/".utf8) ? Array(path.dropFirst(5)) : path
    }
}

/// Statements that read, each on its own.
struct TreeQuery {
    private let pool: PostgresPool

    init(_ pool: PostgresPool) { self.pool = pool }

    func run(
        _ statement: PostgresStatement, _ values: PostgresValue...
    ) throws(PostgresError) -> PostgresResult { try run(statement, values) }

    func run(
        _ statement: PostgresStatement, _ values: [PostgresValue]
    ) throws(PostgresError) -> PostgresResult {
        let deadline = ContinuousClock.now + TreeCheck.statementLimit
        return try pool.read(until: deadline) { connection throws(PostgresError) in
            var batch = PostgresBatch()
            batch.add(statement, values)
            return try connection.run(batch, until: deadline)[0]
        }
    }
}
#endif
