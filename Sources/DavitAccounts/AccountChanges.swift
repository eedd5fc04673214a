internal import DavitAccess
internal import DavitHTTP
internal import DavitSQLite

/// The names in a database, which are compared by canonical equivalence in Unicode: each name with its stored spelling.
struct StoredNames: Sendable {
    private(set) var accounts: [String: String] = [:]
    private(set) var groups: [String: String] = [:]

    /// Takes time linear in the number of accounts and groups.
    init(reading tables: borrowing some AccountTables & ~Copyable) throws(AccountError) {
        var (accounts, groups): ([String: String], [String: String]) = ([:], [:])
        try tables.read("SELECT name FROM account") { row in accounts[row.text(0)] = row.text(0) }
        try tables.read("SELECT name FROM user_group") { row in groups[row.text(0)] = row.text(0) }
        (self.accounts, self.groups) = (accounts, groups)
    }

    mutating func set(account: String, exists: Bool) { accounts[account] = exists ? account : nil }
    mutating func set(group: String, exists: Bool) { groups[group] = exists ? group : nil }
}

/// The statements of each ``AccountChange``, inside a transaction. A change takes time independent of the number of
/// accounts and groups, except for the first that needs ``StoredNames``.
enum AccountChanges {
    /// - Parameters:
    ///   - names: nil until they are needed.
    ///   - ruleLimit: see ``AccountContents/ruleLimit``.
    static func apply(
        _ change: AccountChange, on tables: borrowing some AccountTables & ~Copyable,
        _ names: inout StoredNames?,
        _ ruleLimit: Int
    ) throws(AccountError) {
        switch change {
        case .addAccount(let account):
            var known = try loaded(&names, from: tables)
            if known.accounts[account.name] != nil { throw .accountExists(account.name) }
            try tables.run(
                "INSERT INTO account VALUES (?1, ?2, ?3)",
                [.text(account.name), .text(account.secret), .integer(account.isEnabled ? 1 : 0)])
            known.set(account: account.name, exists: true)
            names = known
        case .setSecret(let account, let secret):
            let name = try storedAccount(account, on: tables, &names)
            try tables.run(
                "UPDATE account SET secret = ?2 WHERE name = ?1", [.text(name), .text(secret)])
            // Anyone who knew the old password may have created some.
            try tables.run("DELETE FROM app_password WHERE account = ?1", [.text(name)])
        case .setEnabled(let account, let isEnabled):
            let name = try storedAccount(account, on: tables, &names)
            try tables.run(
                "UPDATE account SET is_enabled = ?2 WHERE name = ?1",
                [.text(name), .integer(isEnabled ? 1 : 0)])
        case .removeAccount(let account):
            let name = try storedAccount(account, on: tables, &names)
            try tables.run("DELETE FROM account WHERE name = ?1", [.text(name)])
            try tables.run("DELETE FROM member WHERE account = ?1", [.text(name)])
            try tables.run("DELETE FROM rule WHERE subject = 'user' AND name = ?1", [.text(name)])
            try tables.run("DELETE FROM trashed_rule WHERE subject = 'user' AND name = ?1", [.text(name)])
            try tables.run("DELETE FROM app_password WHERE account = ?1", [.text(name)])
            names?.set(account: name, exists: false)
        case .addGroup(let group):
            var known = try loaded(&names, from: tables)
            if known.groups[group] != nil { throw .groupExists(group) }
            try tables.run("INSERT INTO user_group VALUES (?1)", [.text(group)])
            known.set(group: group, exists: true)
            names = known
        case .removeGroup(let group):
            let name = try storedGroup(group, on: tables, &names)
            try tables.run("DELETE FROM user_group WHERE name = ?1", [.text(name)])
            try tables.run("DELETE FROM member WHERE user_group = ?1", [.text(name)])
            try tables.run("DELETE FROM rule WHERE subject = 'group' AND name = ?1", [.text(name)])
            try tables.run(
                "DELETE FROM trashed_rule WHERE subject = 'group' AND name = ?1", [.text(name)])
            names?.set(group: name, exists: false)
        case .addMember(let account, let group):
            let member = try storedAccount(account, on: tables, &names)
            let name = try storedGroup(group, on: tables, &names)
            let count = try tables.run(
                "INSERT INTO member VALUES (?1, ?2) ON CONFLICT DO NOTHING", [.text(name), .text(member)])
            if count == 0 { throw .isMember(account: account, group: group) }
        case .removeMember(let account, let group):
            let name = try storedGroup(group, on: tables, &names)
            let member = (try? storedAccount(account, on: tables, &names)) ?? account
            let count = try tables.run(
                "DELETE FROM member WHERE user_group = ?1 AND account = ?2", [.text(name), .text(member)])
            if count == 0 { throw .isNotMember(account: account, group: group) }
        case .setRule(let rule):
            let subject = try stored(rule.subject, on: tables, &names)
            try RuleMoveStatements.checkMayChange(rule.path, on: tables)
            if try !removeRule(subject, rule.path, on: tables) {
                let count = try RuleMoveStatements.count(inTrash: false, on: tables)
                guard count < ruleLimit else { throw .tooManyRules }
            }
            try tables.run(
                "INSERT INTO rule (subject, name, path, rights) VALUES (?1, ?2, ?3, ?4)",
                subject.values + [.blob(rule.path.bytes), .text(rule.rights.description)])
        case .removeRule(let subject, let path):
            try RuleMoveStatements.checkMayChange(path, on: tables)
            let stored = (try? stored(subject, on: tables, &names)) ?? subject
            guard try removeRule(stored, path, on: tables) else { throw .noRule(subject, path) }
        case .beginRuleMove(let move): try RuleMoveStatements.begin(move, on: tables, ruleLimit)
        case .endRuleMove(let id, let outcome): try RuleMoveStatements.end(id, outcome, on: tables)
        case .removeTrashedRules(let id):
            try tables.run("DELETE FROM trashed_rule WHERE entry = ?1", [.text(id)])
        case .addAppPassword(let password): try add(password, on: tables, &names)
        case .removeAppPassword(let account, let id):
            let name = try storedAccount(account, on: tables, &names)
            let count = try tables.run(
                "DELETE FROM app_password WHERE id = ?1 AND account = ?2", [.text(id), .text(name)])
            if count == 0 { throw .unknownAppPassword(account: account, id: id) }
        case .recordUse(let account, let id, let use):
            // An app password that was revoked in the meantime is not an error.
            try tables.run(
                "UPDATE app_password SET used = ?3, used_from = ?4 WHERE id = ?1 AND account = ?2",
                [.text(id), .text(account), .integer(use.time), .text(use.address)])
        case .setSecondFactor(let account, let factor, let session):
            let name = (try? storedAccount(account, on: tables, &names)) ?? account
            try SecondFactorStatements.set(factor, of: name, keeping: session, on: tables)
        case .useCode(let account, let step):
            try SecondFactorStatements.use(step: step, of: account, on: tables)
        case .useRecoveryCode(let account, let hash):
            try SecondFactorStatements.use(recoveryHash: hash, of: account, on: tables)
        }
    }

