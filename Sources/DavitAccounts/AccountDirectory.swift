public import DavitAccess
public import DavitHTTP
internal import Synchronization

/// The accounts, groups and rules of a server, in memory and in a store.
///
/// It is also the access policy: a change is in effect for each request that begins after ``commit(_:)``
/// returns. Rights never exceed those of the last contents that could be read.
public final class AccountDirectory: AccessPolicy {
    private struct State {
        var contents: AccountContents
        var rules: AccessRules
        /// Whether a rule concerns clients that have not signed in.
        var admitsAnonymous: Bool
        var onChange: (@Sendable (_ accounts: Set<String>) -> Void)?
    }

    /// Identifies an app password.
    private struct UsedPassword: Hashable {
        let account: String
        let id: String
    }

    /// Counts the changes of rules and groups.
    public let changes: AccessChangeCounter? = AccessChangeCounter()
    private let store: any AccountStore
    /// See ``DavitAccess/AccessRules``.
    public let homes: ResourcePath?
    private let state: Mutex<State>
    /// Held during a commit, so that the contents in memory follow the order of the store.
    private let commits = Mutex(())
    /// The uses of app passwords that are not in the store yet.
    private let uses = Mutex<[UsedPassword: StoredAppPassword.Use]>([:])
    private let lastMoveID: Atomic<Int64>

    /// Reads the store. Blocks.
    /// - Parameter homes: the collection that contains the home folder of each account; nil without home folders.
    public init(_ store: any AccountStore, homes: ResourcePath? = nil) throws(AccountError) {
        self.store = store
        self.homes = homes
        let contents = try store.contents()
        // Another server must not use the same ids.
        let first = store.isShared ? Int64.random(in: 0...(1 << 52)) : 0
        lastMoveID = Atomic(max(first, contents.ruleMoves.keys.max() ?? 0))
        state = Mutex(
            State(
                contents: contents, rules: try Self.rules(contents.rules, contents.groups, homes),
                admitsAnonymous: Self.admitAnonymous(contents.rules)))
        store.didApply()
    }

    /// Everything, as of one moment. Do not keep it: a change while a copy exists takes time linear in the number of
    /// accounts.
    public var contents: AccountContents { state.withLock { $0.contents } }

    /// Returns an account with its app passwords, and whether it has a second factor; nil if it does not exist.
    public func credentials(
        of name: String
    ) -> (account: StoredAccount, appPasswords: [StoredAppPassword], hasSecondFactor: Bool)? {
        state.withLock { state in
            state.contents.account(named: name).map {
                ($0, state.contents.appPasswords[name] ?? [], state.contents.secondFactors[name] != nil)
            }
        }
    }

    /// Returns the second factor of an account; nil if it has none.
    public func secondFactor(of name: String) -> StoredSecondFactor? {
        state.withLock { $0.contents.secondFactors[name] }
    }

    /// Commits all changes, or none, and puts them into effect. Blocks. Takes time linear in the number of rules and
    /// members if rights may change, and otherwise independent of the number of accounts.
    /// - Parameters:
    ///   - editor: limits the changes to what an account is permitted; nil for the owner of the server.
    ///   - isCurrent: returns whether the credential that permits the changes is still valid. No other change takes effect
    ///     between this call and the commit.
    /// - Throws: `credentialChanged` if `isCurrent` returns false.
    public func commit(
        _ changes: [AccountChange], by editor: AccountEditor? = nil,
        if isCurrent: () -> Bool = { true }
    ) throws(AccountError) {
        try commits.withLock { _ throws(AccountError) in
            try commit(changes, attempt: 1) { () throws(AccountError) in
                if !isCurrent() { throw .credentialChanged }
                try check(changes, by: editor)
            }
            let (accounts, contents) = state.withLock { state in
                var accounts: Set<String> = []
                for change in changes {
                    if let account = state.contents.apply(change) { accounts.insert(account) }
                }
                return (accounts, changes.contains(where: \.affectsRules) ? state.contents : nil)
            }
            // Credentials that were revoked must not remain in use, whatever else fails. Uses do not change what an
            // account may do, and moves of rules no credentials.
            defer {
                if changes.contains(where: { !$0.isUse && !$0.isRuleMove }) {
                    state.withLock { $0.onChange }?(accounts)
                }
            }
            if let contents {
                let rules = try rules(in: contents, after: changes, from: self.rules)
                let admitsAnonymous = Self.admitAnonymous(contents.rules)
                state.withLock { ($0.rules, $0.admitsAnonymous) = (rules, admitsAnonymous) }
                self.changes?.increment()
            }
            store.didApply()
        }
    }

