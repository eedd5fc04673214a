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
    private let name: String

    /// Opens the database in a folder, or creates it so that only the owner can read it.
    /// - Throws: `failed` if another process uses the database, if it cannot be read, or if a newer version of
    ///   davit wrote it.
    public init(folder: String) throws(AccountError) {
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

    /// Whether a folder has a database of accounts.
    package static func exists(in folder: String) -> Bool {
        (try? ExclusiveFolder.canonical(folder + "/" + fileName)) != nil
    }

    // MARK: Reading

    public func contents() throws(AccountError) -> AccountContents {
        try transaction { connection throws(AccountError) in
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
            return contents
        }
    }

    // MARK: Changes

    public func commit(_ changes: [AccountChange]) throws(AccountError) {
        try transaction { connection throws(AccountError) in
            for change in changes { try Self.apply(change, on: connection) }
        }
    }

    private func transaction<R: Sendable>(
        _ body: (borrowing DatabaseConnection) throws(AccountError) -> R
    ) throws(AccountError) -> R {
        try connection.withLock { connection throws(AccountError) in
            do throws(AccountError) {
                try connection.run("BEGIN IMMEDIATE")
                let result = try body(connection)
                try connection.run("COMMIT")
                return result
            } catch {
                if connection.isInTransaction { try? connection.execute("ROLLBACK") }
                guard case .failed(let reason) = error, !reason.hasPrefix(name) else { throw error }
                throw .failed(reason: "\(name): \(reason)")
            }
        }
    }

    private static func apply(
        _ change: AccountChange, on connection: borrowing DatabaseConnection
    ) throws(AccountError) {
        switch change {
        case .addAccount(let account):
            let names = try connection.names("SELECT name FROM account")
            if names.contains(account.name) { throw .accountExists(account.name) }
            try connection.run(
                "INSERT INTO account VALUES (?1, ?2, ?3)",
                [.text(account.name), .text(account.secret), .integer(account.isEnabled ? 1 : 0)])
        case .setSecret(let account, let secret):
            let count = try connection.run(
                "UPDATE account SET secret = ?2 WHERE name = ?1", [.text(account), .text(secret)])
            if count == 0 { throw .unknownAccount(account) }
        case .setEnabled(let account, let isEnabled):
            let count = try connection.run(
                "UPDATE account SET is_enabled = ?2 WHERE name = ?1",
                [.text(account), .integer(isEnabled ? 1 : 0)])
            if count == 0 { throw .unknownAccount(account) }
        case .removeAccount(let account):
            let count = try connection.run("DELETE FROM account WHERE name = ?1", [.text(account)])
            if count == 0 { throw .unknownAccount(account) }
            try connection.run("DELETE FROM member WHERE account = ?1", [.text(account)])
            try connection.run("DELETE FROM rule WHERE subject = 'user' AND name = ?1", [.text(account)])
        case .addGroup(let group):
            if try connection.names("SELECT name FROM user_group").contains(group) {
                throw .groupExists(group)
            }
            try connection.run("INSERT INTO user_group VALUES (?1)", [.text(group)])
        case .removeGroup(let group):
            let count = try connection.run("DELETE FROM user_group WHERE name = ?1", [.text(group)])
            if count == 0 { throw .unknownGroup(group) }
            try connection.run("DELETE FROM member WHERE user_group = ?1", [.text(group)])
            try connection.run("DELETE FROM rule WHERE subject = 'group' AND name = ?1", [.text(group)])
        case .addMember(let account, let group):
            try requireAccount(account, on: connection)
            try requireGroup(group, on: connection)
            let count = try connection.run(
                "INSERT OR IGNORE INTO member VALUES (?1, ?2)", [.text(group), .text(account)])
            if count == 0 { throw .isMember(account: account, group: group) }
        case .removeMember(let account, let group):
            try requireGroup(group, on: connection)
            let count = try connection.run(
                "DELETE FROM member WHERE user_group = ?1 AND account = ?2", [.text(group), .text(account)])
            if count == 0 { throw .isNotMember(account: account, group: group) }
        case .setRule(let rule):
            switch rule.subject {
            case .user(let name): try requireAccount(name, on: connection)
            case .group(let name): try requireGroup(name, on: connection)
            case .everyone, .anonymous: break
            }
            _ = try removeRule(rule.subject, rule.path, on: connection)
            try connection.run(
                "INSERT INTO rule (subject, name, path, rights) VALUES (?1, ?2, ?3, ?4)",
                rule.subject.values + [.blob(rule.path.bytes), .text(rule.rights.description)])
        case .removeRule(let subject, let path):
            guard try removeRule(subject, path, on: connection) else { throw .noRule(subject, path) }
        }
    }

    /// Removes the rule for a subject in a folder, whatever the Unicode spelling of its path is.
    /// - Returns: false if there is none.
    private static func removeRule(
        _ subject: AccessRule.Subject, _ path: ResourcePath, on connection: borrowing DatabaseConnection
    ) throws(AccountError) -> Bool {
        var stored: [UInt8]?
        let key = path.equivalenceKey
        try connection.read("SELECT path FROM rule WHERE subject = ?1 AND name = ?2", subject.values) { row in
            let bytes = row.blob(0)
            if ResourcePath(stored: bytes)?.equivalenceKey == key { stored = bytes }
        }
        guard let stored else { return false }
        try connection.run(
            "DELETE FROM rule WHERE subject = ?1 AND name = ?2 AND path = ?3",
            subject.values + [.blob(stored)])
        return true
    }

    private static func requireAccount(
        _ name: String, on connection: borrowing DatabaseConnection
    ) throws(AccountError) {
        var isKnown = false
        try connection.read("SELECT 1 FROM account WHERE name = ?1", [.text(name)]) { _ in isKnown = true }
        if !isKnown { throw .unknownAccount(name) }
    }

    private static func requireGroup(
        _ name: String, on connection: borrowing DatabaseConnection
    ) throws(AccountError) {
        var isKnown = false
        try connection.read("SELECT 1 FROM user_group WHERE name = ?1", [.text(name)]) { _ in isKnown = true }
        if !isKnown { throw .unknownGroup(name) }
    }
}

