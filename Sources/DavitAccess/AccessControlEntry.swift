public import DavitHTTP

/// An entry of an access control list (RFC 3744 §5.5), which is evaluated in order until all requested rights have been
/// granted or one that has not yet been granted is denied (§6).
public struct AccessControlEntry: Hashable, Sendable {
    /// What an entry does for its subject.
    public enum Effect: Hashable, Sendable {
        /// Grants these rights; not empty.
        case grant(Rights)
        /// Denies all rights.
        case deny
    }

    public let subject: AccessRule.Subject
    public let effect: Effect
    /// The folder of the rule from which the entry is derived.
    public let place: ResourcePath

    /// Returns the entries that express rules. After its rights have been granted, each subject is denied all others,
    /// because the rules of deeper folders, and of users before those of groups, replace the following ones.
    /// - Parameter folders: the rules of the folders on the way to a resource, the deepest folder first.
    static func entries(of folders: [[AccessRule]]) -> [AccessControlEntry] {
        var entries: [AccessControlEntry] = []
        var (isOver, isOverForAnonymous) = (false, false)
        for rules in folders {
            if isOver && isOverForAnonymous { break }
            var (users, groups) = ([AccessRule](), [AccessRule]())
            var everyone: [AccessRule] = []
            for rule in rules {
                switch rule.subject {
                case .user: users.append(rule)
                case .group: groups.append(rule)
                case .everyone: everyone.append(rule)
                case .anonymous where !isOverForAnonymous:
                    entries += grants(of: [rule]) + [AccessControlEntry(denying: rule)]
                    isOverForAnonymous = true
                case .anonymous: break
                }
            }
            if isOver { continue }
            // The rights of several groups add up.
            for rules in [users, groups, everyone] {
                let rules = rules.sorted { $0.subject.description < $1.subject.description }
                entries += grants(of: rules) + rules.map { AccessControlEntry(denying: $0) }
            }
            if !everyone.isEmpty { isOver = true }
        }
        return entries
    }

    private static func grants(of rules: [AccessRule]) -> [AccessControlEntry] {
        rules.filter { !$0.rights.isEmpty }.map {
            AccessControlEntry(subject: $0.subject, effect: .grant($0.rights), place: $0.path)
        }
    }

    private init(denying rule: AccessRule) {
        self.init(subject: rule.subject, effect: .deny, place: rule.path)
    }

    public init(subject: AccessRule.Subject, effect: Effect, place: ResourcePath) {
        self.subject = subject
        self.effect = effect
        self.place = place
    }
}
