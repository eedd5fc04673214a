#if Postgres
internal import DavitAccess
package import DavitPostgres
internal import DavitSQLite
internal import Synchronization

/// Accounts, groups and the rules of a share in a PostgreSQL database, which several servers can change.
///
/// Each change except uses of credentials raises a generation: those of rules that of their share, and others those of all shares.
/// A change is made only if this object has read the generation before it, so that it is checked against what it changes.
package final class PostgresAccountStore: AccountStore {
    private let pool: PostgresPool
    private let share: Int64
    private let node: Int64
    private let ruleLimit: Int
    private let timeLimit: Duration
    /// The generation of the contents that were read last, with the changes of this object since then.
    private let generation = Mutex<Int64>(0)
    private let applied = Atomic<Int64>(0)

    /// - Parameters:
    ///   - pool: connections to a database with current tables.
    ///   - share: the id of the share to which the rules apply.
    ///   - node: the id of this process in the database.
    ///   - ruleLimit: see ``AccountContents/ruleLimit``.
    ///   - timeLimit: for each call.
    package init(
        _ pool: PostgresPool, share: Int64, node: Int64, ruleLimit: Int = AccountContents.ruleLimit,
        timeLimit: Duration = .seconds(10)
    ) {
        self.pool = pool
        self.share = share
        self.node = node
        self.ruleLimit = ruleLimit
        self.timeLimit = timeLimit
    }

    package var isShared: Bool { true }

    /// Whether the database has had accounts or groups, or rules of this share.
    package func isInUse() throws(AccountError) -> Bool {
        try storedGeneration() > 0
    }

    package func isCurrent() throws(AccountError) -> Bool {
        let known = generation.withLock { $0 }
        return try storedGeneration() == known
    }

    private func storedGeneration() throws(AccountError) -> Int64 {
        let deadline = ContinuousClock.now + timeLimit
        do throws(PostgresError) {
            return try pool.read(until: deadline) { connection throws(PostgresError) in
                try connection.run(
                    "SELECT generation FROM access_generation WHERE share = $1", .integer(share),
                    until: deadline
                ).integer(0, 0)
            }
        } catch {
            throw .failed(reason: error.message)
        }
    }

    package func didApply() {
        let known = generation.withLock { $0 }
        applied.store(known, ordering: .releasing)
    }

    /// The generation of the accounts and rules that are in effect on this server.
    package var appliedGeneration: Int64 { applied.load(ordering: .acquiring) }

    package func contents() throws(AccountError) -> AccountContents {
        try transaction(isWriting: false) { (tables) throws(AccountError) in
            // A change in the meantime waits.
            let generation = try tables.lockGeneration(of: share)
            let contents = try AccountContents(reading: tables)
            self.generation.withLock { $0 = generation }
            return contents
        }
    }

    package func commit(
        _ changes: [AccountChange], check: () throws(AccountError) -> Void
    ) throws(AccountError) {
        let raises = changes.contains { !$0.isUse }
        let isOfRules = changes.allSatisfy { $0.isOfRules || $0.isUse }
        let known = generation.withLock { $0 }
        try transaction { (tables) throws(AccountError) in
            if raises {
                let raised =
                    isOfRules
                    ? try tables.raiseGeneration(of: share) : try tables.raiseGenerations(with: share)
                if raised != known + 1 { throw .outdated }
            }
            var names: StoredNames?
            for change in changes { try AccountChanges.apply(change, on: tables, &names, ruleLimit) }
            try check()
        }
        if raises { generation.withLock { $0 = known + 1 } }
    }

    package func sessions() throws(AccountError) -> [StoredSession] {
        try transaction(isWriting: false) { (tables) throws(AccountError) in
            try SessionStatements.all(on: tables)
        }
    }

    package func session(withHash hash: [UInt8]) throws(AccountError) -> StoredSession? {
        try transaction(isWriting: false) { (tables) throws(AccountError) in
            try SessionStatements.session(withHash: hash, on: tables)
        }
    }

    package func uses(ofSessions ids: [Int64]) throws(AccountError) -> [Int64: Int64] {
        let deadline = ContinuousClock.now + timeLimit
        do throws(PostgresError) {
            return try pool.read(until: deadline) { connection throws(PostgresError) in
                let result = try connection.run(
                    "SELECT id, used FROM session WHERE id = ANY ($1)", .integers(ids), until: deadline)
                var uses: [Int64: Int64] = [:]
                for row in 0..<result.count { uses[try result.integer(row, 0)] = try result.integer(row, 1) }
                return uses
            }
        } catch {
            throw .failed(reason: error.message)
        }
    }

    package func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
        try transaction { (tables) throws(AccountError) in
            for change in changes { try SessionStatements.apply(change, on: tables) }
        }
    }

    /// Returns the ids of the moves of rules that were begun by processes that are gone.
    /// - Parameter seconds: after which a process that was not seen is gone.
    package func orphanedMoves(after seconds: Int64) throws(AccountError) -> Set<Int64> {
        try transaction(isWriting: false) { (tables) throws(AccountError) in
            var ids: Set<Int64> = []
            try tables.read(
                """
                SELECT m.id FROM share_rule_move m LEFT JOIN node n ON n.id = m.node
                WHERE m.share = ?1
                    AND coalesce(n.seen + ?2 * interval '1 second', '-infinity') < clock_timestamp()
                """, [.integer(share), .integer(seconds)]
            ) { row in ids.insert(row.integer(0)) }
            return ids
        }
    }

    /// Runs a transaction, which other ones can make run again.
    private func transaction<R>(
        isWriting: Bool = true, _ body: (PostgresAccountTables) throws(AccountError) -> R
    ) throws(AccountError) -> R {
        let result: Result<R, AccountError>
        do throws(PostgresError) {
            result = try pool.transaction(until: .now + timeLimit) { transaction throws(PostgresError) in
                let tables = PostgresAccountTables(transaction)
                let result: Result<R, AccountError>
                do throws(AccountError) {
                    try tables.begin(share: share, node: node)
                    result = .success(try body(tables))
                } catch {
                    result = .failure(error)
                }
                if let failure = tables.failure { throw failure }
                if isWriting, case .success = result { return .commit(result) }
                return .rollback(result)
            }
        } catch {
            throw .failed(reason: error.message)
        }
        return try result.get()
    }
}