    /// How often a change is tried while other servers make changes.
    private static let attemptLimit = 8

    private func commit(
        _ changes: [AccountChange], attempt: Int, check: () throws(AccountError) -> Void
    ) throws(AccountError) {
        do throws(AccountError) { try store.commit(changes, check: check) } catch {
            guard error == .outdated, attempt < Self.attemptLimit else { throw error }
            try reload()
            try commit(changes, attempt: attempt + 1, check: check)
        }
    }

    /// Puts changes of other servers into effect. Blocks. Costs one query if there are none.
    /// - Returns: whether there were any.
    @discardableResult
    public func refresh() throws(AccountError) -> Bool {
        if try store.isCurrent() { return false }
        return try commits.withLock { _ throws(AccountError) in
            // A change of this server may have been the reason.
            if try store.isCurrent() { return false }
            try reload()
            return true
        }
    }

    /// Reads everything again. Other changes wait.
    private func reload() throws(AccountError) {
        let new = try store.contents()
        let rules = try Self.rules(new.rules, new.groups, homes)
        let (changed, onChange) = state.withLock { state in
            let changed = state.contents.accountsWithOtherCredentials(than: new)
            state.contents = new
            state.rules = rules
            state.admitsAnonymous = Self.admitAnonymous(new.rules)
            return (changed, state.onChange)
        }
        changes?.increment()
        store.didApply()
        if !changed.isEmpty { onChange?(changed) }
    }

    /// Checks that an account may make changes.
    private func check(_ changes: [AccountChange], by editor: AccountEditor?) throws(AccountError) {
        guard let editor else { return }
        let before = state.withLock { (contents: $0.contents, rules: $0.rules) }
        var after = before
        for change in changes { _ = after.contents.apply(change) }
        if changes.contains(where: \.affectsRules) {
            after.rules = try rules(in: after.contents, after: changes, from: before.rules)
        }
        try editor.check(changes, from: before, to: after)
    }

    /// Returns all sessions in the store. Blocks.
    public func sessions() throws(AccountError) -> [StoredSession] { try store.sessions() }

    /// Whether other servers begin and end sessions in the store.
    package var sharesSessions: Bool { store.isShared }

    /// Returns the session with a token of this hash; nil if there is none. Blocks.
    package func session(withHash hash: [UInt8]) throws(AccountError) -> StoredSession? {
        try store.session(withHash: hash)
    }

    /// Returns the sessions among some that exist, and when they were used. Blocks.
    package func uses(ofSessions ids: [Int64]) throws(AccountError) -> [Int64: Int64] {
        try store.uses(ofSessions: ids)
    }

    /// Commits all changes of sessions, or none. Blocks, but not for changes of accounts to take effect.
    public func commitSessions(_ changes: [SessionChange]) throws(AccountError) {
        try store.commitSessions(changes)
    }

    /// Commits a new session if its credential is still valid, and removes others. A later change of the account removes the
    /// session from the store. Blocks, also for changes of accounts to take effect.
    /// - Parameter isCurrent: returns whether the credential is still valid. No change of an account takes effect between this
    ///   call and the commit.
    /// - Returns: whether `isCurrent` returned true. Otherwise, nothing has changed.
    public func add(
        _ session: StoredSession, removing ids: [Int64], if isCurrent: () -> Bool
    ) throws(AccountError) -> Bool {
        try commits.withLock { _ throws(AccountError) in
            guard isCurrent() else { return false }
            try store.commitSessions(ids.map { .remove(id: $0) } + [.add(session)])
            return true
        }
    }

    /// Sets an action that runs after each commit that does more than record uses or move rules, before ``commit(_:)`` returns.
    /// - Parameter action: receives the names of the accounts whose credentials may have changed.
    public func onChange(_ action: @escaping @Sendable (_ accounts: Set<String>) -> Void) {
        state.withLock { $0.onChange = action }
    }

    private static func admitAnonymous(_ rules: [AccessRule]) -> Bool {
        rules.contains { $0.subject == .anonymous && !$0.rights.isEmpty }
    }

    /// Returns the rules after changes. Only changes that are rare create all of them again.
    private func rules(
        in contents: AccountContents, after changes: [AccountChange], from previous: AccessRules
    ) throws(AccountError) -> AccessRules {
        guard changes.count == 1 else { return try Self.rules(contents.rules, contents.groups, homes) }
        switch changes[0] {
        case .setRule(let rule): return previous.replacing(rule.subject, rule.path, with: rule)
        case .removeRule(let subject, let path): return previous.replacing(subject, path, with: nil)
        case .addGroup, .addMember, .removeMember: return previous.replacing(groups: contents.groups)
        default: return try Self.rules(contents.rules, contents.groups, homes)
        }
    }

