#if Postgres
internal import DavitBlobs
package import DavitHTTP
internal import DavitPostgres
package import DavitServer
package import DavitStore
internal import Synchronization

/// The resources of a share in a database.
///
/// There are no symbolic links, and a resource keeps its identity until it is removed. The rows that belong to a resource,
/// such as its properties, move and vanish with it; its locks end when it is moved.
package final class TreeStore: ResourceStore {
    let database: TreeDatabase
    let settings: ContentResponseSettings
    private let work: any BlockingWorkRunner

    /// - Parameters:
    ///   - work: reads content that is sent.
    ///   - settings: how content is sent.
    package init(
        _ database: TreeDatabase, work: any BlockingWorkRunner,
        settings: ContentResponseSettings = ContentResponseSettings()
    ) {
        self.database = database
        self.work = work
        self.settings = settings
    }

    /// The longest name, as in a folder, so that each share can be exported.
    static let nameLimit = 255

    func check(_ path: ResourcePath, _ wait: Wait) throws(StoreError) {
        if wait == .never { throw .wouldBlock }
        if database.isReserved(path) { throw .forbidden }
        if path.bytes.count > Self.nameLimit, path.segments.contains(where: { $0.count > Self.nameLimit }) {
            throw .nameTooLong
        }
    }

    // MARK: Looking up

    package func lookup(_ path: ResourcePath, last: SymlinkMode, wait: Wait) throws(StoreError) -> Lookup {
        try check(path, wait)
        let place = try database.session { (session) throws(StoreError) in try session.place(path) }
        let canonical = ResourcePath.canonical(place)
        if let row = place.row { return Lookup(path: canonical, state: .mapped(row.info)) }
        if place.parent != nil { return Lookup(path: canonical, state: .unmapped) }
        return Lookup(path: path, state: .missingAncestor)
    }

    package func lookupForChange(
        _ path: ResourcePath, last: SymlinkMode, reusing other: Lookup?, wait: Wait
    ) throws(StoreError) -> Lookup { try lookup(path, last: last, wait: wait) }

    package var commitsWithoutBlocking: Bool { false }

    package func locationOfFreeName(
        _ path: ResourcePath, reusing other: Lookup?
    ) throws(StoreError) -> Lookup { throw .wouldBlock }

    package func identity(at path: ResourcePath) throws(StoreError) -> ResourceIdentity? {
        try database.session { (session) throws(StoreError) in try session.row(path)?.identity }
    }

    package func refersToSameEntry(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) -> Bool {
        let (one, other) = (try identity(at: a), try identity(at: b))
        return one != nil && one == other
    }

    // MARK: Reading

    package func open(_ path: ResourcePath, wait: Wait) throws(StoreError) -> OpenResource {
        try check(path, database.isPrepared ? .allowed : wait)
        let opening = try database.session { (session) throws(StoreError) in try session.opening(path) }
        guard let row = opening.row else { throw .notFound }
        let canonicalPath = opening.canonicalPath == path ? nil : opening.canonicalPath
        if row.isCollection { return OpenResource(collection: row.info, canonicalPath: canonicalPath) }
        let head = ContentHead(row.info, name: path.name, rules: settings)
        return OpenResource(
            row.info, file: try content(of: row, opening), head: head, canonicalPath: canonicalPath,
            hasContentLanguage: row.hasLanguage)
    }

    private func content(of row: TreeRow, _ opening: TreeOpening) throws(StoreError) -> TreeContent {
        if row.blob == nil { return TreeContent(bytes: []) }
        if let small = opening.bytes { return TreeContent(bytes: small) }
        // Changed in the meantime, or damaged.
        guard let map = SegmentMap(opening.segments), map.length == row.length else { throw .notFound }
        return TreeContent(map, in: database, work: work)
    }

    package func members(of path: ResourcePath) throws(StoreError) -> any MemberCursor {
        guard let row = try database.session({ (session) throws(StoreError) in try session.row(path) }) else {
            throw .notFound
        }
        guard row.isCollection else { throw .wrongKind }
        return TreeMemberCursor(of: row.id, in: database)
    }

    package func read(
        _ content: any FileContent, at offset: Int64, into buffer: IOBuffer
    ) throws(StoreError) -> Int {
        guard let content = content as? TreeContent else {
            throw .failed(reason: "the content belongs to another store")
        }
        return try content.read(at: offset, into: buffer)
    }

    // MARK: Sizes

    package func measureHeight(
        of path: ResourcePath, limit: Int
    ) throws(StoreError) -> any HeightMeasurement { MeasuredTree(of: path, limit: limit, in: database) }

    package func measure(_ path: ResourcePath) throws(StoreError) -> Int64 {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(path) else { return 0 }
            if !row.isCollection { return row.length }
            let result = try session.read(
                """
                WITH RECURSIVE tree AS (
                    SELECT id, kind, length FROM resource WHERE share = $1 AND parent = $2
                    UNION ALL
                    SELECT r.id, r.kind, r.length FROM tree t JOIN resource r ON r.share = $1 AND r.parent = t.id
                    WHERE t.kind = 0
                )
                SELECT least(coalesce(sum(length), 0), 9223372036854775807)::bigint FROM tree
                """, .integer(database.share), .integer(row.id))
            return try session.decode { () throws(PostgresError) in try result.integer(0, 0) }
        }
    }

    package func quota(at path: ResourcePath) throws(StoreError) -> (available: Int64, used: Int64) {
        (try room(at: path), try usedBytes())
    }

    /// Returns the number of bytes of all content, at most ten seconds old: some clients ask with each listing. If there is so
    /// much content that summing takes long, the number may be a hundred times as old as that takes.
    private func usedBytes() throws(StoreError) -> Int64 {
        let known = database.usedBytes.withLock { known -> Int64? in
            if let known, .now < known.validUntil { return known.bytes }
            // One request sums; the others use the number of before.
            known?.validUntil = .now + .seconds(10)
            return nil
        }
        if let known { return known }
        return try database.session { (session) throws(StoreError) in
            let began = ContinuousClock.now
            let result = try session.read(
                "SELECT least(coalesce(sum(length), 0), 9223372036854775807)::bigint FROM blob WHERE share = $1",
                .integer(database.share))
            let bytes = try session.decode { () throws(PostgresError) in try result.integer(0, 0) }
            let time = max(.seconds(10), (.now - began) * 100)
            database.usedBytes.withLock { $0 = (bytes, .now + time) }
            return bytes
        }
    }

    package func room(at path: ResourcePath) throws(StoreError) -> Int64 {
        do throws(BlobError) { return try database.blobs.room() ?? .max } catch { throw StoreError(error) }
    }

    // MARK: Leftovers, of which there are none

    package func keepUploads(where isKept: @escaping @Sendable (_ stagedName: [UInt8]) -> Bool) {}
    package func removeLeftover(at path: ResourcePath) {}

    // MARK: Trash

    package var trashFolder: ResourcePath? { ResourcePath(segments: [TreeDatabase.trashName]) }

    package func trashLocation(
        _ id: String, for location: ResourceLocation, volume: UInt64
    ) throws(StoreError) -> TrashLocation? {
        guard let path = trashFolder?.appending(Array(id.utf8)) else { return nil }
        return TrashLocation(ResourceLocation(path), canExchange: true)
    }
}

