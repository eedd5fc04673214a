internal import CSQLite
internal import DavitHTTP
package import DavitStore

/// Closes a `sqlite3` handle when it is released.
@safe final class DatabaseHandle {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe sqlite3_close_v2(pointer) }
}

/// A connection to the database. Used by one thread at a time. It is closed when it and its statements have been released; closing
/// the last connection to a database runs a checkpoint.
@safe package struct DatabaseConnection: ~Copyable {
    let owner: DatabaseHandle

    var handle: OpaquePointer { unsafe owner.pointer }

    /// - Parameter busyMilliseconds: how long a call waits for locks of other processes.
    package init(path: String, busyMilliseconds: Int32) throws(StateError) {
        // Connections are passed between threads under a mutex, so SQLite's own mutexes are not needed.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        // A single process uses the database, so with this VFS every connection keeps the WAL index in
        // process memory. Locks between connections then need no system calls; with the default VFS, each
        // commit would make six.
        let code = unsafe sqlite3_open_v2(path, &opened, flags, "unix-excl")
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = StateError(sqlite: opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        owner = unsafe DatabaseHandle(owning: handle)
        unsafe sqlite3_busy_timeout(handle, busyMilliseconds)
    }

    /// Opens an existing database that no other connection uses, for reading.
    /// - Parameter hasLog: whether there is a write-ahead log; without one, SQLite creates no file next to the database.
    init(reading path: String, hasLog: Bool) throws(StateError) {
        // The name of the file is part of a URI.
        var name: [UInt8] = Array("file:".utf8)
        PercentCoding.append(Array(path.utf8), to: &name)
        name += Array(hasLog ? "?mode=ro".utf8 : "?mode=ro&immutable=1".utf8)
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(
            String(decoding: name, as: UTF8.self), &opened, flags, "unix-excl")
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = StateError(sqlite: opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        owner = unsafe DatabaseHandle(owning: handle)
    }

    /// Creates a database in WAL mode, unless there is one.
    ///
    /// The database gets its name when it is complete and on the disk, so that it is never found incomplete.
    /// If it were created under its name, SQLite would wait for the disk six times.
    ///
    /// - Parameter fill: creates the tables.
    /// - Throws: `outOfSpace`, `failed`.
    static func create(
        at path: String, fill: (borrowing DatabaseConnection) throws(StateError) -> Void
    ) throws(StateError) {
        guard unsafe davit_is_missing_or_empty(path) != 0 else { return }
        let new = path + ".new"
        func check(_ error: Int32) throws(StateError) {
            if error == 0 { return }
            if davit_is_out_of_space(error) != 0 { throw .outOfSpace }
            throw .failed(reason: "cannot write \(path) (errno \(error))")
        }
        // Files of an interrupted attempt, and the log of a removed database, which SQLite would replay into this
        // one.
        for file in [new, new + "-wal", new + "-journal", path + "-wal", path + "-journal"] {
            try check(unsafe davit_remove_file(file))
        }
        try check(unsafe davit_make_private_file(new))
        do {
            let connection = try DatabaseConnection(path: new, busyMilliseconds: 0)
            try connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
            try fill(connection)
            try connection.execute("PRAGMA journal_mode = WAL")
        }
        try check(unsafe davit_publish_file(new, path))
    }

    /// Creates the tables of a new database, or migrates those of an older version, in one transaction.
    ///
    /// - Parameters:
    ///   - applicationID: the `application_id` that the first migration sets, which identifies the kind of file.
    ///   - migrations: the statements at index `n` convert version `n` to version `n + 1`.
    ///   - kind: what the file should be, for the error.
    /// - Throws: `failed` if the file is another database, or a newer version of davit wrote it.
    package borrowing func migrate(
        _ migrations: [StaticString], applicationID: Int64, kind: StaticString
    ) throws(StateError) {
        try execute("BEGIN IMMEDIATE")
        do throws(StateError) {
            let version = try integer("PRAGMA user_version")
            let isForeign =
                try version == 0
                ? integer("SELECT count(*) FROM sqlite_schema") > 0
                : integer("PRAGMA application_id") != applicationID
            if isForeign { throw .failed(reason: "it is not a database of \(kind)") }
            guard version <= migrations.count else {
                throw .failed(
                    reason: """
                        it has schema version \(version), but this davit supports at most \(migrations.count): \
                        use a newer davit
                        """)
            }
            for migration in migrations[Int(version)...] { try execute(migration) }
            try execute("COMMIT")
        } catch {
            if isInTransaction { try execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs statements without parameters, ignoring result rows.
    package borrowing func execute(_ sql: StaticString) throws(StateError) {
        let code = unsafe sqlite3_exec(handle, sql.utf8Start, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe StateError(sqlite: handle) }
    }

    /// Returns the single integer result of a query without parameters.
    package borrowing func integer(_ sql: StaticString) throws(StateError) -> Int64 {
        var result: Int64 = 0
        try Statement(sql, on: self).forEachRow([]) { row in result = row.integer(0) }
        return result
    }

    /// Returns the first column of each row of a query without parameters.
    package borrowing func texts(_ sql: StaticString) throws(StateError) -> [String] {
        var result: [String] = []
        try Statement(sql, on: self).forEachRow([]) { row in result.append(row.text(0)) }
        return result
    }

    /// Sets the durability that commits and checkpoints guarantee.
    borrowing func promise(_ durability: SQLiteStateStore.Durability) throws(StateError) {
        switch durability {
        case .processDeath: try execute("PRAGMA synchronous = NORMAL")
        // On Apple systems, a sync without `fullfsync` only reaches the cache of the drive.
        case .powerLoss: try execute("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        }
    }

    /// Runs a passive checkpoint, which copies pages from the log to the database as far as the snapshots of
    /// readers permit. Waits for the disk, but not for other connections.
    borrowing func checkpoint() throws(StateError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw unsafe StateError(sqlite: handle) }
    }

    /// Interrupts the running statement, which fails with an error. May be called from any thread during the
    /// lifetime of the connection.
    borrowing func interrupt() { unsafe sqlite3_interrupt(handle) }

    /// Whether a transaction is open; some errors end it implicitly.
    package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }
}
