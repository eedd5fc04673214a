import DavitAccess
import DavitAccounts
import DavitHTTP
import Synchronization

/// The rules of an ``AccountStore`` in the simplest form, to compare stores with.
final class AccountModel: AccountStore {
    private let stored = Mutex(AccountContents())

    func contents() -> AccountContents { stored.withLock { $0 } }

    func commit(_ changes: [AccountChange]) throws(AccountError) {
        var contents = contents()
        for change in changes { try contents.apply(change) }
        stored.withLock { $0 = contents }
    }
}

extension AccountContents {
    fileprivate mutating func apply(_ change: AccountChange) throws(AccountError) {
        switch change {
        case .addAccount(let account):
            if accounts.contains(where: { $0.name == account.name }) { throw .accountExists(account.name) }
            accounts.append(account)
            accounts.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        case .setSecret(let name, let secret): accounts[try index(of: name)].secret = secret
        case .setEnabled(let name, let isEnabled): accounts[try index(of: name)].isEnabled = isEnabled
        case .removeAccount(let name):
            accounts.remove(at: try index(of: name))
            for group in groups.keys { groups[group]?.remove(name) }
            rules.removeAll { $0.subject == .user(name) }
        case .addGroup(let name):
            if groups[name] != nil { throw .groupExists(name) }
            groups[name] = []
        case .removeGroup(let name):
            guard groups.removeValue(forKey: name) != nil else { throw .unknownGroup(name) }
            rules.removeAll { $0.subject == .group(name) }
        case .addMember(let account, let group):
            _ = try index(of: account)
            guard groups[group] != nil else { throw .unknownGroup(group) }
            guard groups[group]?.insert(account).inserted == true else {
                throw .isMember(account: account, group: group)
            }
        case .removeMember(let account, let group):
            guard groups[group] != nil else { throw .unknownGroup(group) }
            guard groups[group]?.remove(account) != nil else {
                throw .isNotMember(account: account, group: group)
            }
        case .setRule(let rule):
            switch rule.subject {
            case .user(let name): _ = try index(of: name)
            case .group(let name): if groups[name] == nil { throw .unknownGroup(name) }
            case .everyone, .anonymous: break
            }
            rules.removeAll { $0.subject == rule.subject && $0.path == rule.path }
            rules.append(rule)
            rules.sort {
                $0.path == $1.path
                    ? $0.subject.description < $1.subject.description
                    : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
            }
        case .removeRule(let subject, let path):
            let count = rules.count
            rules.removeAll { $0.subject == subject && $0.path == path }
            if rules.count == count { throw .noRule(subject, path) }
        }
    }

    private func index(of name: String) throws(AccountError) -> Int {
        guard let index = accounts.firstIndex(where: { $0.name == name }) else { throw .unknownAccount(name) }
        return index
    }
}
