internal import CSQLite
package import DavitStore

/// One connection to the database; owns its `sqlite3`. Used by one thread at a time.
@safe package struct Connection: ~Copyable {
    let handle: OpaquePointer

    /// - Parameter busyMilliseconds: how long a call waits for a lock of another process.
    package init(path: String, busyMilliseconds: Int32) throws(StateError) {
        // Its owner hands it from thread to thread under a mutex, so SQLite needs none of its own.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        // Of the one process that has the database, every connection keeps the index of the log in the memory of
        // the process; locks between connections are no calls of the system then, of which each commit made six.
        let code = unsafe sqlite3_open_v2(path, &opened, flags, "unix-excl")
        guard code == SQLITE_OK, let handle = unsafe opened else {
            let error = StateError(sqlite: opened)
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.handle = handle
        unsafe sqlite3_busy_timeout(handle, busyMilliseconds)
    }

    // The connection goes away with its last statement; the last connection writes the WAL back.
    deinit { unsafe sqlite3_close_v2(handle) }

    /// Runs statements without parameters and without rows that matter.
    package borrowing func execute(_ sql: StaticString) throws(StateError) {
        let code = unsafe sqlite3_exec(handle, sql.utf8Start, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe StateError(sqlite: handle) }
    }

    /// The single integer that a query without parameters gives.
    package borrowing func integer(_ sql: StaticString) throws(StateError) -> Int64 {
        var result: Int64 = 0
        try Statement(sql, on: self).forEachRow([]) { row in result = row.integer(0) }
        return result
    }

    /// The first column of each row of a query without parameters.
    package borrowing func texts(_ sql: StaticString) throws(StateError) -> [String] {
        var result: [String] = []
        try Statement(sql, on: self).forEachRow([]) { row in result.append(row.text(0)) }
        return result
    }

    /// Says what its commits, and what it brings back from the log, survive.
    borrowing func promise(_ durability: SQLiteStateStore.Durability) throws(StateError) {
        switch durability {
        case .processDeath: try execute("PRAGMA synchronous = NORMAL")
        // On Apple's systems a sync ends at the memory of the drive unless it is asked to go further.
        case .powerLoss: try execute("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        }
    }

    /// Copies of the write-ahead log what no reader needs any more; waits for the disk and for nobody else.
    borrowing func checkpoint() throws(StateError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw unsafe StateError(sqlite: handle) }
    }

    /// Ends the statement that runs, with an error. From any thread, as long as the connection lives.
    borrowing func interrupt() { unsafe sqlite3_interrupt(handle) }

    /// True between BEGIN and the end of the transaction, however that ends: some errors end it themselves.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }
}
