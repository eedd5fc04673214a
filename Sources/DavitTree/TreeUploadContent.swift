#if Postgres
internal import DavitBlobs
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore
internal import Synchronization

/// Content that is received by several requests, possibly by different nodes.
///
/// Each stored object is recorded immediately, and the few bytes after the last one at the end of a request, so that any node can
/// continue. The row of the upload has the number of the request that may write, its turn: what another one records
/// afterwards has no effect and is an error.
final class TreeUploadContent: TreeStagedContent, UploadContent, @unchecked Sendable {
    private var turn: Int64
    /// The length that the database knows.
    private var recordedLength: Int64

    /// Creates content for a new upload, whose record is about to be created.
    init(for location: ResourceLocation, in database: TreeDatabase) {
        turn = 0
        recordedLength = 0
        super.init(for: location, in: database)
        database.setTurn(turn, of: id)
    }

    private init(
        for location: ResourceLocation, _ map: SegmentMap, _ rest: [UInt8], turn: Int64, isStaged: Bool,
        in database: TreeDatabase, id: Int64
    ) {
        self.turn = turn
        recordedLength = map.length + Int64(rest.count)
        super.init(for: location, base: map, in: database, id: id)
        self.rest = rest
        self.isStaged = isStaged
        database.setTurn(turn, of: id)
    }

    deinit { database.endTurn(turn, of: id) }

    /// Opens the content as it is recorded, and takes the turn.
    /// - Throws: `notFound` if the upload has ended.
    static func open(
        _ blob: Int64, for location: ResourceLocation, in database: TreeDatabase
    ) throws(StoreError) -> TreeUploadContent {
        try database.session { (session) throws(StoreError) in
            let taken = try session.read(
                """
                WITH own AS (
                    UPDATE upload SET turn = turn + 1 WHERE share = $1 AND blob = $2
                        AND (NOT is_complete OR options & $4 <> 0) RETURNING turn, rest
                ), staged AS (UPDATE staged_blob SET node = $3 WHERE blob = $2 RETURNING blob)
                SELECT turn, rest, EXISTS (SELECT FROM staged) FROM own
                """, .integer(database.share), .integer(blob), .integer(database.node),
                .integer(UploadRecord.Options.isPart.rawValue))
            guard taken.count == 1 else { throw .notFound }
            // Only now, because another node may have added some until then.
            let segments = try session.segments(of: blob)
            guard let map = SegmentMap(segments) else {
                throw .failed(reason: "the content of an upload is not complete")
            }
            return try session.decode { () throws(PostgresError) in
                TreeUploadContent(
                    for: location, map, try taken.bytes(0, 1), turn: try taken.integer(0, 0),
                    isStaged: try taken.flag(0, 2), in: database, id: blob)
            }
        }
    }

    var stagedName: [UInt8] { Array(String(id).utf8) }
    var identity: ResourceIdentity { ResourceIdentity(inode: UInt64(bitPattern: id), birth: 0) }
    var hasOtherName: Bool { false }
    var isShared: Bool { true }

    func checkRoom(for length: Int64) throws(StoreError) {
        let room: Int64?
        do throws(BlobError) { room = try database.blobs.room() } catch { throw StoreError(error) }
        if let room, room < length { throw .outOfSpace }
    }

    func takeTurn() throws(StoreError) -> Bool {
        let result = try database.session { (session) throws(StoreError) in
            let taken = try session.read(
                "UPDATE upload SET turn = turn + 1 WHERE share = $1 AND blob = $2 RETURNING turn",
                .integer(database.share), .integer(id))
            guard taken.count == 1 else { throw .notFound }
            return try session.decode { () throws(PostgresError) in try taken.integer(0, 0) }
        }
        guard result == turn + 1 else { return false }
        turn = result
        database.setTurn(turn, of: id)
        return true
    }

    /// Does nothing: when the record is removed, so is the content.
    func remove() throws(StoreError) {}

    // MARK: Staging

    override var isGivenUpWhenReleased: Bool { false }
    override var keepsRest: Bool { true }

    override func stage() throws(StoreError) {
        try database.commit { batch in
            // Given up when the record is removed, and not when this node ends.
            batch.add(
                """
                INSERT INTO staged_blob (blob, node, expiry) VALUES ($1, $2, 'infinity')
                ON CONFLICT (blob) DO UPDATE SET node = excluded.node
                """, .integer(id), .integer(database.node))
        }
    }

