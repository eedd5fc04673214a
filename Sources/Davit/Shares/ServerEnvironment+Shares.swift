internal import DavitAccounts
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
                if StateFolder.isInside(share.folder.path, share: other.resources.rootPath) {
                    throw .stateFolderInsideShare(path: share.folder.path)
                }
                if StateFolder.isInside(share.resources.rootPath, share: other.resources.rootPath) {
                    log(
                        .warning, "one share is inside another; locks in one are not enforced in the other",
                        ["share": share.resources.rootPath, "other": other.resources.rootPath])
                }
            }
        }
    }
}

extension ServerEnvironment {
    /// Returns the accounts in the database of a share; nil if no share has one.
    /// - Parameter settings: those of the authentication with these accounts.
    func accountDirectory(
        for settings: AuthenticationSettings
    ) throws(ServerError) -> AccountDirectory? {
        var shares: [OpenShare] = []
        forEachLifecycleObserver {
            if let share = $0 as? OpenShare, share.accounts != nil { shares.append(share) }
        }
        if shares.count > 1 {
            throw .accountDatabaseNotUsable(
                reason:
                    "two shares have an account database: \(shares.map(\.folder.path).joined(separator: ", "))"
            )
        }
        shares.first?.authenticationSettings.withLock { $0 = settings }
        return shares.first?.accounts
    }
}
