#if Postgres
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore
internal import DavitWebDAV
internal import Synchronization

extension StateChange {
    /// Whether ``TreeStore`` does this together with the change of the resource, or does not need it.
    var isDoneByTreeStore: Bool {
        switch self {
        case .removeRows, .moveRows, .putRecord, .copyProperties, .putIntent, .dropIntent: true
        case .bind, .setProperty, .limitProperties, .removeProperty, .removeLocks, .addLock, .refreshLock,
            .removeLock, .removeExpiredLock, .putUpload, .setUploadProgress, .removeUpload, .putTrash,
            .measureTrash, .dropTrash:
            false
        }
    }
}

extension UploadRecord {
    /// The id of the blob with the bytes, see ``TreeUploadContent``.
    var blob: Int64? { Int64(String(decoding: stagedName, as: UTF8.self)) }
}

extension PostgresBatch {
    /// Appends the statement that updates what the row of a resource says about its properties.
    mutating func addPropertyFlags(of id: Int64) {
        add(
            """
            UPDATE resource SET has_properties = EXISTS (SELECT FROM property WHERE resource = $1),
                content_language = (
                    SELECT '' FROM property
                    WHERE resource = $1 AND namespace = 'DAV:' AND local = 'getcontentlanguage')
            WHERE id = $1
            """, .integer(id))
    }
}

/// The statements of changes of properties, locks and trash entries.
struct TreeStateChange {
    private let changes: [StateChange]
    private let share: Int64
    /// The ids of the resources by their paths. A resource that the same transaction is about to create has one too.
    private var ids: [ResourcePath: Int64] = [:]
    /// The ids of the collections above the roots of new locks.
    private var ancestors: [ResourcePath: [Int64]] = [:]

    /// Reads what the statements need.
    /// - Throws: `quotaExceeded` if the properties of a resource would exceed their limit, and other errors.
    init(_ changes: [StateChange], _ session: TreeSession) throws(StoreError) {
        self.changes = changes
        share = session.database.share
        for change in changes {
            switch change {
            case .bind(let path, let identity, _): ids[path] = identity.rowID
            case .setProperty(let path, _), .removeProperty(let path, _), .removeLocks(let path):
                if ids[path] == nil, let row = try session.row(path) { ids[path] = row.id }
            case .addLock(let lock):
                let place = try session.place(lock.root)
                let above = place.row == nil ? place.rows : place.rows.dropLast()
                ancestors[lock.root] = above.map(\.id)
                if ids[lock.root] == nil, let row = place.row { ids[lock.root] = row.id }
            case .putUpload(let record):
                guard let row = try session.row(record.collection), let blob = record.blob else {
                    throw .missingAncestor
                }
                ids[record.collection] = row.id
                session.database.turns.withLock { $0.link(record.id, to: blob) }
            case .limitProperties(let path, let limit): try check(path, limit, session)
            default: break
            }
        }
    }

    /// Checks the size of the properties at a path.
    private func check(_ path: ResourcePath, _ limit: Int, _ session: TreeSession) throws(StoreError) {
        guard let id = ids[path] else { return }
        let result = try session.read(
            """
            SELECT namespace, local, octet_length(namespace) + octet_length(local) + octet_length(element)
            FROM property WHERE resource = $1
            """, .integer(id))
        var sizes = try session.decode { () throws(PostgresError) in
            var sizes: [PropertyName: Int] = [:]
            for index in 0..<result.count {
                let name = PropertyName(
                    namespace: try result.text(index, 0), local: try result.text(index, 1))
                sizes[name] = Int(try result.integer(index, 2))
            }
            return sizes
        }
        let before = sizes.values.reduce(0, +)
        for change in changes {
            switch change {
            case .setProperty(path, let property): sizes[property.name] = property.byteCount
            case .removeProperty(path, let name): sizes[name] = nil
            default: break
            }
        }
        let after = sizes.values.reduce(0, +)
        if after > limit, after > before { throw .quotaExceeded }
    }

    func add(to batch: inout PostgresBatch) {
        for change in changes { add(change, to: &batch) }
        for id in changedIDs { batch.addPropertyFlags(of: id) }
    }

    /// The resources whose properties change.
    var changedIDs: Set<Int64> {
        var found: Set<Int64> = []
        for change in changes {
            switch change {
            case .setProperty(let path, _), .removeProperty(let path, _):
                if let id = ids[path] { found.insert(id) }
            default: break
            }
        }
        return found
    }

    /// Whether locks are created or removed.
    var changesLocks: Bool {
        changes.contains { change in
            switch change {
            case .addLock, .removeLock, .removeLocks: true
            default: false
            }
        }
    }

