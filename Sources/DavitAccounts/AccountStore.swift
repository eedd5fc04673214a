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
    /// - Throws: `outdated` if another server has made changes that this object has not read.
    /// - Parameter check: called when all changes are valid and before they are committed. If it throws, nothing is changed.
    func commit(_ changes: [AccountChange], check: () throws(AccountError) -> Void) throws(AccountError)

    /// Whether other servers can change the accounts.
    var isShared: Bool { get }

    /// Whether ``contents()`` would return what it returned last, with the changes of this object since then.
    func isCurrent() throws(AccountError) -> Bool

    /// Called when what was read or committed last is in effect.
    func didApply()

    /// Returns all sessions, in no particular order.
    func sessions() throws(AccountError) -> [StoredSession]

    /// Returns the session with a token of this hash; nil if there is none.
    func session(withHash hash: [UInt8]) throws(AccountError) -> StoredSession?

    /// Returns the sessions among some that exist, and when they were used, in seconds since 1970.
    func uses(ofSessions ids: [Int64]) throws(AccountError) -> [Int64: Int64]

    /// Commits all changes in order, or none. A change of the secret of an account, or disabling or removing it,
    /// also removes its sessions.
    func commitSessions(_ changes: [SessionChange]) throws(AccountError)
}

extension AccountStore {
    public var isShared: Bool { false }
    public func isCurrent() throws(AccountError) -> Bool { true }
    public func didApply() {}

    public func session(withHash hash: [UInt8]) throws(AccountError) -> StoredSession? {
        try sessions().first { $0.tokenHash == hash }
    }

    public func uses(ofSessions ids: [Int64]) throws(AccountError) -> [Int64: Int64] {
        let wanted = Set(ids)
        let found = try sessions().filter { wanted.contains($0.id) }
        return Dictionary(found.map { ($0.id, $0.usedAt) }) { first, _ in first }
    }

    /// Commits all changes in order, or none.
    public func commit(_ changes: [AccountChange]) throws(AccountError) {
        try commit(changes) { () throws(AccountError) in }
    }
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
    /// The folder, or one that contains it, is being moved or removed.
    case isMoving(ResourcePath)
    /// The store contains ``AccountContents/ruleLimit`` rules that apply, or as many in the trash.
    case tooManyRules
    /// The rules at the destination of a move exist, or another move concerns the same folders.
    case moveConflict
    /// The move has ended or never began.
    case unknownMove(id: Int64)
    case unknownAppPassword(account: String, id: String)
    /// The ID is in use.
    case appPasswordExists(id: String)
    /// The account has ``StoredAppPassword/limitPerAccount`` app passwords.
    case tooManyAppPasswords(account: String)
    /// See ``StoredAppPassword/isLabel(_:)``.
    case badLabel
    /// The account that makes the changes lacks a right.
    case notPermitted(AccountEditor.Refusal)
    /// The password of the account that makes the changes has changed since it was checked.
    case credentialChanged
    /// Another server has changed the accounts since they were read.
    case outdated
    case noSecondFactor(String)
    case unknownSession(Int64)
    /// The code, or a later one, was used before, or there is no second factor.
    case codeNotUsable(String)
    /// A change that is valid but has no effect, or is not possible in this share.
    case refused(reason: String)
    /// An error of the disk, or a database that cannot be read. The reason can contain paths of the server.
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
        case .isMoving(let path): "\(path) is being moved or removed; try again"
        case .tooManyRules:
            """
            there are \(AccountContents.ruleLimit) rules, or as many of folders in the trash; remove some, use groups in \
            place of users, or empty the trash
            """
        case .moveConflict: "there are rules at the destination, or another move has not ended"
        case .unknownMove(let id): "there is no move \(id)"
        case .unknownAppPassword(let account, let id): "'\(account)' has no app password '\(id)'"
        case .appPasswordExists(let id): "app password '\(id)' exists"
        case .tooManyAppPasswords(let account):
            "'\(account)' has \(StoredAppPassword.limitPerAccount) app passwords; revoke one first"
        case .badLabel:
            "a device name must have 1 to \(StoredAppPassword.labelLimitBytes) bytes without control characters"
        case .notPermitted(let refusal): refusal.text
        case .credentialChanged: "the password has changed in the meantime; sign in again"
        case .outdated: "another server is changing the accounts; try again"
        case .noSecondFactor(let name): "'\(name)' has no second factor"
        case .unknownSession(let id): "there is no session '\(id)'"
        case .codeNotUsable(let name): "the code of '\(name)' was used before"
        case .refused(let reason), .failed(let reason): reason
        }
    }
}
