public import DavitAccess
public import DavitHTTP

/// Storage for accounts, groups and rules. Calls may block.
///
/// A store keeps names, members and rules consistent, also when several processes change them: a rule or a
/// membership never refers to an account or a group that does not exist.
public protocol AccountStore: Sendable {
    /// Returns everything, as of one moment. Takes time linear in the number of rows.
    func contents() throws(AccountError) -> AccountContents

    /// Commits all changes in order, or none. They are durable when the call returns.
    func commit(_ changes: [AccountChange]) throws(AccountError)
}

/// The reason why accounts, groups or rules were not changed or read.
public enum AccountError: Error, Hashable, Sendable {
    case accountExists(String)
    case unknownAccount(String)
    case groupExists(String)
    case unknownGroup(String)
    case isMember(account: String, group: String)
    case isNotMember(account: String, group: String)
    case noRule(AccessRule.Subject, ResourcePath)
    /// An error of the disk, or a database that cannot be read.
    case failed(reason: String)

    /// A message for administrators.
    public var text: String {
        switch self {
        case .accountExists(let name): "account '\(name)' exists"
        case .unknownAccount(let name): "there is no account '\(name)'"
        case .groupExists(let name): "group '\(name)' exists"
        case .unknownGroup(let name): "there is no group '\(name)'"
        case .isMember(let account, let group): "'\(account)' is a member of '\(group)'"
        case .isNotMember(let account, let group): "'\(account)' is not a member of '\(group)'"
        case .noRule(let subject, let path): "there is no rule for \(subject) in \(path)"
        case .failed(let reason): reason
        }
    }
}
