internal import DavitAccess
internal import DavitHTTP

extension AccountContents {
    /// Returns the position of an account, and whether it exists. Takes logarithmic time for the stored spelling of the
    /// name, and linear time for another one.
    private func position(of name: String) -> (index: Int, exists: Bool) {
        var (low, high) = (0, accounts.count)
        while low < high {
            let middle = (low + high) / 2
            if accounts[middle].name.utf8.lexicographicallyPrecedes(name.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        if low < accounts.count, accounts[low].name == name { return (low, true) }
        // ASCII names have no other spelling in practice, and the store has found the account.
        if let other = accounts.firstIndex(where: { $0.name == name }) { return (other, true) }
        return (low, false)
    }

    /// Returns an account; nil if it does not exist.
    public func account(named name: String) -> StoredAccount? {
        let (index, exists) = position(of: name)
        return exists ? accounts[index] : nil
    }

    /// Returns the names of accounts that exist in only one of two contents, or whose credentials differ.
    func accountsWithOtherCredentials(than other: AccountContents) -> Set<String> {
        let (own, others) = (Set(accounts), Set(other.accounts))
        var names = Set(own.symmetricDifference(others).map(\.name))
        for name in Set(appPasswords.keys).union(other.appPasswords.keys) {
            func credentials(_ contents: AccountContents) -> [StoredAppPassword] {
                (contents.appPasswords[name] ?? []).map { password in
                    var password = password
                    password.lastUse = nil
                    return password
                }
            }
            if credentials(self) != credentials(other) { names.insert(name) }
        }
        for name in Set(secondFactors.keys).union(other.secondFactors.keys)
        where secondFactors[name]?.secret != other.secondFactors[name]?.secret {
            names.insert(name)
        }
        return names
    }

    /// Applies a change that a store has committed.
    /// - Returns: the stored spelling of the name of the account whose credentials have changed; nil if there is none.
    mutating func apply(_ change: AccountChange) -> String? {
        switch change {
        case .addAccount(let account):
            accounts.insert(account, at: position(of: account.name).index)
            return account.name
        case .setSecret(let account, let secret):
            appPasswords[stored(account)] = nil
            return update(account) { $0.secret = secret }
        case .setEnabled(let account, let isEnabled):
            return update(account) { $0.isEnabled = isEnabled }
        case .removeAccount(let account):
            let (index, exists) = position(of: account)
            guard exists else { return nil }
            let name = accounts.remove(at: index).name
            for group in groups.keys where groups[group]?.contains(name) == true {
                groups[group]?.remove(name)
            }
            removeRules(of: .user(name))
            appPasswords[name] = nil
            secondFactors[name] = nil
            return name
        case .addGroup(let group): groups[group] = []
        case .removeGroup(let group):
            groups[group] = nil
            removeRules(of: .group(group))
        case .addMember(let account, let group):
            let name = stored(account)
            groups[group]?.insert(name)
        case .removeMember(let account, let group): groups[group]?.remove(account)
        case .setRule(let rule):
            removeRule(rule.subject, rule.path)
            insert(rule)
        case .removeRule(let subject, let path): removeRule(subject, path)
        case .beginRuleMove(let move): begin(move)
        case .endRuleMove(let id, let outcome): endMove(id, outcome)
        case .removeTrashedRules(let id): trashedRules[id] = nil
        case .addAppPassword(let password):
            let name = stored(password.account)
            var all = appPasswords[name] ?? []
            let index =
                all.firstIndex { !$0.id.utf8.lexicographicallyPrecedes(password.id.utf8) } ?? all.count
            all.insert(password, at: index)
            appPasswords[name] = all
            return name
        case .removeAppPassword(let account, let id):
            let name = stored(account)
            appPasswords[name]?.removeAll { $0.id == id }
            if appPasswords[name]?.isEmpty == true { appPasswords[name] = nil }
            return name
        case .recordUse(let account, let id, let use):
            guard let index = appPasswords[account]?.firstIndex(where: { $0.id == id }) else { return nil }
            appPasswords[account]?[index].lastUse = use
        case .setSecondFactor(let account, let factor, _):
            let name = stored(account)
            secondFactors[name] = factor
            return name
        case .useCode(let account, let step): secondFactors[account]?.usedStep = step
        case .useRecoveryCode(let account, let hash): secondFactors[account]?.recoveryHashes.remove(hash)
        }
        return nil
    }

    private mutating func update(_ name: String, _ body: (inout StoredAccount) -> Void) -> String? {
        let (index, exists) = position(of: name)
        guard exists else { return nil }
        body(&accounts[index])
        return accounts[index].name
    }

    private func stored(_ name: String) -> String { account(named: name)?.name ?? name }

    private mutating func removeRule(_ subject: AccessRule.Subject, _ path: ResourcePath) {
        let key = path.equivalenceKey
        rules.removeAll { $0.subject == subject && $0.path.equivalenceKey == key }
    }

    /// Inserts a rule in the order of ``rules``.
    private mutating func insert(_ rule: AccessRule) {
        var (low, high) = (0, rules.count)
        while low < high {
            let middle = (low + high) / 2
            if rules[middle].precedes(rule) { low = middle + 1 } else { high = middle }
        }
        rules.insert(rule, at: low)
    }
}

extension AccessRule {
    func precedes(_ other: AccessRule) -> Bool {
        if path.bytes != other.path.bytes {
            return path.bytes.lexicographicallyPrecedes(other.path.bytes)
        }
        let (own, others) = (subject.sortKey, other.subject.sortKey)
        if own.kind != others.kind { return own.kind < others.kind }
        return own.name.utf8.lexicographicallyPrecedes(others.name.utf8)
    }
}

extension AccessRule.Subject {
    /// The kind and the name, as they are stored and sorted.
    var sortKey: (kind: String, name: String) {
        switch self {
        case .user(let name): ("user", name)
        case .group(let name): ("group", name)
        case .everyone: ("everyone", "")
        case .anonymous: ("anonymous", "")
        }
    }
}

extension AccountChange {
    /// Whether the change can affect rights.
    var affectsRules: Bool {
        switch self {
        case .removeAccount, .addGroup, .removeGroup, .addMember, .removeMember, .setRule, .removeRule,
            .beginRuleMove, .endRuleMove:
            true
        case .removeTrashedRules, .addAccount, .setSecret, .setEnabled, .addAppPassword, .removeAppPassword,
            .recordUse,
            .setSecondFactor, .useCode, .useRecoveryCode:
            false
        }
    }
}
