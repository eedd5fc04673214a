internal import DavitAccess
internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Accounts, groups and rules in an SQLite database. One object uses it at a time: its owner holds the lock of the
/// state folder.
public final class SQLiteAccountStore: AccountStore {
    /// The name of the database in the state folder.
    package static let fileName = "accounts.sqlite"

    private let connection: Mutex<DatabaseConnection>
    /// Loaded when needed. Taken during a commit, and put back if it succeeds.
    private let names = Mutex<StoredNames?>(nil)
    private let name: String
    private let ruleLimit: Int
    private let onCommit: @Sendable () -> Void

    /// Opens the database in a folder, or creates it so that only the owner can read it.
    /// - Parameters:
    ///   - ruleLimit: see ``AccountContents/ruleLimit``.
    ///   - onCommit: called before each commit.
    /// - Throws: `failed` if another process uses the database, if it cannot be read, or if a newer version of
    ///   davit wrote it.
    public init(
        folder: String, ruleLimit: Int = AccountContents.ruleLimit,
        onCommit: @escaping @Sendable () -> Void = {}
    ) throws(AccountError) {
        self.ruleLimit = ruleLimit
        self.onCommit = onCommit
        name = folder + "/" + Self.fileName
        do throws(SystemError) { try SmallFile.createPrivate(at: name) } catch {
            throw .failed(reason: "\(name): \(error.description)")
        }
        do throws(StateError) {
            let connection = try DatabaseConnection(path: name, busyMilliseconds: 0)
            try AccountSchema.prepare(connection)
            self.connection = Mutex(connection)
        } catch {
            throw .failed(reason: "\(name): \(error.text)")
        }
    }

    /// Whether a folder has a database of accounts, even if it cannot be used.
    /// - Throws: `failed` if this cannot be determined.
    package static func exists(in folder: String) throws(AccountError) -> Bool {
        let path = folder + "/" + fileName
        do throws(SystemError) { return try ExclusiveFolder.hasEntry(at: path) } catch {
            throw .failed(reason: "\(path): \(error.description)")
        }
    }

    // MARK: Reading

    public func contents() throws(AccountError) -> AccountContents {
        try transaction(isWriting: false) { connection throws(AccountError) in
            try AccountContents(reading: connection)
        }
    }

    // MARK: Changes

    public func commit(
        _ changes: [AccountChange], check: () throws(AccountError) -> Void
    ) throws(AccountError) {
        let taken = names.withLock { $0.take() }
        let kept = try transaction { connection throws(AccountError) in
            var names = taken
            for change in changes { try AccountChanges.apply(change, on: connection, &names, ruleLimit) }
            try check()
            return names
        }
        names.withLock { $0 = kept }
    }

    public func sessions() throws(AccountError) -> [StoredSession] {
        try transaction { connection throws(AccountError) in try SessionStatements.all(on: connection) }
    }

    public func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
        try transaction { connection throws(AccountError) in
            for change in changes { try SessionStatements.apply(change, on: connection) }
        }
    }

    private func transaction<R: Sendable>(
        isWriting: Bool = true, _ body: (borrowing DatabaseConnection) throws(AccountError) -> R
    ) throws(AccountError) -> R {
        try connection.withLock { connection throws(AccountError) in
            do throws(AccountError) {
                try connection.run("BEGIN IMMEDIATE", [])
                let result = try body(connection)
                if isWriting { onCommit() }
                try connection.run("COMMIT", [])
                return result
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                guard case .failed(let reason) = error, !reason.hasPrefix(name) else { throw error }
                throw .failed(reason: "\(name): \(reason)")
            }
        }
    }
}
