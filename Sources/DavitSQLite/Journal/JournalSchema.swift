internal import DavitStore

/// The schema of the change journal.
///
/// A folder is a collection, identified by its path without leading or trailing slashes. An entry is a member
/// of a folder in its last observed state; a negative kind means that it was removed. Each change of an entry
/// gets a number higher than all earlier ones.
enum JournalSchema {
    private static let version: Int64 = 2

    private static let tables: StaticString = """
        CREATE TABLE journal (
            id TEXT NOT NULL,
            -- The highest number assigned so far.
            last INTEGER NOT NULL,
            -- Removals up to this number have been discarded.
            trimmed INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE folder (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            -- The folder no longer exists; all its entries are removed ones.
            is_gone INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX folder_gone ON folder (id) WHERE is_gone = 1;

        CREATE TABLE entry (
            folder INTEGER NOT NULL,
            name BLOB NOT NULL,
            -- 1 content, 2 collection, 3 link to a collection; negative if removed; 0 not a member.
            kind INTEGER NOT NULL,
            -- Whether it can change without an event in its folder.
            is_volatile INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            length INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            stamp INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (folder, name)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX entry_number ON entry (number);
        CREATE INDEX entry_member ON entry (folder, number);
        CREATE INDEX entry_removed ON entry (number) WHERE kind < 0;
        CREATE INDEX entry_inode ON entry (inode) WHERE kind = 1;
        CREATE INDEX entry_volatile ON entry (folder) WHERE is_volatile = 1;

        PRAGMA user_version = 2;
        """

    /// Creates the tables in a new database.
    /// - Parameter id: returns the id of a new journal.
    /// - Throws: `failed` if the database has another version or schema.
    static func make(in connection: borrowing DatabaseConnection, id: () -> String) throws(StateError) {
        let found = try connection.integer("PRAGMA user_version")
        if found == version { return }
        let isEmpty = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
        guard found == 0, isEmpty else {
            throw .failed(reason: "journal.sqlite has an unsupported version")
        }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StateError) {
            try connection.execute(tables)
            try Statement("INSERT INTO journal VALUES (?1, 0, 0)", on: connection).run([.text(id())])
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }
}
