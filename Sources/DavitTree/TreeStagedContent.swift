#if Postgres
internal import DavitBlobs
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore
internal import DavitSystem

/// New content, which the transaction that publishes it adds to the database.
///
/// Content that is not small is written to objects before: first the database records the blob and the name of each object,
/// then the object is stored. So what is not published is known, and removed.
///
/// The conformance is unchecked: calls do not overlap, see `StagedContent`.
class TreeStagedContent: StagedContent, @unchecked Sendable {
    /// The largest content that is stored in the database, in bytes: as much as a change receives before it writes anything,
    /// so that no object is written during a transaction that creates it.
    static let smallBytes = 64 << 10
    /// The size of an object, in bytes, except that of the last ones.
    static let segmentBytes: Int64 = 8 << 20

    let database: TreeDatabase
    /// The id of the blob.
    let id: Int64
    var location: ResourceLocation
    private var sealed: ResourceInfo?
    /// What is stored in objects.
    var map: SegmentMap
    /// The bytes after those in objects, while they are few.
    var rest: [UInt8] = []
    /// Whether the blob is staged, which it must be before objects are stored.
    var isStaged = false
    /// The object that is being written, and the position of its content. There is no ``rest`` then.
    private(set) var tail: (key: BlobKey, start: Int64, writer: any BlobWriter)?
    /// Objects in ``map`` that other threads are storing, oldest first.
    private var unfinished: [UnfinishedObject] = []
    /// The maximum number of ``unfinished`` objects.
    private static let unfinishedLimit = 2

    /// - Parameters:
    ///   - base: content that the new content has in common with stored content.
    ///   - id: the id of the blob; nil for a new one.
    init(
        for location: ResourceLocation, base: SegmentMap = SegmentMap(), in database: TreeDatabase,
        id: Int64? = nil
    ) {
        self.location = location
        self.database = database
        map = base
        self.id = id ?? database.makeID()
    }

    deinit {
        // Has no effect if it was published: the blob is no longer staged then.
        if isStaged, isGivenUpWhenReleased { database.abandon(id) }
    }

    /// Whether content that is released before it is published is no longer needed.
    var isGivenUpWhenReleased: Bool { true }

    /// Whether few bytes after objects stay in ``rest``, instead of being written to an object immediately.
    var keepsRest: Bool { false }

    var length: Int64 {
        max(map.length + Int64(rest.count), tail.map { $0.start + $0.writer.length } ?? 0)
    }

    // MARK: Writing

    /// Whether bytes can be added to ``rest``.
    private func isSmall(_ count: Int, at offset: Int64) -> Bool {
        tail == nil && (map.length == 0 || keepsRest) && offset >= map.length
            && offset - map.length + Int64(count) <= Int64(Self.smallBytes)
    }

    func write(_ buffer: IOBuffer, wait: Wait) throws(StoreError) {
        if wait == .never, !isSmall(buffer.count, at: length) { throw .wouldBlock }
        try write(buffer, at: length)
    }

    func write(_ buffer: IOBuffer, at offset: Int64) throws(StoreError) {
        try unsafe buffer.withBytes { bytes throws(StoreError) in try unsafe write(bytes, at: offset) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        if isSmall(bytes.count, at: offset) {
            let start = Int(offset - map.length)
            if start > rest.count { rest += [UInt8](repeating: 0, count: start - rest.count) }
            let overlap = min(bytes.count, rest.count - start)
            unsafe rest.replaceSubrange(start..<(start + overlap), with: bytes.prefix(overlap))
            unsafe rest.append(contentsOf: bytes.dropFirst(overlap))
            return
        }
        try writeRest()
        try fillGap(before: offset)
        try unsafe writeLarge(bytes, at: offset)
    }

    /// Writes the rest to an object.
    private func writeRest() throws(StoreError) {
        if !isStaged {
            try stage()
            isStaged = true
        }
        let bytes = rest
        rest = []
        if bytes.isEmpty { return }
        try unsafe bytes.span.withUnsafeBytes { bytes throws(StoreError) in
            try unsafe writeLarge(bytes, at: map.length)
        }
    }

    /// Records that objects are about to be stored.
    func stage() throws(StoreError) { try database.stage(id) }

    /// Appends zeros up to a position.
    private func fillGap(before offset: Int64) throws(StoreError) {
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        while length < offset {
            let count = Int(min(offset - length, Int64(zeros.count)))
            try unsafe zeros.span.withUnsafeBytes { bytes throws(StoreError) in
                try unsafe writeLarge(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: length)
            }
        }
    }

    private func writeLarge(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
        var rest = unsafe bytes[...]
        var position = offset
        while unsafe !rest.isEmpty {
            let tail = try tail(at: position)
            let count = unsafe Int(min(Int64(rest.count), Self.segmentBytes - tail.length))
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(count))
            do throws(BlobError) { try unsafe tail.append(piece) } catch {
                throw database.failure(storing: error)
            }
            unsafe rest = rest.dropFirst(count)
            position += Int64(count)
            if tail.length == Self.segmentBytes { try finishTailLater() }
        }
    }

