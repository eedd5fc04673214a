public import DavitHTTP
internal import Synchronization

/// A policy that consists of rules, and of the groups that they name.
///
/// Without a rule that concerns a principal, the principal has no rights.
///
/// Unchecked, because the dictionaries only change before the object is shared.
public final class AccessRules: AccessPolicy, @unchecked Sendable {
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

    private var bySubject: [AccessRule.Subject: [ResourcePath: AccessRule]] = [:]
    /// The rules of each folder; the keys are equivalence keys.
    private var byPlace: [ResourcePath: [AccessRule.Subject: AccessRule]] = [:]
    private var groupsOfUser: [String: [String]] = [:]
    /// The number of rules in each folder that rules refer to, and below it. The keys are equivalence keys.
    private var places: [ResourcePath: Int] = [:]
    /// The collection that contains the home folder of each account; nil without home folders.
    private let homes: ResourcePath?
    private let views = Mutex(Views())
    /// Always 0, because rules do not change.
    public let changes: AccessChangeCounter? = AccessChangeCounter()
    /// The entries that were requested last, and the deepest folder with rules for them.
    private let lastEntries = Mutex<(folder: ResourcePath, entries: [AccessControlEntry])?>(nil)

    /// - Parameters:
    ///   - members: the names of the members of each group.
    ///   - homes: the collection whose members are home folders, named like their accounts. Each account may change and
    ///     share everything in its home folder, and has no rights in those of others, unless a rule in `homes` or below
    ///     it grants them.
    /// - Throws: the first problem.
    public init(
        _ rules: [AccessRule], groups members: [String: Set<String>] = [:], homes: ResourcePath? = nil
    ) throws(Problem) {
        self.homes = homes
        for rule in rules {
            if case .group(let name) = rule.subject, members[name] == nil { throw .unknownGroup(rule) }
            if !insert(rule, at: rule.path.equivalenceKey) { throw .duplicate(rule) }
        }
        groupsOfUser = Self.groups(of: members)
    }

    private init(copying other: AccessRules) {
        (bySubject, byPlace, places) = (other.bySubject, other.byPlace, other.places)
        (groupsOfUser, homes) = (other.groupsOfUser, other.homes)
    }

    private static func groups(of members: [String: Set<String>]) -> [String: [String]] {
        var groupsOfUser: [String: [String]] = [:]
        for (group, users) in members {
            for user in users { groupsOfUser[user, default: []].append(group) }
        }
        return groupsOfUser
    }

    // MARK: Changes

    /// Adds a rule during initialization.
    /// - Returns: false if there is one for the same subject and folder.
    private func insert(_ rule: AccessRule, at key: ResourcePath) -> Bool {
        guard byPlace[key, default: [:]].updateValue(rule, forKey: rule.subject) == nil else { return false }
        bySubject[rule.subject, default: [:]][key] = rule
        count(1, at: key)
        return true
    }

    private func count(_ change: Int, at key: ResourcePath) {
        var next: ResourcePath? = key
        while let folder = next {
            let count = places[folder, default: 0] + change
            places[folder] = count == 0 ? nil : count
            next = folder.parent
        }
    }

    /// Returns these rules with that for a subject and a folder replaced. Faster than creating all of them again.
    /// - Parameter rule: nil to remove the rule. A rule for a group that does not exist has no effect.
    package func replacing(
        _ subject: AccessRule.Subject, _ path: ResourcePath, with rule: AccessRule?
    ) -> AccessRules {
        let copy = AccessRules(copying: self)
        let key = path.equivalenceKey
        if copy.byPlace[key]?.removeValue(forKey: subject) != nil {
            copy.bySubject[subject]?[key] = nil
            if copy.byPlace[key]?.isEmpty == true { copy.byPlace[key] = nil }
            copy.count(-1, at: key)
        }
        if let rule { _ = copy.insert(rule, at: key) }
        return copy
    }

    /// Returns these rules with other members of the groups that they name.
    package func replacing(groups members: [String: Set<String>]) -> AccessRules {
        let copy = AccessRules(copying: self)
        copy.groupsOfUser = Self.groups(of: members)
        return copy
    }

    // MARK: Queries

    public func isPlace(_ path: ResourcePath) -> Bool { hasRules(atOrUnder: path) || isHome(path) }

    /// Whether there are rules for a folder or for something below it.
    package func hasRules(atOrUnder path: ResourcePath) -> Bool {
        path.isRoot || places[path.equivalenceKey] != nil
    }

    private func isHome(_ path: ResourcePath) -> Bool {
        guard let homes, let parent = path.parent else { return false }
        return parent.depth == homes.depth && parent.equivalenceKey == homes.equivalenceKey
    }

    /// Whether a folder is a home folder, or contains them: the names of accounts determine these paths.
    package func isBoundToHomes(_ path: ResourcePath) -> Bool {
        guard let homes else { return false }
        return path.equivalenceKey.contains(homes.equivalenceKey) || isHome(path)
    }

