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
            var contents = AccountContents()
            try connection.read("SELECT name, secret, is_enabled FROM account ORDER BY name") { row in
                contents.accounts.append(
                    StoredAccount(name: row.text(0), secret: row.text(1), isEnabled: row.flag(2)))
            }
            try connection.read("SELECT name FROM user_group") { row in contents.groups[row.text(0)] = [] }
            try connection.read("SELECT user_group, account FROM member") { row in
                contents.groups[row.text(0), default: []].insert(row.text(1))
            }
            var isDamaged = false
            try connection.read("SELECT subject, name, path, rights FROM rule ORDER BY path, subject, name") {
                row in
                if let rule = AccessRule(row) { contents.rules.append(rule) } else { isDamaged = true }
            }
            // Without one rule, a client could have more rights.
            if isDamaged { throw .failed(reason: "\(self.name): a rule cannot be read") }
            try connection.read(
                """
                SELECT id, account, label, secret, path, rights, created, expiry, used, used_from
                FROM app_password ORDER BY account, id
                """
            ) { row in
                guard let password = StoredAppPassword(row) else {
                    isDamaged = true
                    return
                }
                contents.appPasswords[password.account, default: []].append(password)
            }
            // Without its limit, an app password could have more rights.
            if isDamaged { throw .failed(reason: "\(self.name): an app password cannot be read") }
            contents.trashedRules = try RuleMoveStatements.trashed(on: connection)
            contents.ruleMoves = try RuleMoveStatements.open(on: connection)
            contents.secondFactors = try Self.secondFactors(on: connection)
            return contents
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

    func transaction<R: Sendable>(
        isWriting: Bool = true, _ body: (borrowing DatabaseConnection) throws(AccountError) -> R
    ) throws(AccountError) -> R {
        try connection.withLock { connection throws(AccountError) in
            do throws(AccountError) {
                try connection.run("BEGIN IMMEDIATE")
                let result = try body(connection)
                if isWriting { onCommit() }
                try connection.run("COMMIT")
                return result
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                guard case .failed(let reason) = error, !reason.hasPrefix(name) else { throw error }
                throw .failed(reason: "\(name): \(reason)")
            }
        }
    }
}

// MARK: Statements

extension DatabaseConnection {
    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    borrowing func run(
        _ sql: StaticString, _ values: [SQLValue] = []
    ) throws(AccountError) -> Int {
        do throws(StateError) { return try Statement(sql, on: self).run(values) } catch {
            throw .failed(reason: error.text)
        }
    }

    /// Passes the rows of a query to `body`.
    borrowing func read(
        _ sql: StaticString, _ values: [SQLValue] = [], _ body: (borrowing ResultRow) -> Void
    ) throws(AccountError) {
        do throws(StateError) {
            try Statement(sql, on: self).forEachRow(values) { row throws(StateError) in body(row) }
        } catch {
            throw .failed(reason: error.text)
        }
    }
}

extension AccessRule.Subject {
    /// The kind and the name, as they are stored.
    var values: [SQLValue] {
        let key = sortKey
        return [.text(key.kind), .text(key.name)]
    }

    fileprivate init?(kind: String, name: String) {
        switch kind {
        case "user": self = .user(name)
        case "group": self = .group(name)
        case "everyone": self = .everyone
        case "anonymous": self = .anonymous
        default: return nil
        }
    }
}

extension AccessRule {
    /// Reads the columns subject, name, path and rights; returns nil if they are not valid.
    init?(_ row: borrowing ResultRow) {
        guard let subject = Subject(kind: row.text(0), name: row.text(1)),
            let path = ResourcePath(stored: row.blob(2)), let rights = Rights(parsing: row.text(3))
        else { return nil }
        self.init(subject, path, rights)
    }
}

extension ResourcePath {
    /// - Parameter bytes: the segments, separated by slashes; empty for the root.
    package init?(stored bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .root
        } else {
            self.init(segments: bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false))
        }
    }
}

extension StoredAppPassword {
    /// Reads the columns in the order of the query in ``SQLiteAccountStore/contents()``; returns nil if they are not valid.
    fileprivate init?(_ row: borrowing ResultRow) {
        var limit: AccessLimit?
        if !row.isNull(4) || !row.isNull(5) {
            guard let path = ResourcePath(stored: row.blob(4)), let rights = Rights(parsing: row.text(5)),
                !row.isNull(4), !row.isNull(5)
            else { return nil }
            limit = AccessLimit(path: path, rights: rights)
        }
        self.init(
            id: row.text(0), account: row.text(1), label: row.text(2), secret: row.text(3), limit: limit,
            created: row.integer(6), expiry: row.isNull(7) ? nil : row.integer(7),
            lastUse: row.isNull(8) ? nil : Use(time: row.integer(8), address: row.text(9)))
    }
}
