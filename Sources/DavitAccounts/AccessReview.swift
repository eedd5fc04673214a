public import DavitAccess
internal import DavitHTTP

/// Finds rules, accounts and app passwords that have no effect.
public struct AccessReview {
    public enum Finding: Hashable, Sendable {
        /// The rule is for a group that has no members in the database.
        case withoutMembers(AccessRule)
        /// Everyone whom the rule concerns has the same rights without it.
        case withoutEffect(AccessRule)
        /// No rule gives the account any right.
        case withoutRights(account: String)
        case expired(StoredAppPassword)
        /// The limit of the app password leaves none of the rights of its account.
        case powerless(StoredAppPassword)
        /// The review took too long; some rules were not examined for effect.
        case incomplete
    }

    /// A client that rules concern.
    private struct Client: Hashable {
        /// The account, if rules for it exist; nil for accounts without any.
        var user: String?
        var groups: [String] = []
        var isAnonymous = false

        func subjects(_ body: (AccessRule.Subject) -> Void) {
            if isAnonymous { return body(.anonymous) }
            if let user { body(.user(user)) }
            for group in groups { body(.group(group)) }
            body(.everyone)
        }
    }

    /// Maximum number of comparisons, which take up to a microsecond each.
    private static let limit = 5_000_000

    private let contents: AccountContents
    /// The rules of each folder. Keys are those of ``ResourcePath/equivalenceKey``.
    private var places: [ResourcePath: [AccessRule.Subject: Rights]] = [:]
    private var groupsOfUser: [String: [String]] = [:]
    private var usersWithRules: Set<String> = []
    /// Accounts with the same rules, once.
    private var clients: Set<Client> = []

    public init(_ contents: AccountContents) {
        self.contents = contents
        for rule in contents.rules {
            places[rule.path.equivalenceKey, default: [:]][rule.subject] = rule.rights
            if case .user(let name) = rule.subject { usersWithRules.insert(name) }
        }
        for (group, members) in contents.groups {
            for member in members { groupsOfUser[member, default: []].append(group) }
        }
        for account in contents.accounts { clients.insert(client(account.name)) }
    }

    private func client(_ name: String) -> Client {
        Client(user: usersWithRules.contains(name) ? name : nil, groups: (groupsOfUser[name] ?? []).sorted())
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
        for account in contents.accounts where !hasRights(client(account.name)) {
            findings.append(.withoutRights(account: account.name))
        }
        for account in contents.accounts {
            for password in contents.appPasswords[account.name] ?? [] {
                if let expiry = password.expiry, expiry <= seconds {
                    findings.append(.expired(password))
                } else if let limit = password.limit, !hasRights(client(account.name), within: limit) {
                    findings.append(.powerless(password))
                }
            }
        }
        return findings
    }

    /// Whether anyone has other rights without the rule. Comparing the rights in its folder suffices: those below follow.
    private func hasEffect(_ rule: AccessRule, _ comparisons: inout Int) -> Bool {
        let key = rule.path.equivalenceKey
        let concerned: any Sequence<Client> =
            switch rule.subject {
            case .user(let name): [client(name)]
            case .group(let name): (contents.groups[name] ?? []).lazy.map { client($0) }
            case .everyone: clients
            case .anonymous: [Client(isAnonymous: true)]
            }
        for client in concerned {
            comparisons += 1
            if rights(of: client, at: key) != rights(of: client, at: key, without: rule.subject) {
                return true
            }
        }
        return false
    }

    /// Returns the rights of a client at a folder, as the rules of the deepest folder above it determine them.
    /// - Parameter ignored: a subject whose rule in this folder is ignored.
    private func rights(
        of client: Client, at key: ResourcePath, without ignored: AccessRule.Subject? = nil
    ) -> Rights {
        var folder: ResourcePath? = key
        while let place = folder {
            if let granted = rights(of: client, in: place, without: place == key ? ignored : nil) {
                return granted
            }
            folder = place.parent
        }
        return .none
    }

    /// Returns the rights that the rules of one folder give a client; nil if none concerns it.
    private func rights(
        of client: Client, in key: ResourcePath, without ignored: AccessRule.Subject?
    ) -> Rights? {
        guard let rules = places[key] else { return nil }
        var (user, groups, everyone): (Rights?, Rights?, Rights?)
        client.subjects { subject in
            guard subject != ignored, let rights = rules[subject] else { return }
            switch subject {
            case .user: user = rights
            case .group: groups = (groups ?? []).union(rights)
            case .everyone, .anonymous: everyone = rights
            }
        }
        return user ?? groups ?? everyone
    }

    /// Whether a client has any right, at all or within a limit.
    private func hasRights(_ client: Client, within limit: AccessLimit? = nil) -> Bool {
        if let limit {
            let key = limit.path.equivalenceKey
            if !rights(of: client, at: key).isDisjoint(with: limit.rights) { return true }
            return places.keys.contains { place in
                key.contains(place)
                    && rights(of: client, in: place, without: nil)?.isDisjoint(with: limit.rights) == false
            }
        }
        return places.keys.contains { rights(of: client, in: $0, without: nil)?.isEmpty == false }
    }
}
