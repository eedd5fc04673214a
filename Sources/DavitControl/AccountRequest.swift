package import DavitAccess
package import DavitAccounts
package import DavitHTTP

/// A request about the accounts of a server, as words of a ``ControlRequest``.
package enum AccountRequest: Hashable, Sendable {
    /// Lists one page of accounts, without the first `skipped`. One ``AccountListLine/account`` each.
    case accounts(skipped: Int)
    /// Lists one page of groups and members, without the first `skipped`. One ``AccountListLine/member`` for each
    /// member, and for each group without members.
    case members(skipped: Int)
    /// Lists one page of rules, without the first `skipped`. One ``AccountListLine/rule`` each.
    case rules(skipped: Int)
    /// Lists one page of the app passwords of an account, or of all accounts, without the first `skipped`. One
    /// ``AccountListLine/appPassword(_:)`` each, with an empty secret.
    case appPasswords(account: String?, skipped: Int)
    /// Lists one page of the sessions of an account, or of all users, without the first `skipped`. One
    /// ``AccountListLine/session(_:)`` each.
    case sessions(account: String?, skipped: Int)
    /// Ends a session. The response is empty.
    case endSession(id: Int64)
    /// Creates an app password. The response is an ``AccountListLine/issued(id:password:)``.
    case addAppPassword(NewAppPassword)
    /// Determines the rights of a client to a path. The response is an ``AccountListLine/rights``, and the rules
    /// that they come from.
    case explain(ExplainedClient, ResourcePath)
    /// Lists one page of rules, accounts and app passwords without effect, without the first `skipped`. One
    /// ``AccountListLine/finding(_:)`` each.
    case review(skipped: Int)
    /// Commits changes, all or none; accounts that they add are enabled. The response is empty.
    case change([AccountChange])

    var text: String {
        switch self {
        case .accounts(let skipped): "accounts \(skipped)"
        case .members(let skipped): "members \(skipped)"
        case .rules(let skipped): "rules \(skipped)"
        case .appPasswords(let account, let skipped): "app-passwords \(AccountWord.of(account)) \(skipped)"
        case .sessions(let account, let skipped): "sessions \(AccountWord.of(account)) \(skipped)"
        case .endSession(let id): "end-session \(id)"
        case .addAppPassword(let new):
            "issue \(AccountWord.of(new.account)) \(AccountWord.of(new.label)) \(AccountWord.of(new.path)) "
                + "\(AccountWord.of(new.rights)) \(AccountWord.of(new.days.map(Int64.init)))"
        case .explain(let client, let path):
            ([
                "explain", AccountWord.of(client.account), AccountWord.of(path),
                AccountWord.of(client.appPassword),
            ]
                + client.groups.map { AccountWord.of($0) }).joined(separator: " ")
        case .review(let skipped): "review \(skipped)"
        case .change(let changes): "change " + changes.flatMap(\.words).joined(separator: " ")
        }
    }

    /// - Returns: nil if the words are not a request.
    init?(words: ArraySlice<Substring>) {
        switch (words.first, words.count) {
        case ("accounts", 2), ("members", 2), ("rules", 2), ("review", 2), ("app-passwords", 3),
            ("sessions", 3):
            guard let skipped = Int(words.last ?? ""), skipped >= 0 else { return nil }
            switch words.first {
            case "accounts": self = .accounts(skipped: skipped)
            case "members": self = .members(skipped: skipped)
            case "rules": self = .rules(skipped: skipped)
            case "review": self = .review(skipped: skipped)
            default:
                let account = AccountWord.text(words[words.startIndex + 1])
                self =
                    words.first == "sessions"
                    ? .sessions(account: account, skipped: skipped)
                    : .appPasswords(account: account, skipped: skipped)
            }
        case ("end-session", 2):
            guard let id = Int64(words.last ?? "") else { return nil }
            self = .endSession(id: id)
        case ("issue", 6):
            let words = Array(words)
            guard let account = AccountWord.text(words[1]), let label = AccountWord.text(words[2]) else {
                return nil
            }
            self = .addAppPassword(
                NewAppPassword(
                    account: account, label: label, path: AccountWord.path(words[3]),
                    rights: AccountWord.rights(words[4]), days: AccountWord.number(words[5]).map(Int.init)))
        case ("explain", 4...):
            let words = Array(words)
            guard let path = AccountWord.path(words[2]) else { return nil }
            var groups: [String] = []
            for word in words[4...] {
                guard let group = AccountWord.text(word) else { return nil }
                groups.append(group)
            }
            self = .explain(
                ExplainedClient(
                    account: AccountWord.text(words[1]), groups: groups,
                    appPassword: AccountWord.text(words[3])), path)
        case ("change", 2...):
            var rest = words.dropFirst()
            var changes: [AccountChange] = []
            while !rest.isEmpty {
                guard let change = AccountChange(parsing: &rest) else { return nil }
                changes.append(change)
            }
            self = .change(changes)
        default: return nil
        }
    }
}