/// The tables in a transaction.
private final class PostgresAccountTables: AccountTables {
    private let transaction: PostgresTransaction
    /// Why a statement failed; the transaction cannot be committed then.
    private(set) var failure: PostgresError?

    init(_ transaction: PostgresTransaction) { self.transaction = transaction }

    /// Chooses the rules of a share.
    func begin(share: Int64, node: Int64) throws(AccountError) {
        try read(
            "SELECT set_config('davit.share', ?1, true), set_config('davit.node', ?2, true)",
            [.text(String(share)), .text(String(node))]
        ) { _ in }
    }

    func lockGeneration(of share: Int64) throws(AccountError) -> Int64 {
        try integer("SELECT generation FROM access_generation WHERE share = ?1 FOR SHARE", [.integer(share)])
    }

    /// Raises the generation of a share, and returns it.
    func raiseGeneration(of share: Int64) throws(AccountError) -> Int64 {
        try integer(
            "UPDATE access_generation SET generation = generation + 1 WHERE share = ?1 RETURNING generation",
            [.integer(share)])
    }

    /// Raises the generations of all shares, and returns that of one.
    func raiseGenerations(with share: Int64) throws(AccountError) -> Int64 {
        // So that two such changes do not wait for each other: the rows come in any order.
        try run("UPDATE account_generation SET generation = generation + 1", [])
        try run("UPDATE access_generation SET generation = generation + 1", [])
        return try integer("SELECT generation FROM access_generation WHERE share = ?1", [.integer(share)])
    }

    private func integer(_ sql: StaticString, _ values: [SQLValue]) throws(AccountError) -> Int64 {
        var value: Int64 = 0
        try read(sql, values) { row in value = row.integer(0) }
        return value
    }

    @discardableResult
    func run(_ sql: StaticString, _ values: [SQLValue]) throws(AccountError) -> Int {
        try result(sql, values).affectedRows
    }

    func read(
        _ sql: StaticString, _ values: [SQLValue], _ body: (AccountRow) -> Void
    ) throws(AccountError) {
        let result = try result(sql, values)
        for row in 0..<result.count {
            do throws(PostgresError) { body(AccountRow(values: try result.values(row))) } catch {
                throw .failed(reason: error.message)
            }
        }
    }

    private func result(_ sql: StaticString, _ values: [SQLValue]) throws(AccountError) -> PostgresResult {
        var batch = PostgresBatch()
        batch.add(PostgresStatement(questionMarks: sql), values.map { PostgresValue($0) })
        do throws(PostgresError) { return try transaction.run(batch)[0] } catch {
            failure = error
            throw .failed(reason: error.message)
        }
    }
}

extension PostgresValue {
    fileprivate init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .text(let value): self = .text(value)
        case .blob(let value): self = .bytes(value)
        }
    }
}

extension PostgresResult {
    /// Returns the values of a row whose columns are integers, texts and bytes.
    fileprivate func values(_ row: Int) throws(PostgresError) -> [SQLValue] {
        var values: [SQLValue] = []
        for column in 0..<columnCount {
            if isNull(row, column) {
                values.append(.null)
                continue
            }
            // The numbers of built-in types never change.
            switch type(ofColumn: column) {
            case 20, 21, 23: values.append(.integer(try integer(row, column)))
            case 17: values.append(.blob(try bytes(row, column)))
            default: values.append(.text(try text(row, column)))
            }
        }
        return values
    }
}
#endif