    /// Returns what a principal may do with a resource in the trash, and with everything in it.
    /// - Parameters:
    ///   - trashed: the rules that the resource brought to the trash, with their original paths.
    ///   - path: the original path of the resource.
    package func view(
        of principal: Principal, _ trashed: [AccessRule], at path: ResourcePath
    ) -> any AccessView {
        let subjects = Set(subjects(of: principal))
        var rules = trashed.filter { subjects.contains($0.subject) }
        var folder = path.equivalenceKey.parent
        while let above = folder {
            rules += subjects.compactMap { byPlace[above]?[$0] }
            folder = above.parent
        }
        return RuleTree(homeRules(for: principal) + rules, limit: principal.limit)
    }

    public func entries(at path: ResourcePath) -> [AccessControlEntry] {
        // The members of a collection usually have the same entries.
        var deepest = path.equivalenceKey
        while byPlace[deepest] == nil, impliedRules(in: deepest).isEmpty, let parent = deepest.parent {
            deepest = parent
        }
        if let (folder, entries) = lastEntries.withLock({ $0 }), folder == deepest { return entries }
        let entries = makeEntries(at: deepest)
        lastEntries.withLock { $0 = (deepest, entries) }
        return entries
    }

    private func makeEntries(at path: ResourcePath) -> [AccessControlEntry] {
        var folders: [[AccessRule]] = []
        var next: ResourcePath? = path.equivalenceKey
        while let folder = next {
            let rules = Array((byPlace[folder] ?? [:]).values) + impliedRules(in: folder)
            if !rules.isEmpty { folders.append(rules) }
            next = folder.parent
        }
        return AccessControlEntry.entries(of: folders)
    }

    /// Returns the rules of one folder that follow from home folders, without those that a rule for the same subject and
    /// folder replaces.
    package func impliedRules(in folder: ResourcePath) -> [AccessRule] {
        guard let homes else { return [] }
        let key = folder.equivalenceKey
        let own = byPlace[key] ?? [:]
        var implied: [AccessRule] = []
        if key == homes.equivalenceKey {
            implied = [.everyone, .anonymous].map { AccessRule($0, homes, .none) }
        } else if isHome(folder) {
            implied = [AccessRule(.user(String(decoding: folder.name, as: UTF8.self)), folder, Self.ofHomes)]
        }
        return implied.filter { own[$0.subject] == nil }
    }

    /// The rights of an account in its home folder.
    private static let ofHomes = Rights.edit.union(.share)

    /// Returns what a principal may do. The first call for a principal takes time linear in the rules that concern it.
    public func view(of principal: Principal) -> any AccessView {
        views.withLock { views in
            if let view = views.byPrincipal[principal] { return view }
            // Of two rules for the same subject and folder, the last one applies.
            let view = RuleTree(homeRules(for: principal) + rules(for: principal), limit: principal.limit)
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
        subjects(of: principal).flatMap { Array((bySubject[$0] ?? [:]).values) }
    }

    /// Returns the rules that apply because of home folders, unless there are others for the same subjects and folders.
    private func homeRules(for principal: Principal) -> [AccessRule] {
        guard let homes else { return [] }
        // Rights in the folders above would otherwise apply to the home folders of others.
        let others = AccessRule(.everyone, homes, .none)
        guard let name = principal.name, let home = homes.appending(Array(name.utf8)) else { return [others] }
        return [others, AccessRule(.user(name), home, Self.ofHomes)]
    }

    private func subjects(of principal: Principal) -> [AccessRule.Subject] {
        guard let name = principal.name else { return [.anonymous] }
        let groups = principal.groups.union(groupsOfUser[name] ?? [])
        return [.user(name)] + groups.sorted().map { .group($0) } + [.everyone]
    }

    /// Returns the rights of a principal to a resource, without its limit. Unlike ``view(of:)``, keeps nothing in memory,
    /// and takes time linear in the rules that concern the principal.
    /// - Parameter path: a canonical path.
    public func granted(to principal: Principal, at path: ResourcePath) -> Rights {
        explain(principal, at: path).reduce(.none) { $0.union($1.rights) }
    }

    /// Returns the rules that determine the rights of a principal to a resource: one rule, or those of several groups in
    /// one folder, including those that follow from home folders. Empty if no rule concerns the principal. Takes time
    /// linear in the rules that concern it.
    ///
    /// The limit of the principal is not a rule: it can leave fewer rights.
    /// - Parameter path: a canonical path.
    public func explain(_ principal: Principal, at path: ResourcePath) -> [AccessRule] {
        let key = path.equivalenceKey
        let subjects = subjects(of: principal)
        let implied = homeRules(for: principal)
        var deepest: [AccessRule] = []
        var next: ResourcePath? = key
        while let folder = next, deepest.isEmpty {
            let own = byPlace[folder] ?? [:]
            deepest = subjects.compactMap { own[$0] }
            deepest += implied.filter { own[$0.subject] == nil && $0.path.equivalenceKey == folder }
            next = folder.parent
        }
        let users = deepest.filter { if case .user = $0.subject { true } else { false } }
        if !users.isEmpty { return users }
        let groups = deepest.filter { if case .group = $0.subject { true } else { false } }
        return groups.isEmpty ? deepest : groups
    }
}
