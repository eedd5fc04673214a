internal import DavitAccess
package import DavitAccounts
package import DavitEngine
internal import DavitHTTP
package import DavitServer
internal import DavitStore

/// Lists and changes accounts, groups and rules for an administrator, in the server or, if none is running, in
/// the command. Calls block.
package struct AccountAdmin: Sendable {
    /// Where the accounts are.
    package enum Source: Sendable {
        case directory(AccountDirectory)
        /// No server is running, and there is no database yet; the first account creates it in this folder.
        case missing(folder: String)
        /// The server was started without a database of accounts.
        case notInUse
    }

    private let source: Source
    private let share: Share
    /// The realm and the schemes that passwords must be usable with.
    private let settings: AuthenticationSettings?

    /// - Parameter settings: those of the server; nil in a command, which does not know them.
    package init(_ source: Source, share: Share, settings: AuthenticationSettings?) {
        self.source = source
        self.share = share
        self.settings = settings
    }

    func answer(_ request: AccountRequest) -> ControlResponse {
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
            case .rules(let skipped): return page(try contents().rules, skipped) { .rule($0) }
            case .explain(let account, let path): return .lines(try explain(account, path))
            case .change(let changes):
                try commit(changes)
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

    private func contents() throws(AccountError) -> AccountContents {
        switch source {
        case .directory(let directory): directory.contents
        case .missing: AccountContents()
        case .notInUse: throw .failed(reason: Self.reasonNotInUse)
        }
    }

    private static let reasonNotInUse = """
        the server was started without an account database; stop it, add an account, and start it again
        """

    private func explain(_ account: String, _ path: ResourcePath) throws(AccountError) -> [String] {
        guard case .directory(let directory) = source,
            directory.contents.accounts.contains(where: { $0.name == account })
        else { throw .unknownAccount(account) }
        let path = try lookup(path)?.path ?? path
        let principal = Principal(.account, account)
        let rules = directory.explain(principal, at: path).map { AccountListLine.rule($0).text }
        return [AccountListLine.rights(directory.view(of: principal).rights(at: path)).text] + rules
    }

    // MARK: Changes

    private func commit(_ changes: [AccountChange]) throws(AccountError) {
        var checked: [AccountChange] = []
        for change in changes { checked.append(try check(change)) }
        switch source {
        case .directory(let directory): try directory.commit(checked)
        case .missing(let folder):
            // With a database, clients must sign in, which would be impossible without an account in it.
            guard case .addAccount? = checked.first else {
                throw .failed(reason: "there are no accounts yet; add one first: davit account add")
            }
            try AccountDirectory(SQLiteAccountStore(folder: folder)).commit(checked)
        case .notInUse: throw .failed(reason: Self.reasonNotInUse)
        }
    }

    /// Refuses changes that are valid but useless, and replaces the paths of rules by canonical ones.
    private func check(_ change: AccountChange) throws(AccountError) -> AccountChange {
        switch change {
        case .addAccount(let account): try check(account.name, account.secret)
        case .setSecret(let account, let secret): try check(account, secret)
        case .addGroup(let group):
            guard !group.isEmpty, group.utf8.count <= Accounts.limitBytes,
                group.utf8.allSatisfy({ $0 >= 32 && $0 != 127 })
            else {
                throw .failed(
                    reason: """
                        a group name must have 1 to \(Accounts.limitBytes) bytes without control characters
                        """)
            }
        case .setRule(let rule):
            if rule.subject == .anonymous {
                throw .failed(
                    reason: "clients must sign in, so a rule for clients without an account has no effect")
            }
            guard let found = try lookup(rule.path), found.info?.isCollection == true else {
                throw .failed(reason: "\(rule.path) is not a folder in the share")
            }
            return .setRule(AccessRule(rule.subject, found.path, rule.rights))
        default: break
        }
        return change
    }

    /// Checks that the server can use an account.
    private func check(_ name: String, _ secret: String) throws(AccountError) {
        var accounts = Accounts(settings ?? AuthenticationSettings())
        do throws(Accounts.Problem) { try accounts.add(name: name, hash: secret) } catch {
            // A command does not know the realm of the server.
            if error == .otherRealm, settings == nil { return }
            throw .failed(reason: "cannot use account '\(name)': \(error.text)")
        }
        if accounts.schemes.isEmpty {
            throw .failed(reason: "cannot use account '\(name)': \(Accounts.Problem.noScheme.text)")
        }
    }

    /// Returns the canonical path of a resource that is served; nil if there is none.
    private func lookup(_ path: ResourcePath) throws(AccountError) -> Lookup? {
        do throws(StoreError) {
            let found = try share.lookUpServed(path)
            return found.info == nil ? nil : found
        } catch {
            throw .failed(reason: "cannot look up \(path): \(error.text)")
        }
    }
}
