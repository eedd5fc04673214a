#if Postgres
internal import DavitBlobs
internal import DavitPostgres

/// The objects of a folder of the store that the database names.
private struct NamedObjects {
    struct Needed {
        /// Where the last piece that a segment uses ends.
        var end: Int64
        /// Empty if it is not known.
        var digest: [UInt8]
        /// Whether all segments agree on the digest.
        var isUnique = true
    }

    /// Those that segments of the checked shares use.
    var needed: [BlobKey: Needed] = [:]
    /// All, including those that are staged, or are removed.
    var all: Set<BlobKey> = []
}

extension TreeCheck {
    /// Compares the objects in a folder of the store with the database.
    ///
    /// Objects are named by the database before they are stored, and removed from the store before the database forgets them. So
    /// the store is listed first, and then the names are read: an object without a name is unknown, unless it was removed in
    /// between. An object that a segment needs at two times exists at all times in between, because names are never used again.
    func checkObjects(_ folder: UInt8) throws(TreeCheckFailure) {
        let stored = try list(folder)
        let named = try names(folder)
        objectCount += named.needed.count
        var lengths: [BlobKey: Int64] = [:]
        for object in stored where object.isComplete {
            if let key = object.key { lengths[key] = object.length }
        }
        var unknown = Set(share == nil ? stored.map(\.name) : [])
        if !unknown.isEmpty {
            for object in stored {
                if let key = object.key, named.all.contains(key) { unknown.remove(object.name) }
            }
        }
        var suspects: [BlobKey] = []
        for (key, needed) in named.needed where try defect(of: key, needed, length: lengths[key]) != nil {
            suspects.append(key)
        }
        if !unknown.isEmpty || !suspects.isEmpty { try confirm(suspects, unknown, folder) }
    }

    /// Looks at suspicions again, and reports those that remain.
    private func confirm(
        _ suspects: [BlobKey], _ unknown: Set<String>, _ folder: UInt8
    ) throws(TreeCheckFailure) {
        let stored = unknown.isEmpty ? [] : try list(folder).filter { unknown.contains($0.name) }
        var defects: [(key: BlobKey, kind: TreeFinding.Kind, text: String)] = []
        let before = suspects.isEmpty ? NamedObjects() : try names(folder)
        let lengths = suspects.isEmpty ? [:] : try self.lengths(of: suspects, folder)
        for key in suspects.sorted(by: { $0.text < $1.text }) {
            guard let needed = before.needed[key],
                let defect = try defect(of: key, needed, length: lengths[key])
            else { continue }
            defects.append((key, defect.kind, defect.text))
        }
        let after = try names(folder)
        for (key, kind, text) in defects where after.needed[key] != nil {
            try report(kind, Self.name(of: key.text, folder), text) { () throws(TreeCheckFailure) in
                try resource(using: key)
            }
        }
        for object in stored.sorted(by: { $0.name < $1.name }) {
            if let key = object.key, after.all.contains(key) { continue }
            try report(
                .unknownObject, Self.name(of: object.name, folder),
                "the database does not name the object, which has \(object.length) bytes"
            ) { nil }
        }
    }

    private static func name(of object: String, _ folder: UInt8) -> String {
        FolderBlobStore.digits(folder) + "/" + object
    }

    /// Returns what is wrong with an object; nil if nothing is.
    /// - Parameter length: nil if the object is not in the store.
    private func defect(
        of key: BlobKey, _ needed: NamedObjects.Needed, length: Int64?
    ) throws(TreeCheckFailure) -> (kind: TreeFinding.Kind, text: String)? {
        guard let length else {
            return (.missingObject, "the object, of which \(needed.end) bytes are needed, does not exist")
        }
        if length < needed.end {
            return (.wrongObjectLength, "the object has \(length) bytes, but \(needed.end) are needed")
        }
        if length > max(needed.end, TreeStagedContent.segmentBytes) {
            return (.wrongObjectLength, "the object has \(length) bytes, but at most \(needed.end) are used")
        }
        if !needed.isUnique { return (.wrongObjectContent, "its segments record different SHA-256 digests") }
        // What follows the last used piece may have been used by a former version. The digest decides.
        guard comparesContent || length > needed.end, !needed.digest.isEmpty else { return nil }
        let digest: [UInt8]?
        do throws(BlobError) { digest = try blobs.digest(of: key) } catch {
            if error == .notFound {
                return (.missingObject, "the object, of which \(needed.end) bytes are needed, does not exist")
            }
            throw TreeCheckFailure(error)
        }
        guard let digest, digest != needed.digest else { return nil }
        if length > needed.end {
            return (
                .wrongObjectLength,
                "the object has \(length) bytes, of which \(needed.end) are used, and not the recorded SHA-256"
            )
        }
        return (.wrongObjectContent, "the object does not have the recorded SHA-256")
    }

    private func resource(using key: BlobKey) throws(TreeCheckFailure) -> Int64? {
        let result = try query(
            "SELECT min(r.id) FROM segment s JOIN resource r ON r.blob = s.blob WHERE s.object = $1",
            .uuid(key.uuid))
        return try decode { () throws(PostgresError) in
            result.isNull(0, 0) ? nil : try result.integer(0, 0)
        }
    }

    // MARK: Lists

    private func list(_ folder: UInt8) throws(TreeCheckFailure) -> [StoredObject] {
        do throws(BlobError) { return try blobs.list(folder) } catch { throw TreeCheckFailure(error) }
    }

    private func lengths(
        of keys: [BlobKey], _ folder: UInt8
    ) throws(TreeCheckFailure) -> [BlobKey: Int64] {
        do throws(BlobError) { return try blobs.lengths(of: keys, in: folder) } catch {
            throw TreeCheckFailure(error)
        }
    }

    /// Returns what the database names in a folder: one statement, so that an object whose blob is published in between is not
    /// missed.
    private func names(_ folder: UInt8) throws(TreeCheckFailure) -> NamedObjects {
        let first = UInt64(folder) << 56
        let result = try query(
            """
            SELECT s.object, s.digest, max(s.object_start + s.length), bool_or($3::bigint IS NULL OR EXISTS (
                SELECT FROM blob b WHERE b.id = s.blob AND b.share = $3))
            FROM segment s WHERE s.object BETWEEN $1 AND $2 GROUP BY s.object, s.digest
            UNION ALL SELECT object, ''::bytea, 0, false FROM staged_object WHERE object BETWEEN $1 AND $2
            UNION ALL SELECT object, ''::bytea, 0, false FROM removed_object WHERE object BETWEEN $1 AND $2
            """, .uuid(PostgresUUID(high: first, low: 0)),
            .uuid(PostgresUUID(high: first | (1 << 56 - 1), low: .max)), .integer(share))
        return try decode { () throws(PostgresError) in
            var named = NamedObjects()
            for row in 0..<result.count {
                let key = BlobKey(try result.uuid(row, 0))
                named.all.insert(key)
                guard try result.flag(row, 3) else { continue }
                let (digest, end) = (try result.bytes(row, 1), try result.integer(row, 2))
                if let known = named.needed[key] {
                    named.needed[key] = .init(end: max(end, known.end), digest: digest, isUnique: false)
                } else {
                    named.needed[key] = .init(end: end, digest: digest)
                }
            }
            return named
        }
    }
}
#endif