/// A client whose rights are explained.
package struct ExplainedClient: Hashable, Sendable {
    /// Nil for clients that have not signed in.
    package let account: String?
    /// The groups that a login has in addition to those in the database.
    package let groups: [String]
    /// The ID of an app password of the account.
    package let appPassword: String?

    package init(account: String?, groups: [String] = [], appPassword: String? = nil) {
        self.account = account
        self.groups = groups
        self.appPassword = appPassword
    }
}

/// Words for names, paths and numbers; `-` stands for none.
private enum AccountWord {
    static func of(_ text: String?) -> String { ControlWord.encode(text.map { Array($0.utf8) }) }
    static func of(_ path: ResourcePath?) -> String { ControlWord.encode(path?.bytes) }
    static func of(_ rights: Rights?) -> String { rights.map(\.description) ?? "-" }
    static func of(_ number: Int64?) -> String { number.map { String($0) } ?? "-" }

    static func rights(_ word: Substring) -> Rights? { Rights(parsing: String(word)) }
    static func number(_ word: Substring) -> Int64? { Int64(word) }

    static func text(_ word: Substring) -> String? {
        ControlWord.decode(word).flatMap { String(validating: $0, as: UTF8.self) }
    }

    static func path(_ word: Substring) -> ResourcePath? {
        ControlWord.decode(word).flatMap { ResourcePath(stored: $0) }
    }
}

extension AccountChange {
    /// The name of the change, followed by a fixed number of words.
    fileprivate var words: [String] {
        switch self {
        case .addAccount(let account):
            ["add-account", AccountWord.of(account.name), AccountWord.of(account.secret)]
        case .setSecret(let account, let secret):
            ["set-secret", AccountWord.of(account), AccountWord.of(secret)]
        case .setEnabled(let account, true): ["enable", AccountWord.of(account)]
        case .setEnabled(let account, false): ["disable", AccountWord.of(account)]
        case .removeAccount(let account): ["remove-account", AccountWord.of(account)]
        case .addGroup(let group): ["add-group", AccountWord.of(group)]
        case .removeGroup(let group): ["remove-group", AccountWord.of(group)]
        case .addMember(let account, let group):
            ["add-member", AccountWord.of(account), AccountWord.of(group)]
        case .removeMember(let account, let group):
            ["remove-member", AccountWord.of(account), AccountWord.of(group)]
        case .setRule(let rule):
            [
                "set-rule", AccountWord.of(rule.subject.description), AccountWord.of(rule.path),
                rule.rights.description,
            ]
        case .removeRule(let subject, let path):
            ["remove-rule", AccountWord.of(subject.description), AccountWord.of(path)]
        case .removeAppPassword(let account, let id):
            ["remove-app-password", AccountWord.of(account), AccountWord.of(id)]
        case .setSecondFactor(let account, nil, _): ["remove-second-factor", AccountWord.of(account)]
        // Only the server makes these changes, and refuses requests for them.
        case .addAppPassword: ["add-app-password"]
        case .recordUse: ["record-use"]
        case .beginRuleMove, .endRuleMove, .removeTrashedRules: ["move-rules"]
        case .setSecondFactor, .useCode, .useRecoveryCode: ["set-second-factor"]
        }
    }

    /// Removes the words of one change from `words`.
    fileprivate init?(parsing words: inout ArraySlice<Substring>) {
        guard let kind = words.popFirst() else { return nil }
        func text() -> String? { words.popFirst().flatMap(AccountWord.text) }
        func path() -> ResourcePath? { words.popFirst().flatMap(AccountWord.path) }
        func subject() -> AccessRule.Subject? { text().flatMap { AccessRule.Subject(parsing: $0) } }
        switch kind {
        case "add-account":
            guard let name = text(), let secret = text() else { return nil }
            self = .addAccount(StoredAccount(name: name, secret: secret))
        case "set-secret":
            guard let account = text(), let secret = text() else { return nil }
            self = .setSecret(account: account, secret: secret)
        case "enable", "disable":
            guard let account = text() else { return nil }
            self = .setEnabled(account: account, isEnabled: kind == "enable")
        case "remove-account":
            guard let account = text() else { return nil }
            self = .removeAccount(account)
        case "add-group", "remove-group":
            guard let group = text() else { return nil }
            self = kind == "add-group" ? .addGroup(group) : .removeGroup(group)
        case "add-member", "remove-member":
            guard let account = text(), let group = text() else { return nil }
            self =
                kind == "add-member"
                ? .addMember(account: account, group: group) : .removeMember(account: account, group: group)
        case "set-rule":
            guard let subject = subject(), let path = path(), let word = words.popFirst(),
                let rights = Rights(parsing: String(word))
            else { return nil }
            self = .setRule(AccessRule(subject, path, rights))
        case "remove-rule":
            guard let subject = subject(), let path = path() else { return nil }
            self = .removeRule(subject, path)
        case "remove-app-password":
            guard let account = text(), let id = text() else { return nil }
            self = .removeAppPassword(account: account, id: id)
        case "remove-second-factor":
            guard let account = text() else { return nil }
            self = .setSecondFactor(account: account, nil, keepingSession: nil)
        default: return nil
        }
    }
}

