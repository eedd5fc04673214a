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
        var onChange: (@Sendable () -> Void)?
    }

    private let store: any AccountStore
    private let state: Mutex<State>
    /// Held during a commit, so that the contents in memory follow the order of the store.
    private let commits = Mutex(())

    /// Reads the store. Blocks.
    public init(_ store: any AccountStore) throws(AccountError) {
        self.store = store
        let contents = try store.contents()
        state = Mutex(State(contents: contents, rules: try Self.rules(contents)))
    }

    public var contents: AccountContents { state.withLock { $0.contents } }

    /// Commits all changes, or none, and puts them into effect. Blocks.
    public func commit(_ changes: [AccountChange]) throws(AccountError) {
        try commits.withLock { _ throws(AccountError) in
            try store.commit(changes)
            let contents = try store.contents()
            let rules = try Self.rules(contents)
            let onChange = state.withLock { state in
                state.contents = contents
                state.rules = rules
                return state.onChange
            }
            onChange?()
        }
    }

    /// Sets an action that runs after each change, before ``commit(_:)`` returns.
    public func onChange(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = action }
    }

    private static func rules(_ contents: AccountContents) throws(AccountError) -> AccessRules {
        do throws(AccessRules.Problem) {
            return try AccessRules(contents.rules, groups: contents.groups)
        } catch {
            switch error {
            case .duplicate(let rule):
                throw .failed(reason: "there are two rules for \(rule.subject) in \(rule.path)")
            case .unknownGroup(let rule):
                throw .failed(reason: "a rule in \(rule.path) refers to an unknown group")
            }
        }
    }

    // MARK: Policy

    private var rules: AccessRules { state.withLock { $0.rules } }

    public func view(of principal: Principal) -> any AccessView { rules.view(of: principal) }

    public func isPlace(_ path: ResourcePath) -> Bool { rules.isPlace(path) }

    /// Returns the rules that determine the rights of a principal to a resource; see ``AccessRules/explain(_:at:)``.
    public func explain(_ principal: Principal, at path: ResourcePath) -> [AccessRule] {
        rules.explain(principal, at: path)
    }
}
