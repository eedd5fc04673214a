package import DavitStore

/// The writing connection: commits transactions that wait together as one.
///
/// Used by one thread at a time, the one that holds the mutex of ``SQLiteStateStore``.
package final class GroupWriter {
    package struct Request: Sendable {
        package let changes: [StateChange]
        let publish: @Sendable (_ emptying: Set<Int>) -> Void

        package init(
            changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
        ) {
            self.changes = changes
            self.publish = publish
        }
    }

    private let connection: Connection
    private let rows: RowWriter
    private let onCommit: (@Sendable () -> Void)?

    package init(
        path: String, durability: SQLiteStateStore.Durability, busyMilliseconds: Int32,
        onCommit: (@Sendable () -> Void)?
    ) throws(StateError) {
        let connection = try Connection(path: path, busyMilliseconds: busyMilliseconds)
        try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw .failed(reason: "state.sqlite: no WAL in this folder; use a state folder on a local disk")
        }
        switch durability {
        case .processDeath: try connection.execute("PRAGMA synchronous = NORMAL")
        case .powerLoss: try connection.execute("PRAGMA synchronous = FULL")
        }
        // What one large transaction leaves behind does not stay on the disk: 16 MiB.
        try connection.execute("PRAGMA journal_size_limit = 16777216")
        try Schema.migrate(connection)
        rows = RowWriter(try WriteStatements(on: connection))
        self.connection = connection
        self.onCommit = onCommit
    }

    /// Commits every request or fails it, each on its own; publishes in order.
    /// - Returns: for each request why it failed, or nil.
    package func commit(_ requests: [Request]) -> [StateError?] {
        do throws(StateError) {
            return try commitTogether(requests)
        } catch {
            if requests.count <= 1 { return [error] }
            // What ended the common transaction says nothing about a single request.
            return requests.flatMap { commit([$0]) }
        }
    }

    /// - Throws: if nothing was committed.
    private func commitTogether(_ requests: [Request]) throws(StateError) -> [StateError?] {
        let outcomes: [Result<Set<Int>, StateError>]
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StateError) {
            // A request that is alone needs no savepoint: its failure is that of the transaction.
            outcomes =
                requests.count == 1
                ? [.success(try rows.apply(requests[0].changes))]
                : try requests.map { (request) throws(StateError) in try applySeparately(request) }
            onCommit?()
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try connection.execute("ROLLBACK") }
            throw error
        }
        onCommit?()
        return zip(requests, outcomes).map { request, outcome in
            switch outcome {
            case .success(let emptying):
                request.publish(emptying)
                return nil
            case .failure(let error):
                return error
            }
        }
    }

    /// Applies a request so that its failure undoes nothing but itself.
    /// - Throws: if the whole transaction is lost, as a full disk can do.
    private func applySeparately(_ request: Request) throws(StateError) -> Result<Set<Int>, StateError> {
        try connection.execute("SAVEPOINT request")
        let outcome: Result<Set<Int>, StateError>
        do throws(StateError) {
            outcome = .success(try rows.apply(request.changes))
        } catch {
            guard connection.isInTransaction else { throw error }
            try connection.execute("ROLLBACK TO request")
            outcome = .failure(error)
        }
        try connection.execute("RELEASE request")
        return outcome
    }

    // MARK: Care

    /// See ``Statement/scanSteps``.
    var scanSteps: Int { rows.scanSteps }

    /// Writes the WAL back into the database and empties it, as far as readers let it.
    func checkpoint() throws(StateError) { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    package func execute(_ sql: StaticString) throws(StateError) { try connection.execute(sql) }
}
