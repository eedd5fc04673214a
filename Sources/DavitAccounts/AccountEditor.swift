public import DavitAccess
public import DavitHTTP

/// An account that changes accounts, groups and rules, and may do so only within its rights.
///
/// With the right to manage a folder, it may change the rules in that folder and below, but grant only rights that it has
/// itself, there or in a folder above that it manages. With the right to manage the root, it is an administrator and may also
/// change accounts and groups. Every account may change its own app passwords.
public struct AccountEditor: Sendable {
    /// The reason why changes are refused.
    public enum Refusal: Hashable, Sendable {
        /// The right to manage the folder is missing.
        case notManager(ResourcePath)
        /// The change would grant rights that the account does not have itself.
        case grantsMore(Rights, ResourcePath)
        /// There are ``ruleLimit`` rules in a folder that the account manages, and below it, with those of folders in
        /// the trash.
        case tooManyRules(ResourcePath)
        /// No account that can be used would have the right to manage the root.
        case lastAdministrator

        /// A message for people.
        public var text: String {
            switch self {
            case .notManager(let path): "the right to manage \(path) is required"
            case .grantsMore(let rights, let path):
                "this would grant rights in \(path) that you do not have: \(rights)"
            case .tooManyRules(let path):
                """
                there are \(AccountEditor.ruleLimit) rules in \(path) and below it, with those of folders in the \
                trash; remove some, use groups in place of users, empty the trash, or ask an administrator
                """
            case .lastAdministrator: "at least one enabled account must have the right to manage the root"
            }
        }
    }

    /// Maximum number of rules in a folder and below it, with those of folders in the trash, that an account which manages only this folder can cause.
    public static let ruleLimit = 1_000

    typealias Version = (contents: AccountContents, rules: AccessRules)

    let principal: Principal

    public init(_ principal: Principal) { self.principal = principal }

    /// Checks changes before they are committed.
    /// - Throws: `notPermitted`.
    func check(
        _ changes: [AccountChange], from before: Version, to after: Version
    ) throws(AccountError) {
        // The account may have been disabled while its request was waiting.
        if let name = principal.name, before.contents.account(named: name)?.isEnabled == false {
            throw .notPermitted(.notManager(.root))
        }
        let own = before.rules.view(of: principal)
        for change in changes {
            switch change {
            case .setRule(let rule):
                try require(rule.rights, at: rule.path, own)
                try checkCount(of: rule, from: before, to: after, own)
            case .removeRule(let subject, let path):
                try require(.none, at: path, own)
                // Without the rule, those of the folders above apply, which may grant more.
                for account in Self.accounts(of: subject, in: after.contents) {
                    let principal = Principal(.account, account)
                    let gained = after.rules.granted(to: principal, at: path)
                        .subtracting(before.rules.granted(to: principal, at: path))
                    try require(gained, at: path, own)
                }
                let gained = Self.gainedByOthers(removing: subject, at: path, from: before, to: after)
                try require(gained, at: path, own)
            // Own app passwords. They never have a right that their account does not have.
            case .addAppPassword(let password) where isOwn(password.account): break
            case .removeAppPassword(let account, _) where isOwn(account): break
            default: try require(.none, at: .root, own)
            }
        }
        if Self.hasAdministrator(after) { return }
        // Administrators can also be users without an account here, whose groups are known only when they sign in.
        let isAdministrator = own.rights(at: .root).contains(.manage)
        let remainsAdministrator = after.rules.granted(to: principal, at: .root).contains(.manage)
        if Self.hasAdministrator(before) || (isAdministrator && !remainsAdministrator) {
            throw .notPermitted(.lastAdministrator)
        }
    }

    /// Returns an upper limit of the rights that clients without an account here gain when a rule is removed: clients that
    /// have not signed in, and users with groups that only their login brings with it.
    private static func gainedByOthers(
        removing subject: AccessRule.Subject, at path: ResourcePath, from before: Version, to after: Version
    ) -> Rights {
        // No account can have this name.
        func user(_ groups: Set<String>) -> Principal { Principal(.account, "\u{1}", groups: groups) }
        switch subject {
        case .user: return .none
        case .anonymous:
            return after.rules.granted(to: .anonymous, at: path)
                .subtracting(before.rules.granted(to: .anonymous, at: path))
        case .everyone, .group:
            // Several groups add up, so consider them together.
            var gained = after.rules.granted(to: user([]), at: path)
            for group in after.contents.groups.keys {
                gained.formUnion(after.rules.granted(to: user([group]), at: path))
            }
            var own: Set<String> = []
            if case .group(let name) = subject { own = [name] }
            return gained.subtracting(before.rules.granted(to: user(own), at: path))
        }
    }

    /// Checks that the account may grant rights in a folder; without rights, that it may change the rules in it.
    ///
    /// The rights that it has in folders above count, too: it can change the rules that take them away below.
    private func require(
        _ rights: Rights, at path: ResourcePath, _ own: any AccessView
    ) throws(AccountError) {
        var grantable = own.rights(at: path)
        var isManaged = grantable.contains(.manage)
        var above = path.parent
        while let folder = above {
            let rights = own.rights(at: folder)
            if rights.contains(.manage) {
                grantable.formUnion(rights)
                isManaged = true
            }
            above = folder.parent
        }
        guard isManaged else { throw .notPermitted(.notManager(path)) }
        let missing = rights.subtracting(grantable)
        if !missing.isEmpty { throw .notPermitted(.grantsMore(missing, path)) }
    }

    /// Checks that the topmost folder which contains a rule and which the account manages does not contain too many, with
    /// those of folders in the trash.
    private func checkCount(
        of rule: AccessRule, from before: Version, to after: Version, _ own: any AccessView
    ) throws(AccountError) {
        var topmost = rule.path
        var above = rule.path.parent
        while let folder = above {
            if own.rights(at: folder).contains(.manage) { topmost = folder }
            above = folder.parent
        }
        // Only the limit of the store applies to administrators.
        if topmost.isRoot { return }
        let key = topmost.equivalenceKey
        func count(_ version: Version) -> Int {
            let contents = version.contents
            let trashed = contents.trashedRules.values.filter { key.contains($0.folder.equivalenceKey) }
            return contents.rules.count { key.contains($0.path.equivalenceKey) }
                + trashed.reduce(0) { $0 + $1.rules.count }
        }
        let number = count(after)
        if number > Self.ruleLimit, number > count(before) { throw .notPermitted(.tooManyRules(topmost)) }
    }

    /// Whether an account is that of the editor, who has signed in as a person.
    private func isOwn(_ account: String) -> Bool {
        principal.name == account && principal.kind != .appPassword && principal.kind != .link
    }

    private static func accounts(of subject: AccessRule.Subject, in contents: AccountContents) -> [String] {
        switch subject {
        case .user(let name): [name]
        case .group(let name): Array(contents.groups[name] ?? [])
        case .everyone: contents.accounts.map(\.name)
        case .anonymous: []
        }
    }

    private static func hasAdministrator(_ version: Version) -> Bool {
        version.contents.accounts.contains { account in
            account.isEnabled
                && version.rules.granted(to: Principal(.account, account.name), at: .root).contains(.manage)
        }
    }
}
