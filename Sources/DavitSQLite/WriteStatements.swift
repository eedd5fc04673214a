internal import DavitStore

/// The prepared statements of ``RowWriter``.
///
/// "At" statements take the key of a path, "below" statements the two bounds of its range; see PathKey.swift.
final class WriteStatements {
    let binding: Statement
    let putBinding: Statement
    let replaceBinding: Statement
    let removeBindingAt: Statement
    let removeBindingsBelow: Statement
    let removeRedundantBinding: Statement
    let moveBindingAt: Statement
    let moveBindingsBelow: Statement

    let anyProperty: Statement
    let putProperty: Statement
    let removeProperty: Statement
    let removePropertiesAt: Statement
    let removePropertiesBelow: Statement
    let movePropertiesAt: Statement
    let movePropertiesBelow: Statement
    let propertyBytes: Statement
    let copyProperties: Statement

    let addLock: Statement
    let refreshLock: Statement
    let removeLock: Statement
    let removeLocksAt: Statement
    let removeLocksBelow: Statement
    let removeExpiredLock: Statement

    let putIntent: Statement
    let dropIntent: Statement

    let putUpload: Statement
    let setUploadProgress: Statement
    let removeUpload: Statement
    let removeUploadsUnder: Statement
    let moveUploadsUnder: Statement
    let putTrash: Statement
    let measureTrash: Statement
    let dropTrash: Statement

    /// Returns the sum of a counter over all statements.
    func sum(_ count: (Statement) -> Int) -> Int {
        var sum = count(binding) + count(putBinding) + count(replaceBinding) + count(removeBindingAt)
        sum += count(removeBindingsBelow) + count(removeRedundantBinding)
        sum += count(moveBindingAt) + count(moveBindingsBelow)
        sum += count(anyProperty) + count(putProperty) + count(removeProperty)
        sum += count(removePropertiesAt) + count(removePropertiesBelow)
        sum += count(movePropertiesAt) + count(movePropertiesBelow)
        sum += count(propertyBytes) + count(copyProperties)
        sum += count(addLock) + count(refreshLock) + count(removeLock)
        sum += count(removeLocksAt) + count(removeLocksBelow) + count(removeExpiredLock)
        sum += count(putUpload) + count(setUploadProgress) + count(removeUpload)
        sum += count(removeUploadsUnder) + count(moveUploadsUnder)
        sum += count(putTrash) + count(measureTrash) + count(dropTrash)
        return sum + count(putIntent) + count(dropIntent)
    }