// MARK: Statements

extension DatabaseConnection {
    /// Runs a statement and returns the number of changed rows.
    @discardableResult
    fileprivate borrowing func run(
        _ sql: StaticString, _ values: [SQLValue] = []
    ) throws(AccountError) -> Int {
        do throws(StateError) { return try Statement(sql, on: self).run(values) } catch {
            throw .failed(reason: error.text)
        }
    }

    /// Passes the rows of a query to `body`.
    fileprivate borrowing func read(
        _ sql: StaticString, _ values: [SQLValue] = [], _ body: (borrowing ResultRow) -> Void
    ) throws(AccountError) {
        do throws(StateError) {
            try Statement(sql, on: self).forEachRow(values) { row throws(StateError) in body(row) }
        } catch {
            throw .failed(reason: error.text)
        }
    }

    /// Returns names as a set, which compares them by canonical equivalence.
    fileprivate borrowing func names(_ sql: StaticString) throws(AccountError) -> Set<String> {
        var names: Set<String> = []
        try read(sql) { row in names.insert(row.text(0)) }
        return names
    }
}

extension AccessRule.Subject {
    /// The kind and the name, as they are stored.
    fileprivate var values: [SQLValue] {
        switch self {
        case .user(let name): [.text("user"), .text(name)]
        case .group(let name): [.text("group"), .text(name)]
        case .everyone: [.text("everyone"), .text("")]
        case .anonymous: [.text("anonymous"), .text("")]
        }
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
    fileprivate init?(_ row: borrowing ResultRow) {
        guard let subject = Subject(kind: row.text(0), name: row.text(1)),
            let path = ResourcePath(stored: row.blob(2)), let rights = Rights(parsing: row.text(3))
        else { return nil }
        self.init(subject, path, rights)
    }
}

extension ResourcePath {
    /// - Parameter bytes: the segments, separated by slashes; empty for the root.
    fileprivate init?(stored bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .root
        } else {
            self.init(segments: bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false))
        }
    }
}
