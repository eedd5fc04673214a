internal import DavitAccess
package import DavitAccounts
internal import DavitEngine
internal import DavitHTTP
package import DavitServer
internal import DavitStore
internal import DavitSystem
internal import Synchronization

/// Lists and changes accounts, groups and rules for an administrator, in the server or, if none is running, in
/// the command. Calls block.
package final class AccountAdmin: Sendable {
    /// Where the accounts are.
    package enum Source: Sendable {
        case directory(AccountDirectory)
        /// No server is running, and there is no database yet; the first account creates it in this folder.
        case missing(folder: String)
        /// The server was started without a database of accounts.
        case notInUse
    }

    let source: Source
    /// The realm and the schemes that passwords must be usable with; nil in a command, which does not know those of the
    /// server.
    let settings = Mutex<AuthenticationSettings?>(nil)
    /// What admits clients with the accounts; nil in a command, and without a server of this library.
    let authentication = Mutex<Authentication?>(nil)
    /// The sessions of browsers in the server; nil in a command, and for servers without a browser page.
    let sessions = Mutex<(any SessionAdministration)?>(nil)
    /// Whether changes can be recorded in the audit log.
    private let admits: @Sendable () -> Bool
    let log: @Sendable (_ change: String, _ origin: String) -> Void
    /// Logs the reason why a change failed.
    let report: @Sendable (_ reason: String) -> Void

    /// - Parameters:
    ///   - admits: whether changes can be recorded in the audit log; otherwise they are refused.
    ///   - log: logs each change, with the origin of the request.
    ///   - report: logs the reason why a request over HTTP failed, which its client does not learn.
    package init(
        _ source: Source, admits: @escaping @Sendable () -> Bool = { true },
        log: @escaping @Sendable (_ change: String, _ origin: String) -> Void = { _, _ in },
        report: @escaping @Sendable (_ reason: String) -> Void = { _ in }
    ) {
        self.source = source
        self.admits = admits
        self.log = log
        self.report = report
    }

    /// Sets the settings of the authentication that uses the accounts.
    package func use(_ settings: AuthenticationSettings) { self.settings.withLock { $0 = settings } }

    /// Sets what admits clients with the accounts.
    package func use(_ authentication: Authentication) {
        self.authentication.withLock { $0 = authentication }
    }

    /// Sets the sessions of browsers.
    package func use(_ sessions: any SessionAdministration) { self.sessions.withLock { $0 = sessions } }

    /// - Parameters:
    ///   - share: the share without the restrictions of a client.
    ///   - origin: the origin of the request, for the log.
    func answer(_ request: AccountRequest, share: Share, from origin: String) -> ControlResponse {
        do throws(AccountError) {
            switch request {
            case .accounts(let skipped):
                return page(try contents().accounts, skipped) {
                    .account(name: $0.name, isEnabled: $0.isEnabled)
                }
            case .members(let skipped):
                let groups = try contents().groups.sorted { $0.key < $1.key }
                let pairs = groups.flatMap { group, members in
                    members.isEmpty ? [(group, nil)] : members.sorted().map { (group, Optional($0)) }
                }
                return page(pairs, skipped) { .member(group: $0.0, account: $0.1) }
            case .rules(let skipped):
                let stored = try contents().rules.map { AccountListLine.rule($0) }
                let implied = try directory()?.impliedRules.map { AccountListLine.homeRule($0) } ?? []
                return page(stored + implied, skipped) { $0 }
            case .appPasswords(let account, let skipped):
                return page(try appPasswords(of: account), skipped) { .appPassword($0) }
            case .addAppPassword(let new):
                let issued = try issue(new, on: share, by: nil, from: origin)
                return .lines([AccountListLine.issued(id: issued.id, password: issued.password.text).text])
            case .sessions(let account, let skipped):
                return page(try sessions(of: account), skipped) { .session($0) }
            case .endSession(let id):
                try endSession(id, from: origin)
                return .lines([])
            case .explain(let client, let path): return .lines(try explain(client, path, share))
            case .review(let skipped): return page(try findings(share), skipped) { .finding($0) }
            case .change(let changes):
                try commit(changes, on: share, by: nil, from: origin)
                return .lines([])
            }
        } catch {
            return .refused(reason: error.text)
        }
    }

    private func page<Item>(_ items: [Item], _ skipped: Int, _ line: (Item) -> AccountListLine)
        -> ControlResponse
    {
        .lines(items.dropFirst(skipped).prefix(ControlResponse.limitLines).map { line($0).text })
    }

    func contents() throws(AccountError) -> AccountContents {
        try directory()?.contents ?? AccountContents()
    }

    static let reasonNotInUse = """
        the server was started without an account database; stop it, add an account, and start it again
        """

    // MARK: Changes

    /// - Throws: `refused` if a change could not be recorded.
    func checkAudit() throws(AccountError) {
        if !admits() { throw .refused(reason: "the audit log of the server cannot be written") }
    }

    /// Commits all changes, or none.
    /// - Parameters:
    ///   - editor: the account that makes the changes; nil for the owner of the server.
    ///   - origin: the origin of the request, for the log.
    func commit(
        _ changes: [AccountChange], on share: Share, by editor: AccountEditor?, from origin: String
    ) throws(AccountError) {
        try checkAudit()
        var checked: [AccountChange] = []
        for change in changes { checked.append(try check(change, on: share)) }
        switch source {
        case .directory(let directory):
            try directory.commit(checked, by: editor)
            for change in checked { log(change.summary, origin) }
        case .missing(let folder):
            // With a database, clients must sign in, which would be impossible without an account in it.
            guard case .addAccount? = checked.first else {
                throw .refused(reason: "there are no accounts yet; add one first: davit account add")
            }
            try AccountDirectory(SQLiteAccountStore(folder: folder)).commit(checked)
        case .notInUse: throw .refused(reason: Self.reasonNotInUse)
        }
    }

    /// Creates an app password and stores what verifies it.
    /// - Parameter credential: identifies the password of the account that permits it; nil for the owner of the server.
    /// - Returns: the password, which is not stored, and its ID.
    /// - Throws: `credentialChanged` if the account has another password now.
    func issue(
        _ new: NewAppPassword, on share: Share, by editor: AccountEditor?, with credential: UInt64? = nil,
        from origin: String
    ) throws(AccountError) -> (password: AppPassword, id: String) {
        try checkAudit()
        guard let directory = try directory(), let account = directory.credentials(of: new.account)?.account
        else { throw .unknownAccount(new.account) }
        if let days = new.days, !(NewAppPassword.dayRange ~= days) {
            throw .refused(
                reason: "an app password can be valid for 1 to \(NewAppPassword.dayRange.upperBound) days")
        }
        var new = new
        if let path = new.path { new.path = try folder(path, in: share) }
        // The password can be used with Digest in this realm.
        let realm = settings.withLock { $0 }?.realm ?? AuthenticationSettings().realm
        let (password, id) = (AppPassword(), AppPassword.makeID())
        let secret: String
        do throws(Accounts.Problem) {
            secret = try password.secret(account: account.name, realm: realm)
        } catch {
            throw .refused(reason: "cannot create an app password: \(error.text)")
        }
        let now = Clock.wallNow() / 1_000_000_000
        let change = AccountChange.addAppPassword(
            StoredAppPassword(
                id: id, account: account.name, label: new.label, secret: secret, limit: new.limit,
                created: now,
                expiry: new.days.map { now + Int64($0) * 86_400 }))
        let authentication = authentication.withLock { $0 }
        try directory.commit(
            [change], by: editor,
            if: {
                guard let credential, let authentication else { return true }
                return authentication.number(of: account.name) == credential
            })
        log(change.summary, origin)
        return (password, id)
    }

    /// Refuses changes that are valid but useless, and replaces the paths of rules by canonical ones.
    private func check(
        _ change: AccountChange, on share: Share
    ) throws(AccountError) -> AccountChange {
        switch change {
        case .addAccount(let account): try check(account.name, account.secret)
        case .setSecret(let account, let secret): try check(account, secret)
        case .addGroup(let group):
            guard 1...Accounts.limitBytes ~= group.utf8.count, !group.utf8.contains(where: \.isControl) else {
                throw .refused(
                    reason: """
                        a group name must have 1 to \(Accounts.limitBytes) bytes without control characters
                        """)
            }
        case .setRule(let rule):
            return .setRule(AccessRule(rule.subject, try folder(rule.path, in: share), rule.rights))
        default: break
        }
        return change
    }

    /// Returns the canonical path of a folder in the share.
    func folder(_ path: ResourcePath, in share: Share) throws(AccountError) -> ResourcePath {
        guard let found = try lookup(path, in: share), found.info?.isCollection == true else {
            throw .refused(reason: "\(path) is not a folder in the share: create it first")
        }
        return found.path
    }

    /// Checks that the server can use an account.
    private func check(_ name: String, _ secret: String) throws(AccountError) {
        let settings = settings.withLock { $0 }
        var accounts = Accounts(settings ?? AuthenticationSettings())
        do throws(Accounts.Problem) { try accounts.add(name: name, hash: secret) } catch {
            // A command does not know the realm of the server.
            if error == .otherRealm, settings == nil { return }
            throw .refused(reason: "cannot use account '\(name)': \(error.text)")
        }
        if accounts.schemes.isEmpty {
            throw .refused(reason: "cannot use account '\(name)': \(Accounts.Problem.noScheme.text)")
        }
    }

    /// Returns the canonical path of a resource that is served; nil if there is none.
    func lookup(_ path: ResourcePath, in share: Share) throws(AccountError) -> Lookup? {
        do throws(StoreError) {
            let found = try share.lookUpServed(path)
            return found.info == nil ? nil : found
        } catch {
            throw .failed(reason: "cannot look up \(path): \(error.text)")
        }
    }
}

