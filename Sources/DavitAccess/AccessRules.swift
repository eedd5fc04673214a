public import DavitHTTP
internal import Synchronization

/// A policy that consists of rules, and of the groups that they name.
///
/// Without a rule that concerns a principal, the principal has no rights.
public final class AccessRules: AccessPolicy {
    /// A reason to refuse rules.
    public enum Problem: Error, Equatable, Sendable {
        /// Two rules for the same subject and folder.
        case duplicate(AccessRule)
        /// A rule for a group that does not exist.
        case unknownGroup(AccessRule)
    }

    /// The views of the principals that were asked for last.
    private struct Views {
        var byPrincipal: [Principal: RuleTree] = [:]
        var nodeCount = 0
    }

    /// Limits on the views that are kept in memory. When one is reached, all are discarded.
    private static let viewLimit = 1_024
    private static let nodeLimit = 250_000

    private let bySubject: [AccessRule.Subject: [AccessRule]]
    private let groupsOfUser: [String: [String]]
    /// A tree with all rules, whose nodes are the folders that rules refer to and those above them. The rights in it mean
    /// nothing.
    private let places: RuleTree
    private let views = Mutex(Views())

    /// - Parameter members: the names of the members of each group.
    /// - Throws: the first problem.
    public init(_ rules: [AccessRule], groups members: [String: Set<String>] = [:]) throws(Problem) {
        var bySubject: [AccessRule.Subject: [AccessRule]] = [:]
        var seen: Set<SubjectPlace> = []
        for rule in rules {
            let key = rule.path.equivalenceKey
            guard seen.insert(SubjectPlace(subject: rule.subject, place: key)).inserted else {
                throw .duplicate(rule)
            }
            if case .group(let name) = rule.subject, members[name] == nil { throw .unknownGroup(rule) }
            bySubject[rule.subject, default: []].append(rule)
        }
        var groupsOfUser: [String: [String]] = [:]
        for (group, users) in members {
            for user in users { groupsOfUser[user, default: []].append(group) }
        }
        self.bySubject = bySubject
        self.groupsOfUser = groupsOfUser
        places = RuleTree(rules, limit: nil)
    }

    private struct SubjectPlace: Hashable {
        let subject: AccessRule.Subject
        let place: ResourcePath
    }

    public func isPlace(_ path: ResourcePath) -> Bool { places.hasNode(at: path) }

    /// Returns what a principal may do. The first call for a principal takes time linear in the rules that concern it.
    public func view(of principal: Principal) -> any AccessView {
        views.withLock { views in
            if let view = views.byPrincipal[principal] { return view }
            let view = RuleTree(rules(for: principal), limit: principal.limit)
            if views.byPrincipal.count >= Self.viewLimit || views.nodeCount > Self.nodeLimit {
                views = Views()
            }
            views.byPrincipal[principal] = view
            views.nodeCount += view.nodes.count
            return view
        }
    }

    /// Returns the rules that concern a principal.
    private func rules(for principal: Principal) -> [AccessRule] {
        subjects(of: principal).flatMap { bySubject[$0] ?? [] }
    }

    private func subjects(of principal: Principal) -> [AccessRule.Subject] {
        guard let name = principal.name else { return [.anonymous] }
        let groups = principal.groups.union(groupsOfUser[name] ?? [])
        return [.user(name)] + groups.sorted().map { .group($0) } + [.everyone]
    }

    /// Returns the rules that determine the rights of a principal to a resource: one rule, or those of several groups in
    /// one folder. Empty if no rule concerns the principal. Takes time linear in the rules that concern it.
    ///
    /// The limit of the principal is not a rule: it can leave fewer rights.
    /// - Parameter path: a canonical path.
    public func explain(_ principal: Principal, at path: ResourcePath) -> [AccessRule] {
        let key = path.equivalenceKey
        let above = rules(for: principal).filter { $0.path.equivalenceKey.contains(key) }
        guard let depth = above.map(\.path.depth).max() else { return [] }
        let deepest = above.filter { $0.path.depth == depth }
        let users = deepest.filter { if case .user = $0.subject { true } else { false } }
        if !users.isEmpty { return users }
        let groups = deepest.filter { if case .group = $0.subject { true } else { false } }
        return groups.isEmpty ? deepest : groups
    }
}
