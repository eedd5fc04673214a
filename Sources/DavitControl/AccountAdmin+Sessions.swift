internal import DavitAccounts
package import DavitServer
internal import Synchronization

/// The sessions of browsers in a running server.
package protocol SessionAdministration: Sendable {
    /// Returns the sessions of an account, or of all users, the most recently used first.
    func sessions(of account: String?) -> [BrowserSession]
    /// Ends a session and its requests. Blocks.
    /// - Returns: the session; nil if it does not exist.
    func end(_ id: Int64) -> BrowserSession?
}

#if TLS
extension SessionTable: SessionAdministration {}
#endif

extension AccountAdmin {
    /// Returns the sessions of an account, or of all users, the most recently used first.
    func sessions(of account: String?) throws(AccountError) -> [ListedSession] {
        if let table = sessions.withLock({ $0 }) {
            return table.sessions(of: account).map { ListedSession($0) }
        }
        guard let directory = try directory() else { return [] }
        return try directory.sessions().filter { account == nil || $0.account == account }
            .sorted { ($0.usedAt, $0.id) > ($1.usedAt, $1.id) }.map { ListedSession($0) }
    }

    /// Ends a session of any user.
    /// - Throws: `unknownSession`.
    func endSession(_ id: Int64, from origin: String) throws(AccountError) {
        try checkAudit()
        let account: String?
        if let table = sessions.withLock({ $0 }) {
            account = table.end(id)?.account
        } else {
            account = try directory()?.sessions().first { $0.id == id }?.account
            try directory()?.commitSessions([.remove(id: id)])
        }
        guard let account else { throw .unknownSession(id) }
        log("end session \(id) of \(account)", origin)
    }
}

/// A session as it is listed for administrators. Without the hash of its token.
package struct ListedSession: Hashable, Sendable {
    package let id: Int64
    package let account: String
    /// When the session began, in seconds since 1970.
    package let createdAt: Int64
    /// When the session was last used, in seconds since 1970.
    package let usedAt: Int64
    /// The address from which the session was last used.
    package let address: String
    /// What the browser reported about itself.
    package let agent: String

    package init(
        id: Int64, account: String, createdAt: Int64, usedAt: Int64, address: String, agent: String
    ) {
        self.id = id
        self.account = account
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.address = address
        self.agent = agent
    }

    fileprivate init(_ session: BrowserSession) {
        self.init(
            id: session.id, account: session.account, createdAt: session.createdAt, usedAt: session.usedAt,
            address: session.address, agent: session.agent)
    }

    fileprivate init(_ session: StoredSession) {
        self.init(
            id: session.id, account: session.account, createdAt: session.createdAt, usedAt: session.usedAt,
            address: session.address, agent: session.agent)
    }

    /// A short name of the browser and its system.
    package var device: String {
        let name = DeviceName(agent)
        return [name.browser, name.system].compactMap { $0 }.joined(separator: ", ")
    }
}
