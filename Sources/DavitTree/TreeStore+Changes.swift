#if Postgres
package import DavitHTTP
internal import DavitPostgres
package import DavitStore

extension TreeStore {
    // MARK: Content

    package func stageContent(
        for location: ResourceLocation, expectedLength: Int64?, replaces: Bool
    ) throws(StoreError) -> any StagedContent { TreeStagedContent(for: location, in: database) }

    package func stageUpdate(
        of location: ResourceLocation
    ) throws(StoreError) -> (content: any StagedContent, base: ResourceInfo) {
        let opened = try open(location.path, wait: .allowed)
        guard let file = opened.content?.file as? TreeContent else { throw .notFound }
        // Segments never change, so that the new content can share those of the old one.
        if let segments = file.segments {
            return (TreeStagedContent(for: location, base: segments, in: database), opened.info)
        }
        let staged = TreeStagedContent(for: location, in: database)
        let buffer = IOBuffer(capacity: TreeStagedContent.smallBytes)
        if try file.read(at: 0, into: buffer) > 0 { try staged.write(buffer, wait: .allowed) }
        return (staged, opened.info)
    }

    package func stageUpload(
        for location: ResourceLocation, expectedLength: Int64?
    ) throws(StoreError) -> any UploadContent { TreeUploadContent(for: location, in: database) }

    package func upload(
        named stagedName: [UInt8], _ identity: ResourceIdentity, for location: ResourceLocation
    ) throws(StoreError) -> any UploadContent {
        try check(location.path, .allowed)
        guard let blob = Int64(String(decoding: stagedName, as: UTF8.self)) else { throw .notFound }
        return try TreeUploadContent.open(blob, for: location, in: database)
    }

    // MARK: Collections

    package func createCollection(at location: ResourceLocation) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            let parent = try session.freeParent(of: location.path)
            let now = database.now.nanoseconds
            try session.insert(
                database.makeID(), in: parent, as: location.path.name, isCollection: true, now)
        }
    }

    package func stageCollection(at path: ResourcePath) throws(StoreError) -> any StagedTree {
        TreeStagedCollection(at: path, in: database)
    }

    package func stageCopy(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        filter: (any CopyFilter)?, heightLimit: Int
    ) throws(StoreError) -> any StagedTree {
        try TreeStagedCopy(
            of: source, for: destination, includesMembers: includesMembers, filter, heightLimit, in: self)
    }

    // MARK: Moving

    package func rename(_ source: ResourcePath, toFree destination: ResourcePath) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(source) else { throw .notFound }
            let place = try session.place(destination)
            if let other = place.row, other.id != row.id { throw .alreadyExists }
            guard let parent = place.parent else { throw .missingAncestor }
            try session.move(row, to: parent.id, as: Array(destination.name))
        }
    }

    package func renameInOneStep(
        _ source: ResourceLocation, toFree destination: ResourceLocation
    ) throws(StoreError) -> Bool {
        try rename(source.path, toFree: destination.path)
        return true
    }

    package func rename(_ source: ResourceLocation, overContent destination: ResourceLocation)
        throws(StoreError)
    {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(source.path) else { throw .notFound }
            let place = try session.place(destination.path)
            guard let parent = place.parent else { throw .missingAncestor }
            if let old = place.row {
                if old.isCollection { throw .wrongKind }
                if old.id == row.id { return }
                try session.removeContent(old)
            }
            try session.move(row, to: parent.id, as: Array(destination.path.name))
        }
    }

    package func exchange(_ a: ResourcePath, _ b: ResourcePath) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let first = try session.row(a), let second = try session.row(b) else { throw .notFound }
            let (firstName, secondName) = (Array(a.name), Array(b.name))
            try session.move(first, to: database.removed, as: database.removedName(of: first.id))
            try session.move(second, to: first.parent, as: firstName)
            try session.move(first, to: second.parent, as: secondName)
        }
    }

    // MARK: Removing

    package func removeContent(at location: ResourceLocation) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(location.path) else { throw .notFound }
            if row.isCollection { throw .wrongKind }
            try session.removeContent(row)
        }
    }

    package func removeEmptyCollection(at path: ResourcePath) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(path) else { throw .notFound }
            guard row.isCollection else { throw .wrongKind }
            let members = try session.read(
                "SELECT FROM resource WHERE share = $1 AND parent = $2 LIMIT 1", .integer(database.share),
                .integer(row.id))
            if members.count > 0 { throw .alreadyExists }
            try session.remove(row)
        }
    }

    package func detach(_ path: ResourcePath) throws(StoreError) -> any DetachedTree {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(path) else { throw .notFound }
            try session.move(row, to: database.removed, as: database.removedName(of: row.id))
            return TreeDetached(row, from: path, in: self)
        }
    }

    package func setAttributes(
        _ attributes: ResourceAttributes, at path: ResourcePath
    ) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(path) else { throw .notFound }
            if row.isCollection, attributes.isExecutable != nil { throw .wrongKind }
            try session.write { batch in
                batch.add(
                    """
                    UPDATE resource SET is_executable = coalesce($2, is_executable), modified = coalesce($3, modified)
                    WHERE id = $1
                    """, .integer(row.id), .flag(attributes.isExecutable),
                    .integer(attributes.modified?.nanoseconds))
            }
            try session.recordChange(row.id, row.parent, row.name, .changed)
        }
    }

    package func trashed(in folder: ResourcePath) throws(StoreError) -> [TrashedResource] { [] }
}