extension AccountChange {
    /// What changes, for the log; without passwords.
    var summary: String {
        switch self {
        case .addAccount(let account): "add account \(account.name)"
        case .setSecret(let account, _): "set password of \(account)"
        case .setEnabled(let account, let isEnabled): "\(isEnabled ? "enable" : "disable") account \(account)"
        case .removeAccount(let account): "remove account \(account)"
        case .addGroup(let group): "add group \(group)"
        case .removeGroup(let group): "remove group \(group)"
        case .addMember(let account, let group): "add \(account) to group \(group)"
        case .removeMember(let account, let group): "remove \(account) from group \(group)"
        case .setRule(let rule): "set rule \(rule.subject) \(rule.path) \(rule.rights)"
        case .removeRule(let subject, let path): "remove rule \(subject) \(path)"
        case .beginRuleMove, .endRuleMove: "move rules"
        case .removeTrashedRules(let id): "remove the rules of trash entry \(id)"
        case .addAppPassword(let password):
            "add app password \(password.id) '\(password.label)' of \(password.account)"
        case .removeAppPassword(let account, let id): "remove app password \(id) of \(account)"
        case .recordUse(let account, let id, _): "record use of app password \(id) of \(account)"
        case .setSecondFactor(let account, let factor, _):
            "\(factor == nil ? "remove" : "set") second factor of \(account)"
        case .useCode(let account, _): "record use of a code of \(account)"
        case .useRecoveryCode(let account, _): "record use of a recovery code of \(account)"
        }
    }
}
