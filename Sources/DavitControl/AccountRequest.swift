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
    /// Determines the rights of an account to a path. The response is an ``AccountListLine/rights``, and the rules
    /// that they come from.
    case explain(account: String, ResourcePath)
    /// Commits changes, all or none; accounts that they add are enabled. The response is empty.
    case change([AccountChange])

    var text: String {
        switch self {
        case .accounts(let skipped): "accounts \(skipped)"
        case .members(let skipped): "members \(skipped)"
        case .rules(let skipped): "rules \(skipped)"
        case .explain(let account, let path): "explain \(AccountWord.of(account)) \(AccountWord.of(path))"
        case .change(let changes): "change " + changes.flatMap(\.words).joined(separator: " ")
        }
    }

    /// - Returns: nil if the words are not a request.
    init?(words: ArraySlice<Substring>) {
        switch (words.first, words.count) {
        case ("accounts", 2), ("members", 2), ("rules", 2):
            guard let skipped = Int(words.last ?? ""), skipped >= 0 else { return nil }
            switch words.first {
            case "accounts": self = .accounts(skipped: skipped)
            case "members": self = .members(skipped: skipped)
            default: self = .rules(skipped: skipped)
            }
        case ("explain", 3):
            let words = Array(words)
            guard let account = AccountWord.text(words[1]), let path = AccountWord.path(words[2]) else {
                return nil
            }
            self = .explain(account: account, path)
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

/// Words for names and paths.
private enum AccountWord {
    static func of(_ text: String) -> String { ControlWord.encode(Array(text.utf8)) }
    static func of(_ path: ResourcePath) -> String { ControlWord.encode(path.bytes) }

    static func text(_ word: Substring) -> String? {
        ControlWord.decode(word).flatMap { String(validating: $0, as: UTF8.self) }
    }

    static func path(_ word: Substring) -> ResourcePath? {
        guard let bytes = ControlWord.decode(word) else { return nil }
        if bytes.isEmpty { return .root }
        return ResourcePath(
            segments: bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false))
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
    case rights(Rights)

    package var text: String {
        switch self {
        case .account(let name, let isEnabled):
            "account \(AccountWord.of(name)) \(isEnabled ? "enabled" : "disabled")"
        case .member(let group, let account):
            "member \(AccountWord.of(group)) \(account.map(AccountWord.of) ?? "-")"
        case .rule(let rule):
            "rule \(AccountWord.of(rule.subject.description)) \(AccountWord.of(rule.path)) \(rule.rights)"
        case .rights(let rights): "rights \(rights)"
        }
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
        case ("rule", 4):
            guard let subject = AccountWord.text(words[1]).flatMap({ AccessRule.Subject(parsing: $0) }),
                let path = AccountWord.path(words[2]), let rights = Rights(parsing: String(words[3]))
            else { return nil }
            self = .rule(AccessRule(subject, path, rights))
        case ("rights", 2):
            guard let rights = Rights(parsing: String(words[1])) else { return nil }
            self = .rights(rights)
        default: return nil
        }
    }
}
