internal import DavitStore

/// The tables of the change journal.
///
/// A folder is a collection that has been read, by its path without slashes at the ends. An entry is a member of one: what
/// was seen there last, or (kind 0) that it is gone. Each change of an entry has a number of its own, higher than all before.
enum JournalSchema {
    private static let version: Int64 = 1

    private static let tables: StaticString = """
        CREATE TABLE journal (
            id TEXT NOT NULL,
            -- The highest number given out.
            last INTEGER NOT NULL,
            -- Removals up to this number are forgotten.
            trimmed INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE folder (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            -- Nothing is there any more; its entries are all removed ones.
            is_gone INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX folder_gone ON folder (id) WHERE is_gone = 1;

        CREATE TABLE entry (
            folder INTEGER NOT NULL,
            name BLOB NOT NULL,
            -- 1 content, 2 collection, 3 link to a collection; negative where that is gone; 0 never was one.
            kind INTEGER NOT NULL,
            -- It can change without an event in its folder.
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
        CREATE INDEX entry_volatile ON entry (folder) WHERE is_volatile = 1;

        PRAGMA user_version = 1;
        """

    /// Makes the tables in a new database.
    /// - Parameter id: of the journal, if it is new.
    /// - Throws: `failed` for a database of another version, or of something else.
    static func make(in connection: borrowing Connection, id: () -> String) throws(StateError) {
        let found = try connection.integer("PRAGMA user_version")
        if found == version { return }
        let isEmpty = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
        guard found == 0, isEmpty else {
            throw .failed(reason: "journal.sqlite is of another version")
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