    override func recordObject(at start: Int64) throws(StoreError) {
        guard let piece = map.pieces(start..<map.length).first else { return }
        try whileOwning(
            """
            WITH own AS (
                UPDATE upload SET rest = '', expiry = greatest(expiry, clock_timestamp() + interval '10 minutes')
                WHERE share = $1 AND blob = $2 AND turn = $3 RETURNING blob
            ), piece AS (
                INSERT INTO segment (blob, start, length, object, object_start, digest)
                SELECT blob, $4, $5, $6, $7, $8 FROM own ON CONFLICT (blob, start) DO NOTHING
            )
            SELECT FROM own
            """, .integer(piece.start), .integer(piece.length), .uuid(piece.object.uuid),
            .integer(piece.objectStart), .bytes(piece.digest))
        // Further objects may be under way.
        recordedLength = piece.end
    }

    override var needsSync: Bool { tail != nil || recordedLength != length }

    override func sync() throws(StoreError) {
        try finishTail()
        if recordedLength == length { return }
        try whileOwning(
            """
            UPDATE upload SET rest = $4, expiry = greatest(expiry, clock_timestamp() + interval '10 minutes')
            WHERE share = $1 AND blob = $2 AND turn = $3 RETURNING 1::bigint
            """, .bytes(rest))
        recordedLength = length
    }

    func truncate(to length: Int64) throws(StoreError) {
        if let tail, tail.start >= length { discardTail() }
        try finishTail()
        if length >= self.length { return }
        if length >= map.length {
            rest.removeLast(rest.count - Int(length - map.length))
            return
        }
        rest = []
        map.truncate(to: length)
        try whileOwning(
            """
            WITH own AS (
                UPDATE upload SET rest = '' WHERE share = $1 AND blob = $2 AND turn = $3 RETURNING blob
            ), cut AS (
                DELETE FROM segment WHERE blob IN (SELECT blob FROM own) AND start >= $4
            ), shortened AS (
                UPDATE segment SET length = $4 - start
                WHERE blob IN (SELECT blob FROM own) AND start < $4 AND start + length > $4
            )
            SELECT FROM own
            """, .integer(length))
        recordedLength = length
    }

    /// Runs a statement that has an effect, and a row as its result, only while this object has the turn.
    private func whileOwning(
        _ statement: PostgresStatement, _ values: PostgresValue...
    ) throws(StoreError) {
        let key: [PostgresValue] = [.integer(database.share), .integer(id), .integer(turn)]
        try database.session { (session) throws(StoreError) in
            guard try session.read(statement, key + values).count == 1 else { throw .superseded }
        }
    }

    override func willPublish(_ session: TreeSession) throws(StoreError) {
        let found = try session.read(
            """
            UPDATE upload SET is_complete = true, is_unverified = false, length = $4, received = $4, rest = ''
            WHERE share = $1 AND blob = $2 AND turn = $3 AND NOT is_complete RETURNING 1::bigint
            """, [.integer(database.share), .integer(id), .integer(turn), .integer(length)])
        guard found.count == 1 else { throw .superseded }
        // The blob gets all of them.
        try session.write(changesPlaces: false) { batch in
            batch.add("DELETE FROM segment WHERE blob = $1", .integer(id))
        }
    }
}

/// The turns of the uploads that this node has open.
struct OpenTurns: Sendable {
    private var byBlob: [Int64: (turn: Int64, upload: String?)] = [:]
    private var blobs: [String: Int64] = [:]

    mutating func set(_ turn: Int64, of blob: Int64) { byBlob[blob] = (turn, byBlob[blob]?.upload) }

    /// Records which upload has a blob.
    mutating func link(_ upload: String, to blob: Int64) {
        guard byBlob[blob] != nil else { return }
        byBlob[blob]?.upload = upload
        blobs[upload] = blob
    }

    mutating func end(_ turn: Int64, of blob: Int64) {
        // The content may have been opened again before it was released.
        guard let open = byBlob[blob], open.turn == turn else { return }
        byBlob[blob] = nil
        if let upload = open.upload { blobs[upload] = nil }
    }

    /// Returns the turn of this node; nil if it does not have the upload open.
    func turn(of upload: String) -> Int64? { blobs[upload].flatMap { byBlob[$0]?.turn } }
}

extension TreeDatabase {
    func setTurn(_ turn: Int64, of blob: Int64) { turns.withLock { $0.set(turn, of: blob) } }
    func endTurn(_ turn: Int64, of blob: Int64) { turns.withLock { $0.end(turn, of: blob) } }
}
#endif