    init(on connection: borrowing DatabaseConnection) {
        binding = Statement(
            """
            SELECT inode, birth, pending_inode, pending_birth FROM resource WHERE parent = ?1 AND name = ?2
            """, on: connection)
        putBinding = Statement(
            """
            INSERT INTO resource (parent, name, inode, birth, pending_inode, pending_birth)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT DO UPDATE SET inode = excluded.inode, birth = excluded.birth,
                pending_inode = excluded.pending_inode, pending_birth = excluded.pending_birth
            """, on: connection)
        replaceBinding = Statement(
            """
            UPDATE resource SET inode = ?3, birth = ?4, pending_inode = ?5, pending_birth = ?6
            WHERE parent = ?1 AND name = ?2
                AND (inode = ?3 AND birth = ?4 OR pending_inode = ?3 AND pending_birth = ?4)
            """, on: connection)
        removeBindingAt = Statement(
            "DELETE FROM resource WHERE parent = ?1 AND name = ?2", on: connection)
        removeBindingsBelow = Statement(
            "DELETE FROM resource WHERE parent >= ?1 AND parent < ?2", on: connection)
        removeRedundantBinding = Statement(
            """
            DELETE FROM resource WHERE parent = ?1 AND name = ?2
                AND NOT EXISTS (SELECT 1 FROM property WHERE parent = ?1 AND name = ?2)
                AND NOT EXISTS (SELECT 1 FROM lock WHERE parent = ?1 AND name = ?2)
            """, on: connection)
        moveBindingAt = Statement(
            "UPDATE resource SET parent = ?3, name = ?4 WHERE parent = ?1 AND name = ?2", on: connection)
        // `||` converts its operands to text with the same bytes.
        moveBindingsBelow = Statement(
            """
            UPDATE resource SET parent = CAST(?3 || substr(parent, ?4) AS BLOB)
            WHERE parent >= ?1 AND parent < ?2
            """, on: connection)

        anyProperty = Statement(
            "SELECT 1 FROM property WHERE parent = ?1 AND name = ?2 LIMIT 1", on: connection)
        putProperty = Statement(
            """
            INSERT INTO property (parent, name, namespace, local, element) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET element = excluded.element
            """, on: connection)
        removeProperty = Statement(
            "DELETE FROM property WHERE parent = ?1 AND name = ?2 AND namespace = ?3 AND local = ?4",
            on: connection)
        removePropertiesAt = Statement(
            "DELETE FROM property WHERE parent = ?1 AND name = ?2", on: connection)
        removePropertiesBelow = Statement(
            "DELETE FROM property WHERE parent >= ?1 AND parent < ?2", on: connection)
        movePropertiesAt = Statement(
            "UPDATE property SET parent = ?3, name = ?4 WHERE parent = ?1 AND name = ?2", on: connection)
        movePropertiesBelow = Statement(
            """
            UPDATE property SET parent = CAST(?3 || substr(parent, ?4) AS BLOB)
            WHERE parent >= ?1 AND parent < ?2
            """, on: connection)
        // `length` of a BLOB only reads the row's header, not the value.
        propertyBytes = Statement(
            """
            SELECT coalesce(sum(length(CAST(namespace AS BLOB)) + length(CAST(local AS BLOB)) + length(element)), 0)
            FROM property WHERE parent = ?1 AND name = ?2
            """, on: connection)
        copyProperties = Statement(
            """
            INSERT INTO property (parent, name, namespace, local, element)
            SELECT ?3, ?4, namespace, local, element FROM property WHERE parent = ?1 AND name = ?2
            """, on: connection)

        addLock = Statement(
            """
            INSERT INTO lock (parent, name, token, number, is_infinite, is_exclusive, owner, principal,
                timeout_seconds, expiry, root_href, created, network)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT DO NOTHING
            """, on: connection)
        refreshLock = Statement(
            """
            UPDATE lock SET timeout_seconds = ?4, expiry = ?5 WHERE parent = ?1 AND name = ?2 AND token = ?3
            """, on: connection)
        removeLock = Statement(
            "DELETE FROM lock WHERE parent = ?1 AND name = ?2 AND token = ?3", on: connection)
        removeLocksAt = Statement(
            "DELETE FROM lock WHERE parent = ?1 AND name = ?2", on: connection)
        removeLocksBelow = Statement(
            "DELETE FROM lock WHERE parent >= ?1 AND parent < ?2 RETURNING parent, name", on: connection)
        removeExpiredLock = Statement(
            "DELETE FROM lock WHERE parent = ?1 AND name = ?2 AND token = ?3 AND expiry <= ?4",
            on: connection)

        putIntent = Statement(
            """
            INSERT OR REPLACE INTO intent (id, source, destination, moved_inode, moved_birth,
                replaced_inode, replaced_birth, is_copy, origin, origin_inode, origin_birth, executable, modified,
                kept, content_language)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """, on: connection)
        dropIntent = Statement("DELETE FROM intent WHERE id = ?1", on: connection)

        putUpload = Statement(
            """
            INSERT OR REPLACE INTO upload (id, folder, name, staged_name, inode, birth, principal, field_lines,
                options, length, offset, is_unverified, is_complete, expiry, network)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """, on: connection)
        setUploadProgress = Statement(
            """
            UPDATE upload SET length = ?2, offset = ?3, is_unverified = ?4, is_complete = ?5, expiry = ?6
            WHERE id = ?1
            """, on: connection)
        removeUpload = Statement("DELETE FROM upload WHERE id = ?1", on: connection)
        // "Under" means at and below: a collection's `folder` equals the `parent` of its members.
        removeUploadsUnder = Statement(
            "DELETE FROM upload WHERE folder >= ?1 AND folder < ?2", on: connection)
        moveUploadsUnder = Statement(
            """
            UPDATE upload SET folder = CAST(?3 || substr(folder, ?4) AS BLOB)
            WHERE folder >= ?1 AND folder < ?2
            """, on: connection)
        putTrash = Statement(
            """
            INSERT INTO trash (number, id, path, place, inode, birth, deleted, principal, length, is_collection,
                is_overwritten)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT DO NOTHING
            """, on: connection)
        measureTrash = Statement(
            "UPDATE trash SET length = ?2 WHERE number = ?1 AND length IS NULL", on: connection)
        dropTrash = Statement("DELETE FROM trash WHERE number = ?1", on: connection)
    }
}
