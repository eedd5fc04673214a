/// A browser that has signed in to an account, as it is stored.
public struct StoredSession: Hashable, Sendable {
    /// Identifies the session.
    public let id: Int64
    /// The hash of the token with which the browser proves that the session is its own.
    public let tokenHash: [UInt8]
    /// The name of the account.
    public let account: String
    /// When the session began, in seconds since 1970.
    public let createdAt: Int64
    /// When the session was last used, in seconds since 1970.
    public var usedAt: Int64
    /// The address from which the session was last used.
    public var address: String
    /// What the browser reported about itself.
    public let agent: String

    public init(
        id: Int64, tokenHash: [UInt8], account: String, createdAt: Int64, usedAt: Int64, address: String,
        agent: String
    ) {
        self.id = id
        self.tokenHash = tokenHash
        self.account = account
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.address = address
        self.agent = agent
    }
}

/// A change of sessions.
public enum SessionChange: Hashable, Sendable {
    case add(StoredSession)
    /// Records when and from where a session was used. Ignored if the session does not exist.
    case use(id: Int64, at: Int64, from: String)
    /// Removes a session. Ignored if it does not exist.
    case remove(id: Int64)
}
