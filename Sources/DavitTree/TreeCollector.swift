#if Postgres
internal import DavitBlobs
internal import DavitHTTP
internal import DavitPostgres
package import DavitStore
internal import Synchronization

/// Blobs that no resource uses yet.
extension TreeDatabase {
    /// Records that this node is about to write a blob.
    ///
    /// These statements do not belong to the present unit of calls: they are committed before the first object is stored.
    func stage(_ blob: Int64) throws(StoreError) {
        try commit { batch in
            batch.add(
                "INSERT INTO staged_blob (blob, node) VALUES ($1, $2)", .integer(blob), .integer(node))
        }
    }

    /// Records that this node is about to store an object of a staged blob.
    func stage(_ object: BlobKey, of blob: Int64) throws(StoreError) {
        try commit { batch in
            batch.add(
                "INSERT INTO staged_object (object, blob) VALUES ($1, $2)", .uuid(object.uuid), .integer(blob)
            )
        }
    }

    /// Gives up a blob that this node has staged. ``collect(limit:)`` removes it.
    func abandon(_ blob: Int64) { abandoned.withLock { $0.append(blob) } }

    /// Forgets this node, which has no content that it has not published.
    package func leave() {
        try? commit { batch in batch.add("DELETE FROM node WHERE id = $1", .integer(node)) }
    }

    /// Runs statements in a transaction of their own.
    func commit(_ add: (inout PostgresBatch) -> Void) throws(StoreError) {
        do throws(PostgresError) {
            try pool.transaction(until: deadline) { transaction throws(PostgresError) in
                add(&transaction.last)
                return .commit(())
            }
        } catch {
            throw StoreError(error)
        }
    }
}

/// The collector, which any node runs.
extension TreeDatabase {
    /// Records that this node runs, and removes what no node needs any more: blobs without a resource, objects of uploads
    /// that did not end, expired locks, old records of changes and transactions. Blocks.
    ///
    /// A row is removed before the object that it names, so that no row ever names an object that is gone. An object is
    /// removed a second time a day later, because a write that was under way may have stored it after the first time.
    ///
    /// - Parameter limit: the maximum number of rows of each kind.
    package func collect(limit: Int) throws(StoreError) {
        let count = Int64(limit)
        let gone = abandoned.withLock { list in
            defer { list = [] }
            return list
        }
        try commit { batch in
            batch.add("UPDATE node SET seen = clock_timestamp() WHERE id = $1", .integer(node))
            batch.add(
                "DELETE FROM staged_blob WHERE node = $1 AND blob = ANY ($2)", .integer(node), .integers(gone)
            )
            // A node that is continued later cannot use its blobs any more.
            batch.add(
                """
                DELETE FROM staged_blob WHERE blob IN (
                    SELECT s.blob FROM staged_blob s LEFT JOIN node n ON n.id = s.node
                    WHERE coalesce(s.expiry, n.seen + $1 * interval '1 second', '-infinity') < clock_timestamp()
                    LIMIT $2 FOR UPDATE OF s SKIP LOCKED)
                """, .integer(periods.nodeSeconds), .integer(count))
            // Those of uploads have no end of their own.
            batch.add(
                """
                DELETE FROM staged_blob WHERE blob IN (
                    SELECT s.blob FROM staged_blob s
                    WHERE s.expiry = 'infinity' AND NOT EXISTS (SELECT FROM upload u WHERE u.blob = s.blob)
                    LIMIT $1 FOR UPDATE SKIP LOCKED)
                """, .integer(count))
            batch.add(
                """
                DELETE FROM segment WHERE (blob, start) IN (
                    SELECT s.blob, s.start FROM staged_object o JOIN segment s ON s.object = o.object
                    WHERE NOT EXISTS (SELECT FROM staged_blob b WHERE b.blob = o.blob)
                        AND NOT EXISTS (SELECT FROM blob b WHERE b.id = s.blob)
                    LIMIT $1)
                """, .integer(count))
            batch.add(
                """
                DELETE FROM node WHERE seen < clock_timestamp() - interval '7 days'
                    AND NOT EXISTS (SELECT FROM staged_blob s WHERE s.node = node.id)
                """)
            batch.add(
                """
                WITH ended AS (
                    DELETE FROM lock WHERE token IN (
                        SELECT token FROM lock WHERE expiry < (SELECT clock_timestamp()) LIMIT $1
                        FOR UPDATE SKIP LOCKED)
                    RETURNING resource
                )
                INSERT INTO change (share, resource, parent, name, kind)
                SELECT r.share, r.id, r.parent, r.name, $2 FROM ended e JOIN resource r ON r.id = e.resource
                """, .integer(count), .integer(TreeChange.locks.rawValue))
            batch.add(
                "SELECT remove_unreferenced_blobs($1, $2, $3)", .integer(share),
                .integer(periods.blobSeconds), .integer(count))
        }
        try removeStagedObjects(count)
        try removeObjects(count)
        do throws(PostgresError) {
            // Each change leaves one, so that more of them are due than rows of other kinds.
            var rounds = 0
            while try pool.removeOldMarkers(limit: limit, until: deadline) == limit,
                rounds < Self.markerRounds
            {
                rounds += 1
            }
        } catch {
            throw StoreError(error)
        }
    }

