public import DavitAccess
public import DavitHTTP

/// An account as it is stored.
public struct StoredAccount: Hashable, Sendable {
    /// Names that are canonically equivalent in Unicode are one name.
    public let name: String
    /// The hash of the password, as `davit password` prints it.
    public var secret: String
    /// Whether the account can be used. A disabled account keeps its rules and groups.
    public var isEnabled: Bool

    public init(name: String, secret: String, isEnabled: Bool = true) {
        self.name = name
        self.secret = secret
        self.isEnabled = isEnabled
    }
}

/// Everything that an ``AccountStore`` contains.
public struct AccountContents: Hashable, Sendable {
    /// The accounts, sorted by the bytes of their names.
    public var accounts: [StoredAccount]
    /// The names of the members of each group.
    public var groups: [String: Set<String>]
    /// The rules, sorted by the bytes of their paths, then by subject.
    public var rules: [AccessRule]

    public init(
        accounts: [StoredAccount] = [], groups: [String: Set<String>] = [:], rules: [AccessRule] = []
    ) {
        self.accounts = accounts
        self.groups = groups
        self.rules = rules
    }
}

/// A change of accounts, groups or rules.
public enum AccountChange: Hashable, Sendable {
    case addAccount(StoredAccount)
    case setSecret(account: String, secret: String)
    case setEnabled(account: String, isEnabled: Bool)
    /// Removes an account with its rules and memberships.
    case removeAccount(String)
    case addGroup(String)
    /// Removes a group with its rules and memberships.
    case removeGroup(String)
    case addMember(account: String, group: String)
    case removeMember(account: String, group: String)
    /// Sets the rights of a subject in a folder, in place of an earlier rule for both.
    case setRule(AccessRule)
    case removeRule(AccessRule.Subject, ResourcePath)
}