    private static func rules(
        _ rules: [AccessRule], _ groups: [String: Set<String>], _ homes: ResourcePath?
    ) throws(AccountError) -> AccessRules {
        do throws(AccessRules.Problem) {
            return try AccessRules(rules, groups: groups, homes: homes)
        } catch {
            switch error {
            case .duplicate(let rule):
                throw .failed(reason: "there are two rules for \(rule.subject) in \(rule.path)")
            case .unknownGroup(let rule):
                throw .failed(reason: "a rule in \(rule.path) refers to an unknown group")
            }
        }
    }

    // MARK: Uses of app passwords

    /// Records the last use of an app password. Does not block; ``storeUses()`` writes it.
    public func recordUse(account: String, id: String, _ use: StoredAppPassword.Use) {
        uses.withLock { $0[UsedPassword(account: account, id: id)] = use }
    }

    /// Commits the recorded uses, if there are any; keeps them if this fails. Blocks.
    public func storeUses() throws(AccountError) {
        let uses = uses.withLock { uses in
            defer { uses = [:] }
            return uses
        }
        if uses.isEmpty { return }
        do throws(AccountError) {
            try commit(uses.map { .recordUse(account: $0.key.account, id: $0.key.id, $0.value) })
        } catch {
            self.uses.withLock { $0.merge(uses) { newer, _ in newer } }
            throw error
        }
    }

    // MARK: Moves of rules

    public var openMoves: [RuleMove] {
        state.withLock { state in state.contents.ruleMoves.values.sorted { $0.id < $1.id } }
    }

    public var foldersInTrash: [String: ResourcePath] {
        state.withLock { state in
            let moving = Set(state.contents.ruleMoves.values.flatMap(\.locations))
            return state.contents.trashedRules.filter { !moving.contains(.trash(id: $0.key)) }
                .mapValues(\.folder)
        }
    }

    func hasTrashedRules(_ id: String) -> Bool { state.withLock { $0.contents.trashedRules[id] != nil } }

    func retainsRules(of source: RuleLocation) -> Bool {
        state.withLock { $0.contents.retainsRules(of: source) }
    }

    /// Returns the rules in the trash that concern an entry, together with those that apply to the share: its own, and those
    /// of folders from which it may have come. Nil if there are none.
    func trashedRules(
        _ id: String, at path: ResourcePath
    ) -> (rules: AccessRules, own: TrashedRules?, others: [TrashedRules])? {
        state.withLock { state in
            let all = state.contents.trashedRules
            if all.isEmpty { return nil }
            let key = path.equivalenceKey
            let others = all.filter { other, trashed in
                let folder = trashed.folder.equivalenceKey
                return other != id && folder != key && folder.contains(key)
            }
            let own = all[id]
            return own == nil && others.isEmpty ? nil : (state.rules, own, Array(others.values))
        }
    }

    /// Returns an id that no move in the store has.
    func nextMoveID() -> Int64 { lastMoveID.wrappingAdd(1, ordering: .relaxed).newValue }

    // MARK: Policy

    var rules: AccessRules { state.withLock { $0.rules } }

    public func view(of principal: Principal) -> any AccessView { rules.view(of: principal) }

    /// What clients that have not signed in may do; nil if no rule grants them anything.
    public var anonymousView: (any AccessView)? {
        let rules = state.withLock { $0.admitsAnonymous ? $0.rules : nil }
        return rules?.view(of: .anonymous)
    }

    /// Returns the rules that follow from home folders: that for everyone, and that of each account.
    public var impliedRules: [AccessRule] {
        guard let homes else { return [] }
        let (rules, accounts) = state.withLock { ($0.rules, $0.contents.accounts) }
        let folders = accounts.compactMap { homes.appending(Array($0.name.utf8)) }
        return ([homes] + folders).flatMap { rules.impliedRules(in: $0) }
    }

    public func isPlace(_ path: ResourcePath) -> Bool { rules.isPlace(path) }

    public func entries(at path: ResourcePath) -> [AccessControlEntry] { rules.entries(at: path) }

    /// Returns the rules that determine the rights of a principal to a resource; see ``AccessRules/explain(_:at:)``.
    public func explain(_ principal: Principal, at path: ResourcePath) -> [AccessRule] {
        rules.explain(principal, at: path)
    }
}
