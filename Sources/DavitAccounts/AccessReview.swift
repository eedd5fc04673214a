public import DavitAccess
public import DavitHTTP

/// Finds rules, accounts and app passwords that have no effect.
public struct AccessReview {
    public enum Finding: Hashable, Sendable {
        /// The rule is for a group that has no members in the database.
        case withoutMembers(AccessRule)
        /// Everyone whom the rule can concern has the same rights without it, whatever groups they are members of. Never a rule
        /// that denies all rights: it also protects the folder from rules that are added above it.
        case withoutEffect(AccessRule)
        /// No rule gives the account any right.
        case withoutRights(account: String)
        case expired(StoredAppPassword)
        /// The limit of the app password leaves none of the rights of its account.
        case powerless(StoredAppPassword)
        /// The review took too long; some rules were not examined for effect.
        case incomplete
    }

    /// The rules of one folder.
    private struct Place {
        var users: [String: Rights] = [:]
        var groups: [String: Rights] = [:]
        var everyone: Rights?
        var anonymous: Rights?

        subscript(subject: AccessRule.Subject) -> Rights? {
            get {
                switch subject {
                case .user(let name): users[name]
                case .group(let name): groups[name]
                case .everyone: everyone
                case .anonymous: anonymous
                }
            }
            set {
                switch subject {
                case .user(let name): users[name] = newValue
                case .group(let name): groups[name] = newValue
                case .everyone: everyone = newValue
                case .anonymous: anonymous = newValue
                }
            }
        }
    }

    /// Maximum number of comparisons, which take up to a microsecond each.
    private static let limit = 5_000_000

    private let contents: AccountContents
    private let homes: ResourcePath?
    /// The rules of each folder, with those that follow from home folders. Keys are those of ``ResourcePath/equivalenceKey``.
    private var places: [ResourcePath: Place] = [:]
    /// The rules that follow from home folders, also those that a rule for the same subject and folder replaces.
    private var implied: [ResourcePath: Place] = [:]
    private var groupsOfUser: [String: [String]] = [:]

    /// - Parameter homes: the collection that contains the home folder of each account; nil without home folders.
    public init(_ contents: AccountContents, homes: ResourcePath? = nil) {
        self.contents = contents
        self.homes = homes
        for rule in contents.rules {
            places[rule.path.equivalenceKey, default: Place()][rule.subject] = rule.rights
        }
        for (group, members) in contents.groups {
            for member in members { groupsOfUser[member, default: []].append(group) }
        }
        if let homes { addHomeRules(homes) }
    }

    /// Adds the rules that follow from home folders: those of the accounts, and those of other users whose home folders have
    /// rules.
    private mutating func addHomeRules(_ homes: ResourcePath) {
        guard let rules = try? AccessRules([], homes: homes) else { return }
        var folders = [homes] + contents.accounts.compactMap { homes.appending(Array($0.name.utf8)) }
        for rule in contents.rules {
            var folder = rule.path
            while folder.depth > homes.depth + 1, let parent = folder.parent { folder = parent }
            folders.append(folder)
        }
        for rule in folders.flatMap({ rules.impliedRules(in: $0) }) {
            let key = rule.path.equivalenceKey
            implied[key, default: Place()][rule.subject] = rule.rights
            if places[key]?[rule.subject] == nil { places[key, default: Place()][rule.subject] = rule.rights }
        }
    }

    /// Returns everything that was found, in the order of the contents.
    /// - Parameter seconds: the current time in seconds since 1970.
    public func findings(at seconds: Int64) -> [Finding] {
        var findings: [Finding] = []
        var comparisons = 0
        for rule in contents.rules {
            if case .group(let name) = rule.subject, contents.groups[name]?.isEmpty != false {
                findings.append(.withoutMembers(rule))
            } else if comparisons < Self.limit, !hasEffect(rule, &comparisons) {
                findings.append(.withoutEffect(rule))
            }
        }
        if comparisons >= Self.limit { findings.append(.incomplete) }
        for account in contents.accounts where !hasRights(account.name) {
            findings.append(.withoutRights(account: account.name))
        }
        for account in contents.accounts {
            for password in contents.appPasswords[account.name] ?? [] {
                if let expiry = password.expiry, expiry <= seconds {
                    findings.append(.expired(password))
                } else if let limit = password.limit, !hasRights(account.name, within: limit) {
                    findings.append(.powerless(password))
                }
            }
        }
        return findings
    }

