#if TLS
internal import DavitAccounts
internal import DavitServer

/// The sessions in the database of accounts.
struct DirectorySessions: SessionStore {
    let directory: AccountDirectory

    var isShared: Bool { directory.sharesSessions }

    func sessions() throws(SessionStoreError) -> [BrowserSession] {
        try attempt { () throws(AccountError) in try directory.sessions().map { BrowserSession($0) } }
    }

    func session(withHash hash: [UInt8]) throws(SessionStoreError) -> BrowserSession? {
        try attempt { () throws(AccountError) in
            try directory.session(withHash: hash).map { BrowserSession($0) }
        }
    }

    func uses(of ids: [Int64]) throws(SessionStoreError) -> [Int64: Int64] {
        try attempt { () throws(AccountError) in try directory.uses(ofSessions: ids) }
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

extension BrowserSession {
    fileprivate init(_ stored: StoredSession) {
        self.init(
            id: stored.id, tokenHash: stored.tokenHash, account: stored.account, createdAt: stored.createdAt,
            usedAt: stored.usedAt, address: stored.address, agent: stored.agent)
    }
}
#endif