extension TreeDatabase {
    /// The name of a resource while it is being removed.
    func removedName(of id: Int64) -> [UInt8] { Array(String(id).utf8) }

    /// Removes resources that are being removed, and their members, in small transactions.
    ///
    /// - Parameter limit: the maximum number of resources.
    /// - Returns: the number of removed resources; 0 if nothing is left, or if other nodes remove the rest.
    package func removeDetached(limit: Int) throws(StoreError) -> Int {
        try session { (session) throws(StoreError) in
            // Members of a removed collection take its place. So there is no recursion, and another node can continue.
            let result = try session.read(
                "SELECT remove_detached($1, $2, $3)", .integer(share), .integer(removed),
                .integer(Int64(limit)))
            return Int(try session.decode { () throws(PostgresError) in try result.integer(0, 0) })
        }
    }
}

/// A change in the journal.
enum TreeChange: Int64 {
    case changed = 0
    case removed = 1
    /// Created with all members.
    case appeared = 2
    /// Only its locks have changed.
    case locks = 3
}

extension TreeSession {
    func recordChange(
        _ id: Int64, _ parent: Int64, _ name: [UInt8], _ kind: TreeChange
    ) throws(StoreError) {
        if parent == database.removed || parent == database.trash { return }
        hasChanges = true
        try write(changesPlaces: false) { batch in
            batch.add(
                "INSERT INTO change (share, resource, parent, name, kind) VALUES ($1, $2, $3, $4, $5)",
                .integer(database.share), .integer(id), .integer(parent), .bytes(name),
                .integer(kind.rawValue))
        }
    }

    /// Returns the id of the collection in which a name is free.
    func freeParent(of path: ResourcePath) throws(StoreError) -> Int64 {
        let place = try place(path)
        if place.row != nil { throw .alreadyExists }
        guard let parent = place.parent else { throw .missingAncestor }
        return parent.id
    }

    /// Inserts a resource without content.
    func insert(
        _ id: Int64, in parent: Int64, as name: some Collection<UInt8>, isCollection: Bool, _ time: Int64,
        modified: Int64? = nil, length: Int64 = 0, blob: Int64? = nil
    ) throws(StoreError) {
        try write { batch in
            batch.add(
                """
                INSERT INTO resource (id, share, parent, key, name, kind, length, modified, created, blob)
                OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                """, .integer(id), .integer(database.share), .integer(parent),
                .bytes(TreeKey.key(of: name)),
                .bytes(Array(name)), .integer(isCollection ? 0 : 1), .integer(length),
                .integer(modified ?? time), .integer(time), .integer(blob))
            if withProperties.contains(id) { batch.addPropertyFlags(of: id) }
        }
        try recordChange(id, parent, Array(name), .changed)
    }

    /// Gives a resource another name or collection. Its locks and those of its members end (RFC 4918 §7.5).
    func move(_ row: TreeRow, to parent: Int64, as name: [UInt8]) throws(StoreError) {
        try removeLocks(atOrUnder: row)
        try write { batch in
            batch.add(
                "UPDATE resource SET parent = $2, key = $3, name = $4 WHERE id = $1", .integer(row.id),
                .integer(parent), .bytes(TreeKey.key(of: name)), .bytes(name))
        }
        try recordChange(row.id, row.parent, row.name, .removed)
        try recordChange(row.id, parent, name, row.isCollection ? .appeared : .changed)
    }

    func removeLocks(atOrUnder row: TreeRow) throws(StoreError) {
        try write { batch in
            batch.add("DELETE FROM lock WHERE resource = $1", .integer(row.id))
            if row.isCollection {
                batch.add("DELETE FROM lock WHERE ancestors @> $1", .integers([row.id]))
            }
        }
    }

    func removeContent(_ row: TreeRow) throws(StoreError) {
        try release(row.blob)
        try remove(row)
    }

    /// Removes a resource without members.
    func remove(_ row: TreeRow) throws(StoreError) {
        try write { batch in
            batch.add("DELETE FROM lock WHERE resource = $1", .integer(row.id))
            if row.hasProperties { batch.add("DELETE FROM property WHERE resource = $1", .integer(row.id)) }
            batch.add("DELETE FROM resource WHERE id = $1", .integer(row.id))
        }
        try recordChange(row.id, row.parent, row.name, .removed)
    }

    /// Removes a reference to a blob. The collector removes the blob later, because clients may be reading it.
    func release(_ blob: Int64?) throws(StoreError) {
        guard let blob else { return }
        try write(changesPlaces: false) { batch in
            batch.add(
                """
                UPDATE blob SET reference_count = reference_count - 1,
                    unreferenced = CASE WHEN reference_count <= 1 THEN clock_timestamp() END
                WHERE id = $1
                """, .integer(blob))
        }
    }
}
#endif