    private static func add(
        _ password: StoredAppPassword, on tables: borrowing some AccountTables & ~Copyable,
        _ names: inout StoredNames?
    ) throws(AccountError) {
        let account = try storedAccount(password.account, on: tables, &names)
        guard StoredAppPassword.isLabel(password.label) else { throw .badLabel }
        var count: Int64 = 0
        try tables.read("SELECT count(*) FROM app_password WHERE account = ?1", [.text(account)]) { row in
            count = row.integer(0)
        }
        guard count < StoredAppPassword.limitPerAccount else {
            throw .tooManyAppPasswords(account: password.account)
        }
        let added = try tables.run(
            """
            INSERT INTO app_password
            (id, account, label, secret, path, rights, created, expiry, used, used_from)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING
            """,
            [
                .text(password.id), .text(account), .text(password.label), .text(password.secret),
                .optional(password.limit?.path.bytes), .optional(password.limit?.rights.description),
                .integer(password.created), .optional(password.expiry), .optional(password.lastUse?.time),
                .optional(password.lastUse?.address),
            ])
        if added == 0 { throw .appPasswordExists(id: password.id) }
    }

    // MARK: Names

    /// Returns the names, and leaves `names` empty, so that they can be changed without a copy.
    private static func loaded(
        _ names: inout StoredNames?, from tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> StoredNames {
        if let known = names.take() { return known }
        return try StoredNames(reading: tables)
    }

    /// Returns the stored spelling of the name of an account.
    /// - Throws: `unknownAccount`.
    private static func storedAccount(
        _ name: String, on tables: borrowing some AccountTables & ~Copyable, _ names: inout StoredNames?
    ) throws(AccountError) -> String {
        var isStored = false
        try tables.read("SELECT 1 FROM account WHERE name = ?1", [.text(name)]) { _ in isStored = true }
        if isStored { return name }
        let known = try loaded(&names, from: tables)
        names = known
        guard let stored = known.accounts[name] else { throw .unknownAccount(name) }
        return stored
    }

    /// Returns the stored spelling of the name of a group.
    /// - Throws: `unknownGroup`.
    private static func storedGroup(
        _ name: String, on tables: borrowing some AccountTables & ~Copyable, _ names: inout StoredNames?
    ) throws(AccountError) -> String {
        var isStored = false
        try tables.read("SELECT 1 FROM user_group WHERE name = ?1", [.text(name)]) { _ in isStored = true
        }
        if isStored { return name }
        let known = try loaded(&names, from: tables)
        names = known
        guard let stored = known.groups[name] else { throw .unknownGroup(name) }
        return stored
    }

    private static func stored(
        _ subject: AccessRule.Subject, on tables: borrowing some AccountTables & ~Copyable,
        _ names: inout StoredNames?
    ) throws(AccountError) -> AccessRule.Subject {
        switch subject {
        case .user(let name): .user(try storedAccount(name, on: tables, &names))
        case .group(let name): .group(try storedGroup(name, on: tables, &names))
        case .everyone, .anonymous: subject
        }
    }

    /// Removes the rule for a subject in a folder, whatever the Unicode spelling of its path is.
    /// - Returns: false if there is none.
    private static func removeRule(
        _ subject: AccessRule.Subject, _ path: ResourcePath,
        on tables: borrowing some AccountTables & ~Copyable
    ) throws(AccountError) -> Bool {
        let count = try tables.run(
            "DELETE FROM rule WHERE subject = ?1 AND name = ?2 AND path = ?3",
            subject.values + [.blob(path.bytes)])
        if count > 0 { return true }
        var stored: [UInt8]?
        let key = path.equivalenceKey
        try tables.read("SELECT path FROM rule WHERE subject = ?1 AND name = ?2", subject.values) { row in
            let bytes = row.blob(0)
            if ResourcePath(stored: bytes)?.equivalenceKey == key { stored = bytes }
        }
        guard let stored else { return false }
        try tables.run(
            "DELETE FROM rule WHERE subject = ?1 AND name = ?2 AND path = ?3",
            subject.values + [.blob(stored)])
        return true
    }
}
