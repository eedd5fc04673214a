internal import DavitStore

/// The prepared statements of ``RowReader``.
///
/// CROSS JOIN fixes the order of the loops: resources in key order, and for each its properties in key order,
/// so that queries for one path or subtree need neither a full scan nor a sort.
final class ReadStatements {
    let begin: Statement
    let commit: Statement
    let recordAt: Statement
    let recordsUnder: Statement
    let pathsWithProperties: Statement
    let pathsWithProperty: Statement
    let locks: Statement
    let intents: Statement
    let uploads: Statement
    let trashTotals: Statement
    let trashAfter: Statement
    let trashByID: Statement

    /// See ``Statement/scanSteps``; excludes the statements that read entire tables at startup.
    var scanSteps: Int {
        recordAt.scanSteps + recordsUnder.scanSteps + trashAfter.scanSteps + trashByID.scanSteps
    }

    init(on connection: borrowing DatabaseConnection) {
        begin = Statement("BEGIN", on: connection)
        commit = Statement("COMMIT", on: connection)
        recordAt = Statement(
            """
            SELECT r.inode, r.birth, r.pending_inode, r.pending_birth,
                p.namespace, p.local, p.element
            FROM resource r CROSS JOIN property p ON p.parent = r.parent AND p.name = r.name
            WHERE r.parent = ?1 AND r.name = ?2
            ORDER BY p.namespace, p.local
            """, on: connection)
        // The range of the paths below a path never includes the path itself, not even for the root, which is
        // at ("", "").
        recordsUnder = Statement(
            """
            SELECT * FROM (
                SELECT r.parent, r.name, r.inode, r.birth, r.pending_inode, r.pending_birth,
                    p.namespace, p.local, p.element
                FROM resource r CROSS JOIN property p ON p.parent = r.parent AND p.name = r.name
                WHERE r.parent = ?1 AND r.name = ?2
                ORDER BY p.namespace, p.local)
            UNION ALL
            SELECT * FROM (
                SELECT r.parent, r.name, r.inode, r.birth, r.pending_inode, r.pending_birth,
                    p.namespace, p.local, p.element
                FROM resource r CROSS JOIN property p ON p.parent = r.parent AND p.name = r.name
                WHERE r.parent >= ?3 AND r.parent < ?4
                ORDER BY r.parent, r.name, p.namespace, p.local)
            """, on: connection)
        pathsWithProperties = Statement(
            """
            SELECT parent, name, inode, birth, pending_inode, pending_birth FROM resource r
            WHERE EXISTS (SELECT 1 FROM property p WHERE p.parent = r.parent AND p.name = r.name)
            """, on: connection)
        pathsWithProperty = Statement(
            "SELECT parent, name FROM property WHERE namespace = ?1 AND local = ?2", on: connection)
        locks = Statement(
            """
            SELECT l.token, l.parent, l.name, l.is_infinite, l.is_exclusive, l.owner, l.principal,
                l.timeout_seconds, l.expiry, l.root_href, r.inode, r.birth, r.pending_inode, r.pending_birth,
                l.created, l.network
            FROM lock l CROSS JOIN resource r ON r.parent = l.parent AND r.name = l.name
            ORDER BY l.number
            """, on: connection)
        intents = Statement(
            """
            SELECT id, source, destination, moved_inode, moved_birth, replaced_inode, replaced_birth, is_copy,
                origin, origin_inode, origin_birth, executable, modified, kept, content_language
            FROM intent ORDER BY id
            """, on: connection)
        uploads = Statement(
            """
            SELECT id, folder, name, staged_name, inode, birth, principal, field_lines, options,
                length, offset, is_unverified, is_complete, expiry, network
            FROM upload ORDER BY id
            """, on: connection)
        // Unlike sum(), total() does not fail if the lengths of sparse files overflow. It is exact up to 8 PiB.
        trashTotals = Statement(
            "SELECT count(*), CAST(min(total(length), 9e18) AS INTEGER), coalesce(max(number), 0) FROM trash",
            on: connection)
        trashAfter = Statement(
            """
            SELECT number, id, path, place, inode, birth, deleted, principal, length, is_collection,
                is_overwritten
            FROM trash WHERE number > ?1 ORDER BY number LIMIT ?2
            """, on: connection)
        trashByID = Statement(
            """
            SELECT number, id, path, place, inode, birth, deleted, principal, length, is_collection,
                is_overwritten
            FROM trash WHERE id = ?1
            """, on: connection)
    }
}