    private func add(_ change: StateChange, to batch: inout PostgresBatch) {
        switch change {
        case .setProperty(let path, let property):
            guard let id = ids[path] else { return }
            batch.add(
                """
                INSERT INTO property (resource, namespace, local, element) VALUES ($1, $2, $3, $4)
                ON CONFLICT (resource, namespace, local) DO UPDATE SET element = excluded.element
                """, .integer(id), .text(property.name.namespace), .text(property.name.local),
                .bytes(property.value.element))
        case .removeProperty(let path, let name):
            guard let id = ids[path] else { return }
            batch.add(
                "DELETE FROM property WHERE resource = $1 AND namespace = $2 AND local = $3", .integer(id),
                .text(name.namespace), .text(name.local))
        case .removeLocks(let path):
            guard let id = ids[path] else { return }
            batch.add(
                "DELETE FROM lock WHERE resource = $1 OR ancestors @> ARRAY[$1]", .integer(id))
        case .addLock(let lock): add(lock, to: &batch)
        case .refreshLock(let token, _, let seconds, _):
            // From the clock that decides when it expires: that of this node may differ for some seconds after a jump.
            batch.add(
                """
                UPDATE lock SET timeout_seconds = $2, expiry = clock_timestamp() + $2 * interval '1 second'
                WHERE token = $1 AND expiry > clock_timestamp()
                """, .uuid(token.uuid), .integer(seconds))
        case .removeLock(let token, _):
            batch.add(
                """
                INSERT INTO change (share, resource, parent, name, kind)
                SELECT r.share, r.id, r.parent, r.name, $2 FROM lock l JOIN resource r ON r.id = l.resource
                WHERE l.token = $1
                """, .uuid(token.uuid), .integer(TreeChange.locks.rawValue))
            batch.add("DELETE FROM lock WHERE token = $1", .uuid(token.uuid))
        case .removeExpiredLock(let token, _, _):
            batch.add(
                "DELETE FROM lock WHERE token = $1 AND expiry <= clock_timestamp()", .uuid(token.uuid))
        case .putTrash(let entry):
            batch.add(
                """
                INSERT INTO trash (id, share, resource, path, deleted, principal, length, is_collection, is_overwritten)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                """, .text(entry.id), .integer(share), .integer(entry.identity.rowID),
                .bytes(entry.path.bytes), .time(entry.deleted.nanoseconds), .text(entry.principal),
                .integer(entry.length), .flag(entry.isCollection), .flag(entry.reason == .overwritten))
        case .measureTrash(let entry, let length):
            batch.add(
                "UPDATE trash SET length = $3 WHERE share = $1 AND id = $2 AND length IS NULL",
                .integer(share), .text(entry.id), .integer(length))
        case .dropTrash(let entry):
            batch.add("DELETE FROM trash WHERE share = $1 AND id = $2", .integer(share), .text(entry.id))
        case .putUpload(let record): add(record, to: &batch)
        case .removeUpload(let id):
            batch.add("DELETE FROM upload WHERE share = $1 AND id = $2", .integer(share), .text(id))
        // The progress is set before, because the result decides.
        case .bind, .limitProperties, .setUploadProgress, .removeRows, .moveRows,
            .putRecord, .copyProperties, .putIntent, .dropIntent:
            break
        }
    }

    private func add(_ record: UploadRecord, to batch: inout PostgresBatch) {
        let progress = record.progress
        batch.add(
            """
            INSERT INTO upload (id, share, parent, name, blob, principal, network, field_lines, options, length, received,
                is_unverified, is_complete, expiry, charged_bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            """, .text(record.id), .integer(share), .integer(ids[record.collection]), .bytes(record.name),
            .integer(record.blob), .text(record.principal), .text(record.network), .bytes(record.fieldLines),
            .integer(record.options.rawValue), .integer(progress.length), .integer(progress.offset),
            .flag(progress.isUnverified), .flag(progress.isComplete), .time(progress.expiry.nanoseconds),
            .integer(Int64(record.chargedBytes)))
    }

    private func add(_ lock: Lock, to batch: inout PostgresBatch) {
        guard let id = ids[lock.root] else { return }
        batch.add(
            """
            INSERT INTO lock (token, share, resource, ancestors, is_infinite, is_exclusive, owner, principal, network,
                timeout_seconds, created, expiry, root_href)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + $10 * interval '1 second', $12)
            """, .uuid(lock.token.uuid), .integer(share), .integer(id),
            .integers(ancestors[lock.root] ?? []), .flag(lock.depth == .infinity),
            .flag(lock.scope == .exclusive), .bytes(lock.owner?.element), .text(lock.principal),
            .text(lock.network), .integer(lock.timeoutSeconds),
            .time(lock.created?.nanoseconds ?? lock.expiry.adding(seconds: -lock.timeoutSeconds).nanoseconds),
            .bytes(lock.rootHref))
        // Nothing for a resource that this transaction creates: that is a change, too.
        batch.add(
            """
            INSERT INTO change (share, resource, parent, name, kind)
            SELECT share, id, parent, name, $2 FROM resource WHERE id = $1
            """, .integer(id), .integer(TreeChange.locks.rawValue))
    }
}
#endif
