#if Postgres
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore
internal import DavitWebDAV

/// The resources along a path.
struct TreePlace {
    /// The requested path.
    let path: ResourcePath
    let depth: Int
    /// From the root down to the last resource that exists.
    var rows: [TreeRow]
    /// The active locks whose roots are ``rows``, outermost first.
    var locks: [TreeLock]
    /// The resource at the path.
    var row: TreeRow? { rows.count == depth + 1 ? rows.last : nil }
    /// The collection that contains the resource or could contain it.
    var parent: TreeRow? {
        guard depth > 0, rows.count >= depth, rows[depth - 1].isCollection else { return nil }
        return rows[depth - 1]
    }

    /// What is known of a path that is this one or above it.
    func prefix(_ path: ResourcePath) -> TreePlace {
        let depth = path.depth
        let rows = Array(rows.prefix(depth + 1))
        let ids = Set(rows.map(\.id))
        return TreePlace(
            path: path, depth: depth, rows: rows, locks: locks.filter { ids.contains($0.resource) })
    }
}

/// The statements of one unit of calls, on one thread.
///
/// Within a transaction, statements that write are sent together with the next one that reads, or with COMMIT.
final class TreeSession {
    let database: TreeDatabase
    private let transaction: PostgresTransaction?
    private var pending = PostgresBatch()
    /// Why a statement failed. The results of the unit do not count then.
    private(set) var failure: PostgresError?
    /// What the unit has read, until it writes.
    private var places: [TreePlace] = []
    /// The locks of the members of a collection, by the keys of their names; nil until they are read.
    private var siblings: (place: TreePlace, locks: [[UInt8]: [Lock]]?)?
    /// The active locks below a collection.
    var locksBelow: (collection: Int64, locks: [Lock])?
    /// The resources whose properties the unit has changed; they may be created later.
    var withProperties: Set<Int64> = []
    private let rights: TreeDatabase.RightsCheck?
    /// The generation of the rules when the unit began.
    private var rightsGeneration: Int64
    /// What happens after the unit.
    var actions: [() -> Void] = []
    /// Whether the unit adds changes to the journal.
    var hasChanges = false
    /// What was read before the unit, which then reads nothing else; nil for others.
    let prepared: TreeOpening?

    /// - Parameters:
    ///   - transaction: nil if each statement that writes is a transaction of its own.
    ///   - begin: the statements with which the transaction begins.
    init(
        _ database: TreeDatabase, _ transaction: PostgresTransaction?, begin: PostgresBatch = PostgresBatch(),
        prepared: TreeOpening? = nil
    ) {
        self.database = database
        self.prepared = prepared
        self.transaction = transaction
        pending = begin
        rights = database.rights
        rightsGeneration = rights?.generation() ?? 0
    }

    /// Continues with the rules that are in effect now.
    func acceptRights() { rightsGeneration = rights?.generation() ?? 0 }

    // MARK: Statements

    /// Runs a statement that reads, or that has the same effect if it is run twice, and returns its result.
    func read(_ statement: PostgresStatement, _ values: PostgresValue...) throws(StoreError) -> PostgresResult
    {
        try read(statement, values)
    }

    func read(
        _ statement: PostgresStatement, _ values: [PostgresValue]
    ) throws(StoreError) -> PostgresResult {
        var batch = PostgresBatch()
        batch.add(statement, values)
        let results = try read(batch)
        return results[results.startIndex]
    }

    /// Runs statements in one round trip.
    private func read(_ batch: PostgresBatch) throws(StoreError) -> ArraySlice<PostgresResult> {
        try recording { () throws(PostgresError) in
            guard let transaction else {
                let deadline = database.deadline
                return try database.pool.read(until: deadline) { connection throws(PostgresError) in
                    try connection.run(batch, until: deadline)[...]
                }
            }
            var whole = pending
            pending = PostgresBatch()
            whole.add(batch)
            return try transaction.run(whole).suffix(batch.count)
        }
    }

    /// Looks a resource up, and then checks that the rights of this node are current.
    private func lookUp(
        _ statement: PostgresStatement, _ values: [PostgresValue]
    ) throws(StoreError) -> PostgresResult {
        guard let rights else { return try read(statement, values) }
        var batch = PostgresBatch()
        batch.add(statement, values)
        // The later statement, so that a change of the rules that the first one has seen the effect of counts.
        batch.add(TreeOpening.generationStatement, .integer(database.share))
        let results = try read(batch)
        let generation = try decode { () throws(PostgresError) in
            try results[results.startIndex + 1].integer(0, 0)
        }
        if generation == rightsGeneration { return results[results.startIndex] }
        rights.refresh()
        // What a change has looked up before must be decided again, too.
        if transaction != nil {
            return try recording { () throws(PostgresError) in
                throw .conflict("another node has changed the access rules")
            }
        }
        acceptRights()
        throw .rightsChanged
    }

    /// Adds statements that write.
    /// - Parameter changesPlaces: whether what was read along paths does not count any more.
    func write(
        changesPlaces: Bool = true, _ add: (inout PostgresBatch) -> Void
    ) throws(StoreError) {
        if changesPlaces { (places, siblings, locksBelow) = ([], nil, nil) }
        if transaction != nil {
            add(&pending)
            return
        }
        var batch = PostgresBatch()
        add(&batch)
        try recording { () throws(PostgresError) in
            try database.pool.transaction(until: database.deadline) { transaction throws(PostgresError) in
                transaction.last.add(batch)
                return .commit(())
            }
        }
    }

    /// Gives the following statements of the transaction more time, because their work depends on a number of members.
    func addTime(_ time: Duration) { transaction?.addTime(time, to: &pending) }

    /// Reads values from a result.
    func decode<T>(_ body: () throws(PostgresError) -> T) throws(StoreError) -> T { try recording(body) }

