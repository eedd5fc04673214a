internal import DavitAccess
internal import DavitHTTP
internal import DavitSQLite

extension AccountContents {
    /// Reads everything. Takes time linear in the number of rows.
    init(reading tables: borrowing some AccountTables & ~Copyable) throws(AccountError) {
        self.init()
        var (accounts, groups): ([StoredAccount], [String: Set<String>]) = ([], [:])
        try tables.read("SELECT name, secret, is_enabled FROM account ORDER BY name") { row in
            accounts.append(
                StoredAccount(name: row.text(0), secret: row.text(1), isEnabled: row.flag(2)))
        }
        try tables.read("SELECT name FROM user_group") { row in groups[row.text(0)] = [] }
        try tables.read("SELECT user_group, account FROM member") { row in
            groups[row.text(0), default: []].insert(row.text(1))
        }
        (self.accounts, self.groups) = (accounts, groups)
        var isDamaged = false
        var rules: [AccessRule] = []
        try tables.read("SELECT subject, name, path, rights FROM rule ORDER BY path, subject, name") { row in
            if let rule = AccessRule(row) { rules.append(rule) } else { isDamaged = true }
        }
        // Without one rule, a client could have more rights.
        if isDamaged { throw .failed(reason: "a rule cannot be read") }
        self.rules = rules
        var passwords: [String: [StoredAppPassword]] = [:]
        try tables.read(
            """
            SELECT id, account, label, secret, path, rights, created, expiry, used, used_from
            FROM app_password ORDER BY account, id
            """
        ) { row in
            guard let password = StoredAppPassword(row) else {
                isDamaged = true
                return
            }
            passwords[password.account, default: []].append(password)
        }
        // Without its limit, an app password could have more rights.
        if isDamaged { throw .failed(reason: "an app password cannot be read") }
        appPasswords = passwords
        trashedRules = try RuleMoveStatements.trashed(on: tables)
        ruleMoves = try RuleMoveStatements.open(on: tables)
        secondFactors = try SecondFactorStatements.all(on: tables)
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
    init?(_ row: AccountRow) {
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
    /// Reads the columns in the order of the query in ``AccountContents/init(reading:)``; returns nil if they are not valid.
    fileprivate init?(_ row: AccountRow) {
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