/// A line of the response to an ``AccountRequest``.
package enum AccountListLine: Hashable, Sendable {
    case account(name: String, isEnabled: Bool)
    /// The member is nil if the group has none.
    case member(group: String, account: String?)
    case rule(AccessRule)
    /// A rule that follows from home folders, in the response to ``AccountRequest/explain(_:_:)``.
    case homeRule(AccessRule)
    case rights(Rights)
    /// The secret is not sent.
    case appPassword(StoredAppPassword)
    case issued(id: String, password: String)
    case session(ListedSession)
    case finding(String)

    package var text: String {
        switch self {
        case .account(let name, let isEnabled):
            "account \(AccountWord.of(name)) \(isEnabled ? "enabled" : "disabled")"
        case .member(let group, let account):
            "member \(AccountWord.of(group)) \(account.map(AccountWord.of) ?? "-")"
        case .rule(let rule): "rule \(Self.words(of: rule))"
        case .homeRule(let rule): "home-rule \(Self.words(of: rule))"
        case .rights(let rights): "rights \(rights)"
        case .appPassword(let password): "app-password " + Self.words(of: password).joined(separator: " ")
        case .issued(let id, let password): "issued \(AccountWord.of(id)) \(AccountWord.of(password))"
        case .session(let session): "session " + Self.words(of: session).joined(separator: " ")
        case .finding(let text): "finding \(AccountWord.of(text))"
        }
    }

    private static func words(of rule: AccessRule) -> String {
        "\(AccountWord.of(rule.subject.description)) \(AccountWord.of(rule.path)) \(rule.rights)"
    }

    private static func words(of password: StoredAppPassword) -> [String] {
        [
            AccountWord.of(password.id), AccountWord.of(password.account), AccountWord.of(password.label),
            AccountWord.of(password.limit?.path), AccountWord.of(password.limit?.rights),
            AccountWord.of(password.created), AccountWord.of(password.expiry),
            AccountWord.of(password.lastUse?.time), AccountWord.of(password.lastUse?.address),
        ]
    }

    private static func words(of session: ListedSession) -> [String] {
        [
            AccountWord.of(session.id), AccountWord.of(session.account), AccountWord.of(session.createdAt),
            AccountWord.of(session.usedAt), AccountWord.of(session.address), AccountWord.of(session.agent),
        ]
    }

    private static func session(_ words: [Substring]) -> ListedSession? {
        guard let id = AccountWord.number(words[1]), let account = AccountWord.text(words[2]),
            let created = AccountWord.number(words[3]), let used = AccountWord.number(words[4]),
            let address = AccountWord.text(words[5]), let agent = AccountWord.text(words[6])
        else { return nil }
        return ListedSession(
            id: id, account: account, createdAt: created, usedAt: used, address: address, agent: agent)
    }

    private static func appPassword(_ words: [Substring]) -> StoredAppPassword? {
        guard let id = AccountWord.text(words[1]), let account = AccountWord.text(words[2]),
            let label = AccountWord.text(words[3]), let created = AccountWord.number(words[6])
        else { return nil }
        var limit: AccessLimit?
        if let path = AccountWord.path(words[4]), let rights = AccountWord.rights(words[5]) {
            limit = AccessLimit(path: path, rights: rights)
        }
        var use: StoredAppPassword.Use?
        if let time = AccountWord.number(words[8]), let address = AccountWord.text(words[9]) {
            use = .init(time: time, address: address)
        }
        return StoredAppPassword(
            id: id, account: account, label: label, secret: "", limit: limit, created: created,
            expiry: AccountWord.number(words[7]), lastUse: use)
    }

    /// - Returns: nil if the text is not a line.
    package init?(parsing line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        switch (words[0], words.count) {
        case ("account", 3):
            guard let name = AccountWord.text(words[1]) else { return nil }
            self = .account(name: name, isEnabled: words[2] == "enabled")
        case ("member", 3):
            guard let group = AccountWord.text(words[1]) else { return nil }
            self = .member(group: group, account: AccountWord.text(words[2]))
        case ("rule", 4), ("home-rule", 4):
            guard let subject = AccountWord.text(words[1]).flatMap({ AccessRule.Subject(parsing: $0) }),
                let path = AccountWord.path(words[2]), let rights = Rights(parsing: String(words[3]))
            else { return nil }
            let rule = AccessRule(subject, path, rights)
            self = words[0] == "rule" ? .rule(rule) : .homeRule(rule)
        case ("rights", 2):
            guard let rights = Rights(parsing: String(words[1])) else { return nil }
            self = .rights(rights)
        case ("app-password", 10):
            guard let password = Self.appPassword(words) else { return nil }
            self = .appPassword(password)
        case ("issued", 3):
            guard let id = AccountWord.text(words[1]), let password = AccountWord.text(words[2]) else {
                return nil
            }
            self = .issued(id: id, password: password)
        case ("session", 7):
            guard let session = Self.session(words) else { return nil }
            self = .session(session)
        case ("finding", 2):
            guard let text = AccountWord.text(words[1]) else { return nil }
            self = .finding(text)
        default: return nil
        }
    }
}
