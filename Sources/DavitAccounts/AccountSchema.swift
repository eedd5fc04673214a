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
        """,
        """
        CREATE TABLE app_password (
            id TEXT PRIMARY KEY,
            account TEXT NOT NULL,
            -- The name of the device or program.
            label TEXT NOT NULL,
            -- What verifies the password with Basic and Digest.
            secret TEXT NOT NULL,
            -- The folder that the password is limited to, as in `rule`, and the rights in it; both or none are NULL.
            path BLOB,
            rights TEXT,
            -- In seconds since 1970, as the times below.
            created INTEGER NOT NULL,
            -- NULL if the password does not expire.
            expiry INTEGER,
            -- NULL if the password was not used.
            used INTEGER,
            used_from TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX app_password_account ON app_password (account);

        PRAGMA user_version = 2;
        """,
        """
        CREATE TABLE session (
            id INTEGER PRIMARY KEY,
            -- The hash of the token.
            token_hash BLOB NOT NULL,
            account TEXT NOT NULL,
            -- In seconds since 1970, as below.
            created INTEGER NOT NULL,
            used INTEGER NOT NULL,
            -- The address of the last use.
            address TEXT NOT NULL,
            -- What the browser reported about itself.
            agent TEXT NOT NULL
        ) STRICT;
        CREATE INDEX session_account ON session (account);

        CREATE TABLE second_factor (
            account TEXT PRIMARY KEY,
            -- The key of the codes.
            secret BLOB NOT NULL,
            created INTEGER NOT NULL,
            -- The time step of the last accepted code; no code of this step or an earlier one is accepted.
            used_step INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE recovery_code (
            account TEXT NOT NULL,
            code_hash BLOB NOT NULL,
            PRIMARY KEY (account, code_hash)
        ) STRICT, WITHOUT ROWID;

        -- Triggers, so that no way to change an account leaves its sessions behind.
        CREATE TRIGGER account_removed AFTER DELETE ON account BEGIN
            DELETE FROM session WHERE account = OLD.name;
            DELETE FROM second_factor WHERE account = OLD.name;
        END;
        CREATE TRIGGER account_changed AFTER UPDATE OF secret, is_enabled ON account
        WHEN OLD.secret <> NEW.secret OR NEW.is_enabled = 0 BEGIN
            DELETE FROM session WHERE account = OLD.name;
        END;
        CREATE TRIGGER second_factor_removed AFTER DELETE ON second_factor BEGIN
            DELETE FROM recovery_code WHERE account = OLD.account;
        END;

        PRAGMA user_version = 3;
        """,
        """
        -- The rules of folders in the trash.
        CREATE TABLE trashed_rule (
            -- The id of the entry in the trash.
            entry TEXT NOT NULL,
            -- The original path of the folder, as in `rule`.
            folder BLOB NOT NULL,
            -- Relative to the folder; the other columns are those of `rule`.
            path BLOB NOT NULL,
            subject TEXT NOT NULL,
            name TEXT NOT NULL,
            rights TEXT NOT NULL,
            PRIMARY KEY (entry, subject, name, path)
        ) STRICT, WITHOUT ROWID;

        -- Moves of rules that have begun and not ended: a path as in `rule`, or the id of an entry in the trash.
        CREATE TABLE rule_move (
            id INTEGER PRIMARY KEY,
            source_path BLOB,
            source_entry TEXT,
            -- Both are NULL if the folder is removed permanently.
            destination_path BLOB,
            destination_entry TEXT,
            -- The entry under which the rules remain in the trash; NULL if they do not.
            retained_entry TEXT
        ) STRICT;

        PRAGMA user_version = 4;
        """,
    ]

    /// Creates or migrates the tables.
    /// - Throws: `failed` if the file is another database, or a newer version of davit wrote it.
    static func prepare(_ connection: borrowing DatabaseConnection) throws(StateError) {
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try connection.migrate(migrations, applicationID: 0x6441_6363, kind: "accounts")
    }
}