    private static let markerRounds = 50

    /// Removes the objects of staged blobs that were given up.
    private func removeStagedObjects(_ limit: Int64) throws(StoreError) {
        let objects = try session { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT object FROM staged_object o
                WHERE NOT EXISTS (SELECT FROM staged_blob s WHERE s.blob = o.blob)
                    AND NOT EXISTS (SELECT FROM segment s WHERE s.object = o.object)
                LIMIT $1
                """, .integer(limit))
            return try session.decode { () throws(PostgresError) in
                try (0..<result.count).map { row throws(PostgresError) in try result.uuid(row, 0) }
            }
        }
        for object in objects {
            try remove(BlobKey(object))
            try commit { batch in
                // Once more later, see ``removeObjects(_:)``.
                batch.add(
                    "INSERT INTO removed_object (object, share) VALUES ($1, $2) ON CONFLICT (object) DO NOTHING",
                    .uuid(object), .integer(share))
                batch.add("DELETE FROM staged_object WHERE object = $1", .uuid(object))
            }
        }
    }

    /// Removes the objects of removed blobs: immediately, and once more later.
    private func removeObjects(_ limit: Int64) throws(StoreError) {
        let found = try session { (session) throws(StoreError) in
            let result = try session.read(
                """
                SELECT object, is_removed FROM removed_object WHERE share = $1 AND NOT is_removed
                UNION ALL
                SELECT object, is_removed FROM removed_object WHERE share = $1 AND is_removed
                    AND removed < (SELECT clock_timestamp() - $2 * interval '1 second')
                LIMIT $3
                """, .integer(share), .integer(periods.secondRemovalSeconds), .integer(limit))
            return try session.decode { () throws(PostgresError) in
                try (0..<result.count).map { row throws(PostgresError) in
                    (object: try result.uuid(row, 0), isLast: try result.flag(row, 1))
                }
            }
        }
        for (object, isLast) in found {
            try remove(BlobKey(object))
            try commit { batch in
                if isLast {
                    batch.add("DELETE FROM removed_object WHERE object = $1", .uuid(object))
                } else {
                    batch.add("UPDATE removed_object SET is_removed = true WHERE object = $1", .uuid(object))
                }
            }
        }
    }

    private func remove(_ object: BlobKey) throws(StoreError) {
        do throws(BlobError) { try blobs.remove(object) } catch { throw StoreError(error) }
    }
}

/// How long the collector waits.
package struct TreePeriods: Sendable {
    /// After a node was seen last, until its uploads are given up, in seconds.
    package var nodeSeconds: Int64 = 600
    /// After a blob lost its last reference, in seconds: clients may still be reading it.
    package var blobSeconds: Int64 = 3600
    /// Until an object is removed a second time, in seconds.
    package var secondRemovalSeconds: Int64 = 86_400

    package init() {}
}
#endif
