import DavitAccess
import DavitAccounts
import DavitHTTP
import Synchronization

/// The rules of an ``AccountStore`` in the simplest form, to compare stores with.
final class AccountModel: AccountStore {
    private let stored = Mutex(AccountContents())
    private let ruleLimit: Int
    private let storedSessions = Mutex<[Int64: StoredSession]>([:])

    init(ruleLimit: Int = AccountContents.ruleLimit) { self.ruleLimit = ruleLimit }

    func contents() -> AccountContents { stored.withLock { $0 } }

    func commit(
        _ changes: [AccountChange], check: () throws(AccountError) -> Void
    ) throws(AccountError) {
        var contents = contents()
        for change in changes { try contents.apply(change, ruleLimit) }
        try check()
        let previous = self.contents()
        stored.withLock { $0 = contents }
        storedSessions.withLock { sessions in
            sessions = sessions.filter { _, session in
                for case .setSecondFactor(let name, _, let kept) in changes
                where name == session.account && kept != session.id {
                    return false
                }
                guard let account = contents.accounts.first(where: { $0.name == session.account }),
                    let before = previous.accounts.first(where: { $0.name == session.account })
                else { return false }
                return account.isEnabled && account.secret == before.secret
            }
        }
    }

    func sessions() -> [StoredSession] { Array(storedSessions.withLock { $0 }.values) }

    func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
        var sessions = storedSessions.withLock { $0 }
        for change in changes {
            switch change {
            case .add(let session):
                guard contents().accounts.contains(where: { $0.name == session.account && $0.isEnabled })
                else { throw .unknownAccount(session.account) }
                sessions[session.id] = session
            case .use(let id, let time, let address):
                sessions[id]?.usedAt = time
                sessions[id]?.address = address
            case .remove(let id): sessions[id] = nil
            }
        }
        storedSessions.withLock { $0 = sessions }
    }
}

extension AccountContents {
    fileprivate mutating func apply(_ change: AccountChange, _ ruleLimit: Int) throws(AccountError) {
        switch change {
        case .addAccount(let account):
            if accounts.contains(where: { $0.name == account.name }) { throw .accountExists(account.name) }
            accounts.append(account)
            accounts.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        case .setSecret(let name, let secret):
            accounts[try index(of: name)].secret = secret
            appPasswords[name] = nil
        case .setEnabled(let name, let isEnabled): accounts[try index(of: name)].isEnabled = isEnabled
        case .removeAccount(let name):
            accounts.remove(at: try index(of: name))
            for group in groups.keys { groups[group]?.remove(name) }
            appPasswords[name] = nil
            dropRules(of: .user(name))
            secondFactors[name] = nil
        case .addGroup(let name):
            if groups[name] != nil { throw .groupExists(name) }
            groups[name] = []
        case .removeGroup(let name):
            guard groups.removeValue(forKey: name) != nil else { throw .unknownGroup(name) }
            dropRules(of: .group(name))
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
            try checkMayChange(rule.path)
            let count = rules.count
            rules.removeAll { $0.subject == rule.subject && $0.path == rule.path }
            if rules.count == count, count >= ruleLimit { throw .tooManyRules }
            rules = Self.sorted(rules + [rule])
        case .beginRuleMove(let move):
            let others = ruleMoves.values.flatMap(\.places)
            if ruleMoves[move.id] != nil { throw .moveConflict }
            for place in move.places where others.contains(where: { $0.meets(place) }) { throw .moveConflict }
            if let destination = move.destination {
                if destination.meets(move.source) || (destination.isTrash && move.source.isTrash) {
                    throw .moveConflict
                }
            }
            let moved = rules(at: move.source)
            var copies = move.destination.map { [$0] } ?? []
            if case .folder = move.source, let id = move.retainedID { copies.append(.trash(id: id)) }
            for copy in copies {
                if !rules(at: copy).isEmpty { throw .moveConflict }
                let trashed = trashedRules.values.reduce(0) { $0 + $1.rules.count }
                switch (move.source, copy) {
                case (.folder, .folder): break
                case (_, .trash): if trashed + moved.count > max(ruleLimit, trashed) { throw .tooManyRules }
                case (.trash, .folder):
                    if rules.count + moved.count > max(ruleLimit, rules.count) { throw .tooManyRules }
                }
                switch copy {
                case .folder(let folder):
                    rules = Self.sorted(
                        rules + moved.map { AccessRule($0.subject, folder + $0.path, $0.rights) })
                case .trash(let id):
                    guard case .folder(let folder) = move.source, !moved.isEmpty else { continue }
                    trashedRules[id] = TrashedRules(folder: folder, rules: Self.sorted(moved))
                }
            }
            ruleMoves[move.id] = move
        case .endRuleMove(let id, let outcome):
            guard let move = ruleMoves.removeValue(forKey: id) else { throw .unknownMove(id: id) }
            switch (outcome, move.source) {
            case (.moved, .folder): clear(move.source)
            case (.moved, .trash(let id)): if id != move.retainedID { clear(move.source) }
            case (.notMoved, .folder):
                if let destination = move.destination { clear(destination) }
                if let id = move.retainedID { clear(.trash(id: id)) }
            case (.notMoved, .trash): if let destination = move.destination { clear(destination) }
            case (.unknown, _): break
            }
        case .removeTrashedRules(let id): trashedRules[id] = nil
        case .removeRule(let subject, let path):
            try checkMayChange(path)
            let count = rules.count
            rules.removeAll { $0.subject == subject && $0.path == path }
            if rules.count == count { throw .noRule(subject, path) }
        case .addAppPassword(let password):
            _ = try index(of: password.account)
            guard StoredAppPassword.isLabel(password.label) else { throw .badLabel }
            var own = appPasswords[password.account] ?? []
            guard own.count < StoredAppPassword.limitPerAccount else {
                throw .tooManyAppPasswords(account: password.account)
            }
            if appPasswords.values.contains(where: { $0.contains { $0.id == password.id } }) {
                throw .appPasswordExists(id: password.id)
            }
            own.append(password)
            appPasswords[password.account] = own.sorted { $0.id < $1.id }
        case .removeAppPassword(let account, let id):
            _ = try index(of: account)
            let own = appPasswords[account] ?? []
            let kept = own.filter { $0.id != id }
            if kept.count == own.count { throw .unknownAppPassword(account: account, id: id) }
            appPasswords[account] = kept.isEmpty ? nil : kept
        case .recordUse(let account, let id, let use):
            appPasswords[account] = appPasswords[account].map { own in
                own.map { password in
                    var password = password
                    if password.id == id { password.lastUse = use }
                    return password
                }
            }
        case .setSecondFactor(let name, let factor, _):
            if let factor {
                _ = try index(of: name)
                secondFactors[name] = factor
            } else if secondFactors.removeValue(forKey: name) == nil {
                throw .noSecondFactor(name)
            }
        case .useCode(let name, let step):
            guard let factor = secondFactors[name], factor.usedStep < step else { throw .codeNotUsable(name) }
            secondFactors[name]?.usedStep = step
        case .useRecoveryCode(let name, let hash):
            guard secondFactors[name]?.recoveryHashes.remove(hash) != nil else {
                throw .codeNotUsable(name)
            }
        }
    }