    /// Whether anyone could have other rights without the rule: an account can join any group. Comparing the rights in its folder
    /// suffices: those below follow.
    private func hasEffect(_ rule: AccessRule, _ comparisons: inout Int) -> Bool {
        if rule.rights.isEmpty { return true }
        if let rights = implied[rule.path.equivalenceKey]?[rule.subject] { return rights != rule.rights }
        switch rule.subject {
        case .user(let name): return hasEffect(rule, user: name, &comparisons)
        case .group, .everyone: return hasEffect(onMany: rule, &comparisons)
        case .anonymous:
            let other = folders(above: rule.path).lazy.compactMap { places[$0]?.anonymous }.first
            comparisons += 1
            return other != rule.rights
        }
    }

    /// Without the rule for a user, those for groups and everyone in its folder apply, or those of the folders above.
    private func hasEffect(_ rule: AccessRule, user: String, _ comparisons: inout Int) -> Bool {
        let key = rule.path.equivalenceKey
        var deeper: [Place] = []
        for folder in [key] + folders(above: key) {
            guard let place = places[folder] else { continue }
            if folder != key, let rights = place.users[user] { return rights != rule.rights }
            for (group, rights) in place.groups {
                comparisons += 1
                if rights != rule.rights, !deeper.contains(where: { $0.groups[group] != nil }) { return true }
            }
            if let rights = place.everyone { return rights != rule.rights }
            deeper.append(place)
        }
        return true
    }

    /// Without the rule for a group or for everyone, rules of the same folder or of the folders above apply, also those for users
    /// and for other groups.
    private func hasEffect(onMany rule: AccessRule, _ comparisons: inout Int) -> Bool {
        let key = rule.path.equivalenceKey
        var deeper: [Place] = []
        if let place = places[key] {
            if case .group(let name) = rule.subject {
                // The rights of the members of two groups add up.
                comparisons += place.groups.count
                let others = place.groups.filter { $0.key != name }
                if others.contains(where: { !rule.rights.isSubset(of: $0.value) }) { return true }
                if let rights = place.everyone { return rights != rule.rights }
            }
            deeper.append(place)
        }
        for folder in folders(above: key) {
            guard let place = places[folder] else { continue }
            for (user, rights) in place.users {
                comparisons += 1
                if rights != rule.rights, !deeper.contains(where: { $0.users[user] != nil }) { return true }
            }
            var own: Rights?
            if case .group(let name) = rule.subject { own = place.groups[name] }
            if let own, own != rule.rights { return true }
            for (group, rights) in place.groups {
                comparisons += 1
                // Every member of the group of the rule has at least its rights.
                let isSame = own == nil ? rights == rule.rights : rights.isSubset(of: rule.rights)
                if !isSame, !deeper.contains(where: { $0.groups[group] != nil }) { return true }
            }
            if own != nil { return false }
            if let rights = place.everyone { return rights != rule.rights }
            deeper.append(place)
        }
        return true
    }

    /// Returns the keys of the folders above a folder, the nearest first.
    private func folders(above folder: ResourcePath) -> [ResourcePath] {
        var folders: [ResourcePath] = []
        var next = folder.equivalenceKey.parent
        while let above = next {
            folders.append(above)
            next = above.parent
        }
        return folders
    }

    /// Returns the rights that the rules of one folder give an account; nil if none concerns it.
    private func rights(of account: String, in key: ResourcePath) -> Rights? {
        guard let place = places[key] else { return nil }
        if let rights = place.users[account] { return rights }
        let groups = (groupsOfUser[account] ?? []).compactMap { place.groups[$0] }
        return groups.isEmpty ? place.everyone : groups.reduce(.none) { $0.union($1) }
    }

    /// Whether an account has any right, at all or within a limit.
    private func hasRights(_ account: String, within limit: AccessLimit? = nil) -> Bool {
        guard let limit else {
            // The common case, for speed.
            if let home = homes?.appending(Array(account.utf8)),
                rights(of: account, in: home.equivalenceKey)?.isEmpty == false
            {
                return true
            }
            return places.keys.contains { rights(of: account, in: $0)?.isEmpty == false }
        }
        let key = limit.path.equivalenceKey
        let granted = ([key] + folders(above: key)).lazy.compactMap { rights(of: account, in: $0) }.first
        if let granted, !granted.isDisjoint(with: limit.rights) { return true }
        return places.keys.contains { place in
            key.contains(place) && rights(of: account, in: place)?.isDisjoint(with: limit.rights) == false
        }
    }
}
