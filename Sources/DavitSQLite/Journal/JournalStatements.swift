internal import DavitStore

/// The prepared statements of ``JournalDatabase``.
final class JournalStatements {
    let begin: Statement
    let commit: Statement
    let setNumbers: Statement

    let folderAt: Statement
    let folderOf: Statement
    let foldersUnder: Statement
    let addFolder: Statement
    let setFolder: Statement

    let entry: Statement
    let entries: Statement
    let putEntry: Statement
    let setVolatile: Statement
    let removeEntry: Statement
    let steadyNames: Statement
    let removeEntries: Statement
    let volatileUnder: Statement

    let members: Statement
    let below: Statement
    let oldestKept: Statement
    let hide: Statement
    let forget: Statement
    let forgetFolders: Statement

    init(on connection: borrowing DatabaseConnection) {
        begin = Statement("BEGIN IMMEDIATE", on: connection)
        commit = Statement("COMMIT", on: connection)
        setNumbers = Statement("UPDATE journal SET last = ?1, trimmed = ?2", on: connection)

        folderAt = Statement("SELECT id, path, inode, birth FROM folder WHERE path = ?1", on: connection)
        folderOf = Statement("SELECT id, path, inode, birth FROM folder WHERE id = ?1", on: connection)
        foldersUnder = Statement(
            """
            SELECT id, path, inode, birth FROM folder
            WHERE is_gone = 0 AND (path = ?1 OR (path >= ?2 AND path < ?3))
            """, on: connection)
        addFolder = Statement(
            "INSERT INTO folder (path, inode, birth, is_gone) VALUES (?1, 0, 0, 0) RETURNING id",
            on: connection)
        setFolder = Statement(
            "UPDATE folder SET inode = ?2, birth = ?3, is_gone = ?4 WHERE id = ?1", on: connection)

        entry = Statement(
            """
            SELECT kind, is_volatile, inode, birth, length, modified, stamp FROM entry
            WHERE folder = ?1 AND name = ?2
            """, on: connection)
        entries = Statement(
            """
            SELECT kind, is_volatile, inode, birth, length, modified, stamp, name FROM entry
            WHERE folder = ?1 AND kind > 0
            """, on: connection)
        putEntry = Statement(
            """
            INSERT INTO entry
                (folder, name, number, kind, is_volatile, inode, birth, length, modified, stamp)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT DO UPDATE SET number = excluded.number, kind = excluded.kind,
                is_volatile = excluded.is_volatile, inode = excluded.inode, birth = excluded.birth,
                length = excluded.length, modified = excluded.modified, stamp = excluded.stamp
            """, on: connection)
        setVolatile = Statement(
            "UPDATE entry SET is_volatile = ?3 WHERE folder = ?1 AND name = ?2", on: connection)
        removeEntry = Statement("DELETE FROM entry WHERE folder = ?1 AND name = ?2", on: connection)
        steadyNames = Statement(
            """
            SELECT folder, name FROM entry INDEXED BY entry_inode
            WHERE inode = ?1 AND birth = ?2 AND kind = 1 AND is_volatile = 0
            """, on: connection)
        removeEntries = Statement(
            """
            UPDATE entry SET kind = -kind, is_volatile = 0, number = ?2 + position
            FROM (SELECT name AS other, row_number() OVER (ORDER BY name) AS position FROM entry
                WHERE folder = ?1 AND kind > 0)
            WHERE folder = ?1 AND name = other
            """, on: connection)
        volatileUnder = Statement(
            """
            SELECT f.id, f.path, f.inode, f.birth, e.name
            FROM entry e INDEXED BY entry_volatile CROSS JOIN folder f ON f.id = e.folder
            WHERE e.is_volatile = 1 AND (f.path = ?1 OR (f.path >= ?2 AND f.path < ?3))
            """, on: connection)

        members = Statement(
            """
            SELECT number, kind, '', name, 0 FROM entry INDEXED BY entry_member
            WHERE folder = (SELECT id FROM folder WHERE path = ?1) AND number > ?2 AND number <= ?3
                AND kind != 0
            ORDER BY number LIMIT ?4
            """, on: connection)
        // Removed members of a collection that no longer exists are omitted, because the removal of the
        // collection is reported instead.
        below = Statement(
            """
            SELECT e.number, e.kind, f.path, e.name, f.is_gone
            FROM entry e INDEXED BY entry_number CROSS JOIN folder f ON f.id = e.folder
            WHERE e.number > ?4 AND e.number <= ?5 AND e.kind != 0 AND f.is_gone = 0
                AND (f.path = ?1 OR (f.path >= ?2 AND f.path < ?3))
            ORDER BY e.number LIMIT ?6
            """, on: connection)
        oldestKept = Statement(
            "SELECT number FROM entry WHERE kind < 0 ORDER BY number DESC LIMIT 1 OFFSET ?1", on: connection)
        hide = Statement(
            "UPDATE entry SET kind = 0 WHERE kind < 0 AND number <= ?1 AND is_volatile = 1", on: connection)
        forget = Statement("DELETE FROM entry WHERE kind < 0 AND number <= ?1", on: connection)
        forgetFolders = Statement(
            """
            DELETE FROM folder WHERE is_gone = 1 AND NOT EXISTS (SELECT 1 FROM entry WHERE folder = folder.id)
            """, on: connection)
    }
}
