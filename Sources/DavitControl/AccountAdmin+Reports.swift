internal import DavitAccess
internal import DavitAccounts
internal import DavitEngine
internal import DavitHTTP
internal import DavitServer
internal import DavitStore
internal import DavitSystem

/// App passwords, and reports about rights.
extension AccountAdmin {
    /// The directory of accounts; nil if there is none yet.
    func directory() throws(AccountError) -> AccountDirectory? {
        switch source {
        case .directory(let directory): directory
        case .missing: nil
        case .notInUse: throw .refused(reason: Self.reasonNotInUse)
        }
    }

    // MARK: App passwords

    /// - Parameter account: nil for all accounts.
    func appPasswords(of account: String?) throws(AccountError) -> [StoredAppPassword] {
        guard let directory = try directory() else { return [] }
        try directory.storeUses()
        if let account {
            guard let credentials = directory.credentials(of: account) else { throw .unknownAccount(account) }
            return credentials.appPasswords
        }
        return directory.contents.appPasswords.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// Returns the app passwords of an account; empty for users without an account.
    func ownAppPasswords(of account: String) throws(AccountError) -> [StoredAppPassword] {
        guard let directory = try directory() else { return [] }
        try directory.storeUses()
        return directory.credentials(of: account)?.appPasswords ?? []
    }

    // MARK: Rights

    func explain(
        _ client: ExplainedClient, _ path: ResourcePath, _ share: Share
    ) throws(AccountError) -> [String] {
        let principal = try principal(client)
        guard let directory = try directory() else { throw .unknownAccount(client.account ?? "anonymous") }
        let path = try lookup(path, in: share)?.path ?? path
        let stored = directory.contents.rules
        let rules = directory.explain(principal, at: path).map { rule in
            (stored.contains(rule) ? AccountListLine.rule(rule) : .homeRule(rule)).text
        }
        return [AccountListLine.rights(directory.view(of: principal).rights(at: path)).text] + rules
    }

    private func principal(_ client: ExplainedClient) throws(AccountError) -> Principal {
        guard let name = client.account else { return .anonymous }
        guard let credentials = try directory()?.credentials(of: name) else {
            // A user whom only a directory or proxy knows. Without a group, the name is more likely a mistake.
            if client.groups.isEmpty || client.appPassword != nil { throw .unknownAccount(name) }
            return Principal(.account, name, groups: Set(client.groups))
        }
        let account = credentials.account.name
        guard let id = client.appPassword else {
            return Principal(.account, account, groups: Set(client.groups))
        }
        guard let password = credentials.appPasswords.first(where: { $0.id == id }) else {
            throw .unknownAppPassword(account: name, id: id)
        }
        return Principal(.appPassword, account, groups: Set(client.groups), limit: password.limit)
    }

    /// Returns descriptions of rules, accounts and app passwords without effect.
    func findings(_ share: Share) throws(AccountError) -> [String] {
        let contents = try contents()
        var findings: [String] = []
        for rule in contents.rules where try !isFolder(rule.path, in: share) {
            findings.append("\(rule.path) \(rule.subject) \(rule.rights): the folder does not exist")
        }
        for password in contents.appPasswords.values.joined().sorted(by: { $0.id < $1.id }) {
            guard let limit = password.limit, try !isFolder(limit.path, in: share) else { continue }
            findings.append("app password \(password.name): the folder \(limit.path) does not exist")
        }
        let now = Clock.wallNow() / 1_000_000_000
        let review = AccessReview(contents, homes: try directory()?.homes)
        return findings + review.findings(at: now).map(\.text)
    }

    private func isFolder(_ path: ResourcePath, in share: Share) throws(AccountError) -> Bool {
        guard let found = try lookup(path, in: share) else { return false }
        return found.info?.isCollection == true
    }
}

extension StoredAppPassword {
    /// The ID, account and device, for messages.
    fileprivate var name: String { "\(id) of \(account) (\(label))" }
}

extension AccessReview.Finding {
    fileprivate var text: String {
        switch self {
        case .withoutMembers(let rule):
            "\(rule.path) \(rule.subject) \(rule.rights): the group has no members"
        case .withoutEffect(let rule):
            "\(rule.path) \(rule.subject) \(rule.rights): has no effect; the same rights apply without it"
        case .withoutRights(let account): "account \(account): has no rights"
        case .expired(let password): "app password \(password.name): has expired"
        case .powerless(let password): "app password \(password.name): its limit leaves no rights"
        case .incomplete: "too many rules; some were not compared"
        }
    }
}