    /// Returns the object to which the bytes at a position are appended.
    private func tail(at position: Int64) throws(StoreError) -> any BlobWriter {
        if let tail, tail.start + tail.writer.length == position { return tail.writer }
        try finishTail()
        let key = BlobKey.random()
        try database.stage(key, of: id)
        let writer: any BlobWriter
        do throws(BlobError) { writer = try database.blobs.create(key) } catch {
            throw database.failure(storing: error)
        }
        tail = (key, position, writer)
        return writer
    }

    /// Stores the object that is being written, and all before it.
    func finishTail() throws(StoreError) {
        while !unfinished.isEmpty { try finishOldest() }
        guard let (key, start, writer) = tail else { return }
        tail = nil
        if writer.length == 0 { return }
        let digest: [UInt8]?
        do throws(BlobError) { digest = try writer.finish() } catch { throw database.failure(storing: error) }
        map.overlay(key, at: start, length: writer.length, digest: digest ?? [])
        try recordObject(at: start)
    }

    /// Lets another thread store the object that is being written, if that is worthwhile.
    private func finishTailLater() throws(StoreError) {
        guard let threads = database.blobs.transfers, let (key, start, writer) = tail else {
            return try finishTail()
        }
        if unfinished.count == Self.unfinishedLimit { try finishOldest() }
        let object = UnfinishedObject(key, at: start, writer)
        guard threads.start({ object.finish() }) else { return try finishTail() }
        tail = nil
        map.overlay(key, at: start, length: writer.length, digest: [])
        unfinished.append(object)
    }

    /// Waits until the oldest of ``unfinished`` is stored.
    private func finishOldest() throws(StoreError) {
        let object = unfinished.removeFirst()
        do throws(BlobError) { map.setDigest(try object.digest(), of: object.key) } catch {
            throw database.failure(storing: error)
        }
        try recordObject(at: object.start)
    }

    /// Called when an object was stored, whose content begins at `start`.
    func recordObject(at start: Int64) throws(StoreError) {}

    /// Discards the object that is being written.
    func discardTail() { tail = nil }

    func write(contentOf other: any StagedContent, at offset: Int64) throws(StoreError) {
        guard let other = other as? TreeStagedContent else {
            throw .failed(reason: "the content belongs to another store")
        }
        let buffer = IOBuffer(capacity: 1 << 20)
        var position: Int64 = 0
        while true {
            buffer.removeAll()
            let count = try other.read(at: position, into: buffer)
            if count == 0 { return }
            try write(buffer, at: offset + position)
            position += Int64(count)
        }
    }

    func read(at offset: Int64, into buffer: IOBuffer) throws(StoreError) -> Int {
        guard offset < length else { return 0 }
        try finishTail()
        if offset >= map.length {
            return buffer.append(Array(rest[Int(offset - map.length)...].prefix(buffer.freeCount)))
        }
        return try SegmentReader(map, in: database).read(at: offset, into: buffer)
    }

    /// Whether an object is being written: before the transaction that publishes the content, because storing it can take
    /// long.
    var needsSync: Bool { tail != nil || !unfinished.isEmpty }
    func sync() throws(StoreError) { try finishTail() }

    // MARK: Publishing

    func seal(replacing old: ResourceInfo?, modified: Timestamp?) throws(StoreError) -> ResourceInfo {
        if map.length > 0 || tail != nil || isStaged {
            // Content that only has segments of others is a blob of its own, too.
            try writeRest()
            try finishTail()
        }
        let now = database.now
        let info = ResourceInfo(
            kind: .content, length: length, modified: modified ?? now, created: old?.created ?? now,
            identity: old?.identity
                ?? ResourceIdentity(
                    inode: UInt64(bitPattern: database.makeID()), birth: now.nanoseconds),
            volume: 1, isExecutable: old?.isExecutable ?? false, stamp: (old?.stamp ?? 0) + 1)
        sealed = info
        return info
    }

    func publish(isReplacing: Bool) throws(StoreError) {
        try publish { (session, old, info, blob) throws(StoreError) in
            guard let old else {
                let parent = try session.freeParent(of: location.path)
                return try session.insert(
                    info.identity.rowID, in: parent, as: location.path.name, isCollection: false,
                    info.created?.nanoseconds ?? info.modified.nanoseconds,
                    modified: info.modified.nanoseconds, length: info.length, blob: blob)
            }
            guard isReplacing else { throw .alreadyExists }
            try session.release(old.blob)
            try session.replaceContent(of: old, with: info, blob)
        }
    }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) -> Bool {
        try publish { (session, old, info, blob) throws(StoreError) in
            guard let old else { throw .notFound }
            try session.keepVersion(of: old, as: Array(trash.location.path.name))
            try session.replaceContent(of: old, with: info, blob)
        }
        return true
    }

    /// Called in the transaction that publishes the content.
    func willPublish(_ session: TreeSession) throws(StoreError) {}

    private func publish(
        _ body: (TreeSession, TreeRow?, ResourceInfo, Int64?) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let sealed else { throw .failed(reason: "the content is not sealed") }
        try database.session { (session) throws(StoreError) in
            let old = try session.row(location.path)
            if old?.isCollection == true { throw .wrongKind }
            try willPublish(session)
            let blob = length == 0 ? nil : id
            if isStaged {
                try session.insertBlob(id, map)
            } else if let blob {
                try session.insertBlob(blob, rest)
            }
            try body(session, old, sealed, blob)
        }
    }
}

