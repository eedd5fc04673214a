internal import DavitAccess
internal import DavitAccounts
internal import DavitControl
internal import DavitFileStore
internal import DavitServer
internal import DavitSystem
internal import Synchronization

extension ServerEnvironment {
    /// Checks all shares against each other: no state folder may be inside another share, whose clients could
    /// read and change it. Each share keeps the interrupted uploads of the others, because shares can be
    /// nested.
    func checkShares() throws(ServerError) {
        var shares: [OpenShare] = []
        forEachLifecycleObserver { if let share = $0 as? OpenShare { shares.append(share) } }
        for share in shares {
            share.removesLeftovers(besides: shares.filter { $0 !== share })
            for other in shares where other !== share {
                if other.folders.contains(share.folder.path) {
                    throw .stateFolderInsideShare(path: share.folder.path)
                }
                for folder in share.folders.all where other.folders.contains(folder.rootPath) {
                    log(
                        .warning, "one share is inside another; locks in one are not enforced in the other",
                        ["share": folder.rootPath, "other": other.folders.root.rootPath])
                }
            }
        }
    }
}

/// A share that can have accounts and rules of its own.
protocol AccountShare: AnyObject {
    /// Nil if there are none.
    var accounts: AccountDirectory? { get }
    /// Nil unless the application decides what each client may do.
    var ownPolicy: OwnPolicy? { get }
    var admin: AccountAdmin { get }
    /// Where the share and its accounts are, for messages.
    var sharePlace: String { get }
    var accountPlace: String { get }
    /// Nil if the share has no browser page.
    var pageTitle: String? { get }
}

extension AccountAdmin {
    /// - Parameter accounts: those of a share; nil if it has none.
    convenience init(_ accounts: AccountDirectory?, in environment: ServerEnvironment) {
        let (log, audit) = (environment.log, environment.audit)
        self.init(
            accounts.map { .directory($0) } ?? .notInUse,
            admits: { audit.map { $0.admission() == .admitted } ?? true },
            log: { change, origin in
                log(.info, "accounts changed", ["change": change, "by": origin])
                guard let audit else { return }
                var event = AuditEvent(.administration)
                (event.detail, event.origin) = (change, origin)
                audit.record(event)
            },
            report: { log(.error, "account change failed", ["reason": $0]) })
    }
}

extension OpenShare: AccountShare {
    var sharePlace: String { folders.root.rootPath }
    var accountPlace: String { folder.path }
}

extension ServerEnvironment {
    /// Makes all shares answer `davit reload` with an action.
    func acceptReloads(_ action: @escaping @Sendable () -> ReloadReport) {
        forEachLifecycleObserver { ($0 as? OpenShare)?.acceptReloads(action) }
    }

    /// Returns the accounts in the database of a share; nil if no share has one. The rules of the database, and the limits
    /// of its app passwords, concern only this share: the others need a policy of their own.
    /// - Parameter settings: those of the authentication with these accounts.
    func accountDirectory(
        for settings: AuthenticationSettings
    ) throws(ServerError) -> AccountDirectory? {
        var shares: [any AccountShare] = []
        var others: [any AccountShare] = []
        forEachLifecycleObserver {
            guard let share = $0 as? any AccountShare else { return }
            if share.accounts == nil { others.append(share) } else { shares.append(share) }
        }
        if shares.count > 1 {
            throw .accountDatabaseNotUsable(
                reason:
                    "two shares have an account database: \(shares.map(\.accountPlace).joined(separator: ", "))"
            )
        }
        guard let share = shares.first else { return nil }
        for other in others {
            guard let policy = other.ownPolicy else {
                throw .accountsWithoutRules(share: other.sharePlace, accounts: share.accountPlace)
            }
            policy.refuseLimited()
        }
        share.admin.use(settings)
        return share.accounts
    }

    /// Lets the share with the database of accounts check passwords, and list and end sessions.
    /// - Parameter sessions: nil if browsers cannot sign in with a form.
    func use(_ authentication: Authentication, _ sessions: (any SessionAdministration)?) {
        forEachLifecycleObserver {
            guard let share = $0 as? any AccountShare, share.accounts != nil else { return }
            share.admin.use(authentication)
            if let sessions { share.admin.use(sessions) }
        }
    }
}
