internal import CSQLite
package import DavitStore

/// The writing connection, which commits concurrent transactions together.
///
/// Used only by the thread that holds the mutex of ``SQLiteStateStore``.
package final class GroupWriter {
    private let connection: DatabaseConnection
    private let rows: RowWriter
    private let begin: Statement
    private let end: Statement
    private let logPages: LogPages
    private let checkpoints: Checkpoints
    private let onCommit: (@Sendable () -> Void)?
    /// What commits survive from the second one on; nil once it has been set.
    private var laterDurability: SQLiteStateStore.Durability?

    /// - Parameters:
    ///   - background: runs checkpoints.
    ///   - onCommit: see ``SQLiteStateStore``.
    package init(
        path: String, durability: SQLiteStateStore.Durability, busyMilliseconds: Int32,
        background: BackgroundWork = .immediate, onCommit: (@Sendable () -> Void)?
    ) throws(StateError) {
        let isLogNew = unsafe davit_is_missing_or_empty(path + "-wal") != 0
        let connection = try DatabaseConnection(path: path, busyMilliseconds: busyMilliseconds)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw .failed(
                reason: "state.sqlite: this file system does not support WAL; use a local disk")
        }
        try connection.promise(durability)
        // Limits the disk space that the log keeps after a large transaction to 16 MiB.
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try Schema.migrate(connection)
        if isLogNew, durability == .processDeath {
            // With NORMAL, the first commit would wait twice for the disk, for the header and the name of the log. That
            // protects from older content of the log, and a new one has none.
            try connection.execute("PRAGMA synchronous = OFF")
            laterDurability = durability
        }
        rows = RowWriter(
            WriteStatements(on: connection),
            lastLockNumber: try connection.integer("SELECT coalesce(max(number), 0) FROM lock"))
        begin = Statement("BEGIN IMMEDIATE", on: connection)
        end = Statement("COMMIT", on: connection)
        logPages = LogPages(of: connection)
        checkpoints = Checkpoints(
            path: path, durability: durability, busyMilliseconds: busyMilliseconds, background: background)
        self.connection = connection
        self.onCommit = onCommit
    }

    /// Commits each request, or fails it independently of the others; publishes in order.
    /// - Returns: the error of each request, or nil for success.
    package func commit(_ requests: [Transaction]) -> [StateError?] {
        do throws(StateError) {
            try commitTogether(requests)
            return Array(repeating: nil, count: requests.count)
        } catch {
            if requests.count <= 1 { return [error] }
            // The shared transaction was rolled back, usually because of one request. Retry each request
            // separately; this is too rare to optimize.
            return requests.flatMap { commit([$0]) }
        }
    }

    /// - Throws: the error of a request or of the commit; in either case nothing was committed.
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
        if let durability = laterDurability, (try? connection.promise(durability)) != nil {
            laterDurability = nil
        }
        for (request, emptying) in zip(requests, emptying) { request.publish(emptying) }
        checkpoints.record(logPages: logPages.count)
    }

    // MARK: Maintenance

    /// See ``Statement/scanSteps``.
    var scanSteps: Int { rows.scanSteps }

    /// See ``RowWriter/invalidStatementCount``.
    var invalidStatementCount: Int { rows.invalidStatementCount }

    /// See ``Statement/steps``.
    var steps: Int { rows.steps }

    /// Runs a checkpoint and truncates the log, as far as readers permit.
    func checkpoint() throws(StateError) { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    package func execute(_ sql: StaticString) throws(StateError) { try connection.execute(sql) }
}

/// The length of a connection's write-ahead log, in pages.
@safe private final class LogPages {
    private let pages: UnsafeMutablePointer<Int32>

    init(of connection: borrowing DatabaseConnection) {
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe davit_watch_log(connection.handle, pages)
    }

    deinit { unsafe pages.deallocate() }

    var count: Int32 { unsafe pages.pointee }
}