/// An object that another thread is storing.
private final class UnfinishedObject: Sendable {
    let key: BlobKey
    /// The position of its content.
    let start: Int64
    private let writer: any BlobWriter
    private let result = Monitor<Result<[UInt8], BlobError>?>(nil)

    init(_ key: BlobKey, at start: Int64, _ writer: any BlobWriter) {
        self.key = key
        self.start = start
        self.writer = writer
    }

    func finish() {
        let finished: Result<[UInt8], BlobError>
        do throws(BlobError) { finished = .success(try writer.finish() ?? []) } catch {
            finished = .failure(error)
        }
        result.withLock { $0 = finished }
        result.broadcast()
    }

    /// Waits until the object is stored, and returns its digest.
    func digest() throws(BlobError) -> [UInt8] { try result.wait { $0 }.get() }
}

extension TreeSession {
    /// Inserts the blob of small content, with one reference.
    func insertBlob(_ blob: Int64, _ bytes: [UInt8]) throws(StoreError) {
        try write(changesPlaces: false) { batch in
            batch.add(
                """
                INSERT INTO blob (id, share, length, reference_count) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, 1)
                """, .integer(blob), .integer(database.share), .integer(Int64(bytes.count)))
            batch.add(
                "INSERT INTO small_content (blob, bytes) VALUES ($1, $2)", .integer(blob), .bytes(bytes))
        }
    }

    /// Inserts a staged blob, with one reference. The statement fails if the collector has removed it, for example because
    /// this node was stopped for a long time.
    func insertBlob(_ blob: Int64, _ map: SegmentMap) throws(StoreError) {
        try write(changesPlaces: false) { batch in
            batch.add(
                """
                INSERT INTO blob (id, share, length, reference_count) OVERRIDING SYSTEM VALUE
                SELECT $1, $2, $3, 1 WHERE $3 > 0
                """, .integer(blob), .integer(database.share), .integer(map.length))
            batch.add(
                """
                INSERT INTO segment (blob, start, length, object, object_start, digest)
                SELECT $1, start, length, encode(object, 'hex')::uuid, object_start, digest
                FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[])
                    AS piece (start, length, object, object_start, digest)
                """, .integer(blob), .integers(map.segments.map(\.start)),
                .integers(map.segments.map(\.length)), .byteStrings(map.segments.map(\.object.bytes)),
                .integers(map.segments.map(\.objectStart)), .byteStrings(map.segments.map(\.digest)))
            batch.add("SELECT adopt_blob($1, $2)", .integer(blob), .integer(database.node))
        }
    }

    /// Gives a resource new content. The old content must have been released, or be in the trash.
    func replaceContent(of row: TreeRow, with info: ResourceInfo, _ blob: Int64?) throws(StoreError) {
        try write { batch in
            batch.add(
                "UPDATE resource SET length = $2, modified = $3, version = $4, blob = $5 WHERE id = $1",
                .integer(row.id), .integer(info.length), .integer(info.modified.nanoseconds),
                .integer(Int64(bitPattern: info.stamp)), .integer(blob))
        }
        try recordChange(row.id, row.parent, row.name, .changed)
    }

    /// Moves the content of a resource to the trash, as a resource with copies of its properties. The entry exists already.
    func keepVersion(of row: TreeRow, as id: [UInt8]) throws(StoreError) {
        let kept = database.makeID()
        try write { batch in
            batch.add(
                """
                INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, version, blob,
                    is_executable, has_properties, content_language)
                OVERRIDING SYSTEM VALUE
                SELECT $1, share, $3, $4, $4, kind, length, modified, created, version, blob, is_executable,
                    has_properties, content_language
                FROM resource WHERE id = $2
                """, .integer(kept), .integer(row.id), .integer(database.trash), .bytes(id))
            if row.hasProperties {
                batch.add(
                    """
                    INSERT INTO property (resource, namespace, local, element)
                    SELECT $1, namespace, local, element FROM property WHERE resource = $2
                    """, .integer(kept), .integer(row.id))
            }
            batch.add(
                "UPDATE trash SET resource = $1 WHERE share = $2 AND id = $3", .integer(kept),
                .integer(database.share), .text(String(decoding: id, as: UTF8.self)))
        }
    }
}
#endif
