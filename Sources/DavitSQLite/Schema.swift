package import DavitStore

/// The tables, and the migrations from older versions.
///
/// A path is stored as its parent collection, an absolute path with a trailing slash, and its name; see
/// PathKey.swift. Both are BLOBs, because names need not be UTF-8. Times are nanoseconds since the epoch in
/// UTC.
package enum Schema {
    /// The migration at index `n` converts version `n` to version `n + 1`. Migrations are only appended,
    /// never edited.
    package static let migrations: [StaticString] = [
        """
        CREATE TABLE resource (
            parent BLOB NOT NULL,
            name BLOB NOT NULL,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            pending_inode INTEGER,
            pending_birth INTEGER,
            PRIMARY KEY (parent, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE property (
            parent BLOB NOT NULL,
            name BLOB NOT NULL,
            namespace TEXT NOT NULL,
            local TEXT NOT NULL,
            element BLOB NOT NULL,
            PRIMARY KEY (parent, name, namespace, local)
        ) STRICT, WITHOUT ROWID;

        -- With a rowid: it is the order in which the locks were created.
        CREATE TABLE lock (
            number INTEGER PRIMARY KEY,
            token TEXT NOT NULL UNIQUE,
            parent BLOB NOT NULL,
            name BLOB NOT NULL,
            is_infinite INTEGER NOT NULL,
            is_exclusive INTEGER NOT NULL,
            owner BLOB,
            principal TEXT,
            timeout_seconds INTEGER NOT NULL,
            expiry INTEGER NOT NULL,
            root_href BLOB NOT NULL
        ) STRICT;
        CREATE INDEX lock_by_root ON lock (parent, name);
        CREATE INDEX lock_by_expiry ON lock (expiry);

        CREATE TABLE intent (
            id INTEGER PRIMARY KEY,
            source BLOB NOT NULL,
            destination BLOB NOT NULL,
            moved_inode INTEGER NOT NULL,
            moved_birth INTEGER NOT NULL,
            replaced_inode INTEGER,
            replaced_birth INTEGER,
            is_copy INTEGER NOT NULL,
            origin BLOB,
            origin_inode INTEGER,
            origin_birth INTEGER,
            executable INTEGER
        ) STRICT;

        PRAGMA user_version = 1;
        """,
        // Stores locks in one B-tree instead of four: they are found by their root, and a commit writes only
        // two pages.
        """
        ALTER TABLE lock RENAME TO lock_1;

        CREATE TABLE lock (
            parent BLOB NOT NULL,
            name BLOB NOT NULL,
            token TEXT NOT NULL,
            -- The order in which the locks were created.
            number INTEGER NOT NULL,
            is_infinite INTEGER NOT NULL,
            is_exclusive INTEGER NOT NULL,
            owner BLOB,
            principal TEXT,
            timeout_seconds INTEGER NOT NULL,
            expiry INTEGER NOT NULL,
            root_href BLOB NOT NULL,
            PRIMARY KEY (parent, name, token)
        ) STRICT, WITHOUT ROWID;

        INSERT INTO lock SELECT parent, name, token, number, is_infinite, is_exclusive, owner, principal,
            timeout_seconds, expiry, root_href FROM lock_1;
        DROP TABLE lock_1;

        PRAGMA user_version = 2;
        """,
        // Since this version, PROPPATCH can set modification times. Deletes dead properties that are now
        // live.
        """
        ALTER TABLE intent ADD COLUMN modified INTEGER;

        DELETE FROM property WHERE
            (namespace = 'urn:schemas-microsoft-com:' AND local = 'Win32LastModifiedTime')
            OR (namespace = 'DAV:' AND local IN ('lastmodified', 'supported-report-set', 'current-user-principal',
                'current-user-privilege-set', 'supported-privilege-set', 'principal-collection-set',
                'principal-URL', 'alternate-URI-set', 'group-membership'));
        DELETE FROM resource WHERE
            NOT EXISTS (SELECT * FROM property p WHERE p.parent = resource.parent AND p.name = resource.name)
            AND NOT EXISTS (SELECT * FROM lock l WHERE l.parent = resource.parent AND l.name = resource.name);

        PRAGMA user_version = 3;
        """,
        // `folder` has the same form as the `parent` of the collection's members.
        """
        CREATE TABLE upload (
            id TEXT PRIMARY KEY,
            folder BLOB NOT NULL,
            name BLOB NOT NULL,
            staged_name BLOB NOT NULL,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            principal TEXT,
            field_lines BLOB NOT NULL,
            options INTEGER NOT NULL,
            length INTEGER,
            offset INTEGER NOT NULL,
            is_unverified INTEGER NOT NULL,
            is_complete INTEGER NOT NULL,
            expiry INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX upload_by_folder ON upload (folder);

        PRAGMA user_version = 4;
        """,
        // The creation time of locks, to show clients how long a resource has been locked.
        """
        ALTER TABLE lock ADD COLUMN created INTEGER;

        PRAGMA user_version = 5;
        """,
        // The entries of the trash. Properties of trashed resources are in the other tables, under the path
        // in the trash.
        """
        CREATE TABLE trash (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            path BLOB NOT NULL,
            place BLOB NOT NULL,
            inode INTEGER NOT NULL,
            birth INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            principal TEXT,
            length INTEGER,
            is_collection INTEGER NOT NULL,
            is_overwritten INTEGER NOT NULL
        ) STRICT;

        ALTER TABLE intent ADD COLUMN kept BLOB;

        PRAGMA user_version = 6;
        """,
        // The content language of a pending replacement.
        """
        ALTER TABLE intent ADD COLUMN content_language TEXT;

        PRAGMA user_version = 7;
        """,
        // The network to charge for locks and uploads created without an account.
        """
        ALTER TABLE lock ADD COLUMN network TEXT;
        ALTER TABLE upload ADD COLUMN network TEXT;

        PRAGMA user_version = 8;
        """,
    ]

    /// Migrates the database to the latest version, in one transaction.
    ///
    /// - Throws: `failed`, leaving the database unchanged, if a newer version wrote it or if it is not a
    ///   state database.
    package static func migrate(
        _ connection: borrowing DatabaseConnection, migrations: [StaticString] = migrations
    ) throws(StateError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StateError) {
            let version = try connection.integer("PRAGMA user_version")
            guard version <= migrations.count else {
                throw .failed(
                    reason: """
                        state.sqlite has schema version \(version), but this davit supports at most \
                        \(migrations.count): use a newer davit or another state folder
                        """)
            }
            let isForeign = try connection.integer("SELECT count(*) FROM sqlite_schema") > 0
            guard version > 0 || (version == 0 && !isForeign) else {
                throw .failed(reason: "state.sqlite is not a davit database: use another state folder")
            }
            for migration in migrations[Int(version)...] { try connection.execute(migration) }
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
    }
}