    private func recording<T>(_ body: () throws(PostgresError) -> T) throws(StoreError) -> T {
        if prepared != nil, failure == nil {
            failure = PostgresError.conflict("the unit needs more than what was prepared")
        }
        if let failure { throw StoreError(failure) }
        do throws(PostgresError) { return try body() } catch {
            failure = error
            throw StoreError(error)
        }
    }

    /// The statements to send with COMMIT.
    var unsent: PostgresBatch { pending }

    // MARK: Paths

    /// Returns what exists along a canonical path, which may be in the trash.
    func place(_ path: ResourcePath) throws(StoreError) -> TreePlace {
        if let failure { throw StoreError(failure) }
        let (root, rest) = database.root(of: path)
        // The root of the share is not above the trash.
        for known in places where path.contains(known.path) && database.root(of: known.path).id == root {
            return known.prefix(path)
        }
        let result = try lookUp(
            """
            SELECT (member).id, (member).parent, (member).name, (member).kind, (member).length, (member).modified,
                (member).created, (member).version, (member).blob, (member).is_executable, (member).has_properties,
                (member).content_language IS NOT NULL, l.token, l.is_infinite, l.is_exclusive, l.owner, l.principal,
                l.network, l.timeout_seconds, l.created, l.expiry, l.root_href
            FROM resolve_path($1, $2) LEFT JOIN lock l
                ON l.resource = (member).id AND l.expiry > clock_timestamp()
            ORDER BY depth, l.number
            """, [.integer(root), .byteStrings(TreeKey.keys(of: rest))])
        let place = try place(path, result, above: path.depth - rest.depth)
        places.append(place)
        return place
    }

    /// Returns what opening a path of the share needs to know.
    func opening(_ path: ResourcePath) throws(StoreError) -> TreeOpening {
        if let prepared {
            guard prepared.path == path else { throw .wouldBlock }
            return prepared
        }
        let result = try lookUp(
            TreeOpening.statement, TreeOpening.values(path, below: database.files))
        var opening = try decode { () throws(PostgresError) in try TreeOpening(path, result) }
        if let blob = opening.blob { opening.segments = try segments(of: blob) }
        return opening
    }

    /// Returns the row at a path; nil if there is none.
    func row(_ path: ResourcePath) throws(StoreError) -> TreeRow? { try place(path).row }

    // MARK: Locks

    /// Returns the active locks of a resource, and those of collections above it that include it.
    ///
    /// The first member of a collection is looked up alone. If another one follows, the locks of all members are read together.
    func locks(covering path: ResourcePath) throws(StoreError) -> [Lock] {
        if let siblings, siblings.place.path == path.parent, let parent = siblings.place.row {
            let own: [[UInt8]: [Lock]]
            if let known = siblings.locks {
                own = known
            } else {
                own = try locks(ofMembersOf: parent.id, at: siblings.place.path)
                self.siblings?.locks = own
            }
            let above = siblings.place.locks.filter { $0.lock.depth == .infinity }.map(\.lock)
            return above + (own[TreeKey.key(of: path.name)] ?? [])
        }
        let place = try place(path)
        if transaction == nil, let parent = path.parent { siblings = (place.prefix(parent), nil) }
        let own = place.row?.id
        return place.locks.filter { $0.resource == own || $0.lock.depth == .infinity }.map(\.lock)
    }

    private func locks(
        ofMembersOf collection: Int64, at path: ResourcePath
    ) throws(StoreError) -> [[UInt8]: [Lock]] {
        let result = try read(
            """
            SELECT r.key, r.name, l.token, l.is_infinite, l.is_exclusive, l.owner, l.principal, l.network,
                l.timeout_seconds, l.created, l.expiry, l.root_href
            FROM lock l JOIN resource r ON r.id = l.resource
            WHERE l.ancestors @> $1 AND r.parent = $2 AND l.expiry > clock_timestamp() ORDER BY l.number
            """, .integers([collection]), .integer(collection))
        return try decode { () throws(PostgresError) in
            var locks: [[UInt8]: [Lock]] = [:]
            for index in 0..<result.count {
                guard let root = path.appending(try result.bytes(index, 1)) else { continue }
                let lock = try TreeLock(result, index, from: 2, of: 0, root: root).lock
                locks[try result.bytes(index, 0), default: []].append(lock)
            }
            return locks
        }
    }

    private func place(
        _ path: ResourcePath, _ result: PostgresResult, above: Int
    ) throws(StoreError) -> TreePlace {
        return try decode { () throws(PostgresError) in
            var rows: [TreeRow] = []
            var locks: [TreeLock] = []
            var current = ResourcePath.root
            for index in 0..<result.count {
                let row = try TreeRow(result, index)
                if rows.last?.id != row.id {
                    if !rows.isEmpty { current = current.appending(row.name) ?? current }
                    rows.append(row)
                }
                if !result.isNull(index, TreeRow.columnCount) {
                    locks.append(
                        try TreeLock(
                            result, index, from: TreeRow.columnCount, of: row.id, root: current))
                }
            }
            // The root of the trash is one level below that of the share.
            if above > 0, let first = rows.first { rows.insert(first, at: 0) }
            return TreePlace(path: path, depth: path.depth, rows: rows, locks: locks)
        }
    }
}

extension ResourcePath {
    /// The path of a place, with the names as they are stored; the requested name at the end if nothing has it.
    static func canonical(_ place: TreePlace) -> ResourcePath {
        if place.depth == 0 { return .root }
        var path = ResourcePath.root
        for row in place.rows.dropFirst() { path = path.appending(row.name) ?? path }
        if place.rows.count == place.depth { path = path.appending(place.path.name) ?? path }
        return path
    }
}
#endif
