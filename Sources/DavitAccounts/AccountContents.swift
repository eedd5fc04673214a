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
    /// Maximum number of rules in a store that apply, and of those in the trash, without the copies that a move makes until
    /// it ends. Each change of rules takes time linear in their number.
    public static let ruleLimit = 10_000

    /// The accounts, sorted by the bytes of their names.
    public var accounts: [StoredAccount]
    /// The names of the members of each group.
    public var groups: [String: Set<String>]
    /// The rules, sorted by the bytes of their paths, then by subject.
    public var rules: [AccessRule]
    /// The app passwords of each account that has some, sorted by their IDs.
    public var appPasswords: [String: [StoredAppPassword]]
    /// The second factor of each account that has one.
    public var secondFactors: [String: StoredSecondFactor]
    /// The rules of folders in the trash, by the ids of their entries.
    public var trashedRules: [String: TrashedRules]
    /// The moves of rules that have begun and not ended, by their ids.
    public var ruleMoves: [Int64: RuleMove]

    public init(
        accounts: [StoredAccount] = [], groups: [String: Set<String>] = [:], rules: [AccessRule] = [],
        appPasswords: [String: [StoredAppPassword]] = [:], secondFactors: [String: StoredSecondFactor] = [:],
        trashedRules: [String: TrashedRules] = [:], ruleMoves: [Int64: RuleMove] = [:]
    ) {
        self.accounts = accounts
        self.groups = groups
        self.rules = rules
        self.appPasswords = appPasswords
        self.secondFactors = secondFactors
        self.trashedRules = trashedRules
        self.ruleMoves = ruleMoves
    }
}

/// The rules of a folder that was moved or removed, for what the trash contains of it.
public struct TrashedRules: Hashable, Sendable {
    /// The path that the folder had.
    public let folder: ResourcePath
    /// Not empty. The paths are relative to the folder; sorted like ``AccountContents/rules``.
    public var rules: [AccessRule]

    public init(folder: ResourcePath, rules: [AccessRule]) {
        self.folder = folder
        self.rules = rules
    }

    /// The rules with their original paths.
    /// - Parameter folder: nil for the original path of the folder.
    func placed(at folder: ResourcePath? = nil) -> [AccessRule] {
        rules.compactMap { $0.moved(from: 0, to: folder ?? self.folder) }
    }
}

/// A change of accounts, groups or rules.
public enum AccountChange: Hashable, Sendable {
    case addAccount(StoredAccount)
    /// Sets the password of an account, and removes its app passwords: anyone who knew the old password may have created some.
    case setSecret(account: String, secret: String)
    case setEnabled(account: String, isEnabled: Bool)
    /// Removes an account with its rules, memberships and app passwords.
    case removeAccount(String)
    case addGroup(String)
    /// Removes a group with its rules and memberships.
    case removeGroup(String)
    case addMember(account: String, group: String)
    case removeMember(account: String, group: String)
    /// Sets the rights of a subject in a folder, in place of an earlier rule for both.
    case setRule(AccessRule)
    case removeRule(AccessRule.Subject, ResourcePath)
    /// Copies the rules at the source of a move to its destination, and records the move.
    case beginRuleMove(RuleMove)
    /// Removes the record of a move, and the rules at its source or its destination.
    case endRuleMove(id: Int64, RuleMove.Outcome)
    /// Removes the rules of a folder that was removed from the trash, if there are any.
    case removeTrashedRules(id: String)
    case addAppPassword(StoredAppPassword)
    case removeAppPassword(account: String, id: String)
    /// Records the last use of an app password, if it still exists.
    case recordUse(account: String, id: String, StoredAppPassword.Use)
    /// Sets the second factor of an account, or removes it, and removes the sessions of the account.
    /// - Parameter keepingSession: the ID of a session that is not removed.
    case setSecondFactor(account: String, StoredSecondFactor?, keepingSession: Int64?)
    /// Records that the code of a time step was used.
    case useCode(account: String, step: Int64)
    /// Removes a recovery code.
    case useRecoveryCode(account: String, hash: [UInt8])

    /// Whether the change only records that a credential was used.
    var isUse: Bool {
        switch self {
        case .recordUse, .useCode, .useRecoveryCode: true
        default: false
        }
    }

    /// Whether the change concerns only the rules of one share.
    var isOfRules: Bool {
        switch self {
        case .setRule, .removeRule: true
        default: isRuleMove
        }
    }

    /// Whether the change only moves rules with their folder.
    var isRuleMove: Bool {
        switch self {
        case .beginRuleMove, .endRuleMove, .removeTrashedRules: true
        default: false
        }
    }
}
