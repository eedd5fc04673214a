internal import CSQLite
package import DavitStore

/// The writing connection: commits transactions that wait together as one.
///
/// Used by one thread at a time, the one that holds the mutex of ``SQLiteStateStore``.
package final class GroupWriter {
    private let connection: Connection
    private let rows: RowWriter
    private let begin: Statement
    private let end: Statement
    private let logPages: LogPages
    private let checkpoints: Checkpoints
    private let onCommit: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - background: where the log is copied back into the database.
    ///   - onCommit: see ``SQLiteStateStore``.
    package init(
        path: String, durability: SQLiteStateStore.Durability, busyMilliseconds: Int32,
        background: BackgroundWork = .immediate, onCommit: (@Sendable () -> Void)?
    ) throws(StateError) {
        let connection = try Connection(path: path, busyMilliseconds: busyMilliseconds)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw .failed(reason: "state.sqlite: no WAL in this folder; use a state folder on a local disk")
        }
        try connection.promise(durability)
        // What one large transaction leaves behind does not stay on the disk: 16 MiB.
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try Schema.migrate(connection)
        rows = RowWriter(
            try WriteStatements(on: connection),
            lastLockNumber: try connection.integer("SELECT coalesce(max(number), 0) FROM lock"))
        begin = try Statement("BEGIN IMMEDIATE", on: connection)
        end = try Statement("COMMIT", on: connection)
        logPages = LogPages(of: connection)
        checkpoints = Checkpoints(
            path: path, durability: durability, busyMilliseconds: busyMilliseconds, background: background)
        self.connection = connection
        self.onCommit = onCommit
    }

    /// Commits every request or fails it, each on its own; publishes in order.
    /// - Returns: for each request why it failed, or nil.
    package func commit(_ requests: [Transaction]) -> [StateError?] {
        do throws(StateError) {
            try commitTogether(requests)
            return Array(repeating: nil, count: requests.count)
        } catch {
            if requests.count <= 1 { return [error] }
            // One of them has undone them all. That is so rare that the others need no way around it.
            return requests.flatMap { commit([$0]) }
        }
    }

    /// - Throws: if nothing was committed.
    private func commitTogether(_ requests: [Transaction]) throws(StateError) {
        var emptying: [Set<Int>] = []
        try begin.run([])
        do throws(StateError) {
            for request in requests { emptying.append(try rows.apply(request.changes)) }
            onCommit?()
            try end.run([])
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
        onCommit?()
        for (request, emptying) in zip(requests, emptying) { request.publish(emptying) }
        checkpoints.note(logPages: logPages.count)
    }

    // MARK: Care

    /// See ``Statement/scanSteps``.
    var scanSteps: Int { rows.scanSteps }

    /// See ``Statement/steps``.
    var steps: Int { rows.steps }

    /// Writes the WAL back into the database and empties it, as far as readers let it.
    func checkpoint() throws(StateError) { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    package func execute(_ sql: StaticString) throws(StateError) { try connection.execute(sql) }
}

/// How long the write-ahead log of a connection is, in pages.
@safe private final class LogPages {
    private let pages: UnsafeMutablePointer<Int32>

    init(of connection: borrowing Connection) {
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe davit_watch_log(connection.handle, pages)
    }

    deinit { unsafe pages.deallocate() }

    var count: Int32 { unsafe pages.pointee }
}