    private static func sorted(_ rules: [AccessRule]) -> [AccessRule] {
        rules.sorted {
            $0.path == $1.path
                ? $0.subject.description < $1.subject.description
                : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
        }
    }

    private func rules(at place: RuleLocation) -> [AccessRule] {
        switch place {
        case .folder(let folder):
            rules.compactMap { rule in
                rule.path.rebased(from: folder, to: .root).map { AccessRule(rule.subject, $0, rule.rights) }
            }
        case .trash(let id): trashedRules[id]?.rules ?? []
        }
    }

    private mutating func clear(_ place: RuleLocation) {
        switch place {
        case .folder(let folder): rules.removeAll { folder.contains($0.path) }
        case .trash(let id): trashedRules[id] = nil
        }
    }

    private mutating func dropRules(of subject: AccessRule.Subject) {
        rules.removeAll { $0.subject == subject }
        for id in trashedRules.keys {
            trashedRules[id]?.rules.removeAll { $0.subject == subject }
            if trashedRules[id]?.rules.isEmpty == true { trashedRules[id] = nil }
        }
    }

    private func checkMayChange(_ path: ResourcePath) throws(AccountError) {
        for case .folder(let folder) in ruleMoves.values.flatMap(\.places) where folder.contains(path) {
            throw .isMoving(path)
        }
    }

    private func index(of name: String) throws(AccountError) -> Int {
        guard let index = accounts.firstIndex(where: { $0.name == name }) else { throw .unknownAccount(name) }
        return index
    }
}

extension RuleMove {
    fileprivate var places: [RuleLocation] {
        [source] + (destination.map { [$0] } ?? []) + (retainedID.map { [.trash(id: $0)] } ?? [])
    }
}

extension RuleLocation {
    fileprivate var isTrash: Bool { if case .trash = self { true } else { false } }

    fileprivate func meets(_ other: RuleLocation) -> Bool {
        switch (self, other) {
        case (.folder(let one), .folder(let two)): one.contains(two) || two.contains(one)
        case (.trash(let one), .trash(let two)): one == two
        default: false
        }
    }
}

private func + (folder: ResourcePath, rest: ResourcePath) -> ResourcePath {
    rest.segments.reduce(folder) { $0.appending($1)! }
}
