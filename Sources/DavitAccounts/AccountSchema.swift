internal import DavitSQLite
internal import DavitStore

/// The tables of the account database, and the migrations from older versions.
enum AccountSchema {
    /// The migration at index `n` converts version `n` to version `n + 1`. Migrations are only appended, never
    /// edited.
    private static let migrations: [StaticString] = [
        """
        PRAGMA application_id = 0x64416363;

        CREATE TABLE account (
            name TEXT PRIMARY KEY,
            secret TEXT NOT NULL,
            is_enabled INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE user_group (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

        CREATE TABLE member (
            user_group TEXT NOT NULL,
            account TEXT NOT NULL,
            PRIMARY KEY (user_group, account)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX member_account ON member (account);

        CREATE TABLE rule (
            -- The segments, separated by slashes. A BLOB, because names need not be UTF-8.
            path BLOB NOT NULL,
            -- `user`, `group`, `everyone` or `anonymous`.
            subject TEXT NOT NULL,
            -- The name of the user or group; empty for the others.
            name TEXT NOT NULL,
            -- The names of the rights, or of a preset.
            rights TEXT NOT NULL,
            PRIMARY KEY (subject, name, path)
        ) STRICT, WITHOUT ROWID;

        PRAGMA user_version = 1;
        """
    ]

    /// Creates or migrates the tables.
    /// - Throws: `failed` if the file is another database, or a newer version of davit wrote it.
    static func prepare(_ connection: borrowing DatabaseConnection) throws(StateError) {
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try connection.migrate(migrations, applicationID: 0x6441_6363, kind: "accounts")
    }
}
