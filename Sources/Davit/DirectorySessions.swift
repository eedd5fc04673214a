#if TLS
internal import DavitAccounts
internal import DavitServer

/// The sessions in the database of accounts.
struct DirectorySessions: SessionStore {
    let directory: AccountDirectory

    func sessions() throws(SessionStoreError) -> [BrowserSession] {
        try attempt { () throws(AccountError) in
            try directory.sessions().map {
                BrowserSession(
                    id: $0.id, tokenHash: $0.tokenHash, account: $0.account, createdAt: $0.createdAt,
                    usedAt: $0.usedAt, address: $0.address, agent: $0.agent)
            }
        }
    }

    func insert(
        _ session: BrowserSession, removing removed: [Int64], if isCurrent: () -> Bool
    ) throws(SessionStoreError) -> Bool {
        let stored = StoredSession(
            id: session.id, tokenHash: session.tokenHash, account: session.account,
            createdAt: session.createdAt, usedAt: session.usedAt, address: session.address,
            agent: session.agent)
        return try attempt { () throws(AccountError) in
            try directory.add(stored, removing: removed, if: isCurrent)
        }
    }

    func update(removing removed: [Int64], used: [BrowserSession]) throws(SessionStoreError) {
        try attempt { () throws(AccountError) in
            try directory.commitSessions(
                removed.map { .remove(id: $0) }
                    + used.map { .use(id: $0.id, at: $0.usedAt, from: $0.address) })
        }
    }

    private func attempt<T>(_ body: () throws(AccountError) -> T) throws(SessionStoreError) -> T {
        do throws(AccountError) { return try body() } catch { throw SessionStoreError(reason: error.text) }
    }
}
#endif