/// The members of a collection, in the order of their keys.
final class TreeMemberCursor: MemberCursor {
    private let collection: Int64
    private let database: TreeDatabase
    private var page: [TreeRow] = []
    private var next = 0
    /// The key of the last member of the page; empty before the first page.
    private var last: [UInt8] = []
    private var isLast = false

    private static let pageCount = 1000

    init(of collection: Int64, in database: TreeDatabase) {
        self.collection = collection
        self.database = database
    }

    func next(_ member: inout Member) throws(StoreError) -> Bool {
        if next == page.count {
            if isLast { return false }
            try readPage()
            if page.isEmpty { return false }
        }
        let row = page[next]
        next += 1
        member.name = row.name
        member.info = row.info
        member.canonicalPath = nil
        return true
    }

    private func readPage() throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT id, parent, name, kind, length, modified, created, version, blob, is_executable, has_properties,
                    content_language IS NOT NULL, key
                FROM resource WHERE share = $1 AND parent = $2 AND key > $3 ORDER BY key LIMIT $4
                """, .integer(database.share), .integer(collection), .bytes(last),
                .integer(Int64(Self.pageCount)))
            try session.decode { () throws(PostgresError) in
                page.removeAll(keepingCapacity: true)
                for index in 0..<result.count { page.append(try TreeRow(result, index)) }
                if result.count > 0 { last = try result.bytes(result.count - 1, TreeRow.columnCount) }
            }
            isLast = result.count < Self.pageCount
            next = 0
        }
    }
}

/// The number of levels below a collection, which one query determines.
private final class MeasuredTree: HeightMeasurement {
    private let path: ResourcePath
    private let limit: Int
    private let database: TreeDatabase

    init(of path: ResourcePath, limit: Int, in database: TreeDatabase) {
        self.path = path
        self.limit = limit
        self.database = database
    }

    func advance() throws(StoreError) -> Int? {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(path), row.isCollection else { return 0 }
            return try session.height(of: row.id, limit: limit)
        }
    }
}

extension TreeSession {
    /// Returns the pieces of a blob, in order.
    func segments(of blob: Int64) throws(StoreError) -> [BlobSegment] {
        let result = try read(TreeOpening.segmentStatement, .integer(blob))
        return try decode { () throws(PostgresError) in try TreeOpening.segments(result) }
    }

    /// Returns the number of levels below a resource, or a number above the limit.
    func height(of id: Int64, limit: Int) throws(StoreError) -> Int {
        let result = try read(
            """
            WITH RECURSIVE tree AS (
                SELECT $2::bigint AS id, 0::bigint AS level
                UNION ALL
                SELECT r.id, t.level + 1
                FROM tree t JOIN resource r ON r.share = $1 AND r.parent = t.id AND r.kind = 0
                WHERE t.level <= $3
            )
            SELECT max(level + CASE WHEN EXISTS (SELECT FROM resource r WHERE r.share = $1 AND r.parent = tree.id)
                THEN 1 ELSE 0 END)
            FROM tree
            """, .integer(database.share), .integer(id), .integer(Int64(limit)))
        return Int(try decode { () throws(PostgresError) in try result.integer(0, 0) })
    }
}
#endif
