internal import DavitCrypto
internal import DavitHTTP

/// What a session is bound to; another one ends it.
package struct SessionCredential: Hashable, Sendable {
    /// The account and its password; see ``Authentication/number(of:)``.
    package let number: UInt64
    /// The key of the second factor; nil without one.
    package let secondFactor: [UInt8]?

    package init(number: UInt64, secondFactor: [UInt8]?) {
        self.number = number
        self.secondFactor = secondFactor
    }
}

/// A browser that has signed in. It proves this with a token in a cookie, of which only the hash is stored.
package struct BrowserSession: Hashable, Sendable {
    /// How long sessions last, and how many there can be.
    package struct Limits: Sendable {
        /// After this time without a request, a session ends.
        package var idleSeconds: Int64 = 7 * 86400
        /// A session ends this long after it began, even if it is in use.
        package var lifetimeSeconds: Int64 = 30 * 86400
        /// The lifetime of a session of a user without an account here, whose groups may change elsewhere.
        package var lifetimeElsewhereSeconds: Int64 = 3600
        /// The maximum number of sessions of an account. A further one ends the one that was not used for the
        /// longest time.
        package var perAccount = 64
        /// The maximum number of sessions of all accounts, with the same consequence.
        package var total = 10_000

        package init() {}
    }

    /// Maximum length of ``agent`` in bytes.
    private static let agentBytes = 256

    /// A random number that identifies the session in lists. It does not allow to use the session.
    package let id: Int64
    /// The SHA-256 hash of the token.
    package let tokenHash: [UInt8]
    package let account: String
    /// When the session began, in seconds since 1970.
    package let createdAt: Int64
    /// When the session was last used, in seconds since 1970; at most a minute too early.
    package var usedAt: Int64
    /// The address from which the session was last used.
    package var address: String
    /// What the browser reported about itself when the session began.
    package let agent: String

    package init(
        id: Int64, tokenHash: [UInt8], account: String, createdAt: Int64, usedAt: Int64, address: String,
        agent: String
    ) {
        self.id = id
        self.tokenHash = tokenHash
        self.account = account
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.address = address
        self.agent = Self.prefix(of: agent, bytes: Self.agentBytes)
    }

    /// Whether the session has ended at a time in seconds since 1970.
    func isExpired(at now: Int64, _ limits: Limits) -> Bool {
        now - usedAt > limits.idleSeconds || now - createdAt > limits.lifetimeSeconds || isAhead(of: now)
    }

    /// Whether the session began while the clock was, or is, wrong by more than a day. It could otherwise outlive its limits.
    func isAhead(of now: Int64) -> Bool { createdAt - now > 86_400 }

    private static func prefix(of text: String, bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        return String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}

#if TLS
extension BrowserSession {
    /// Length of a token in bytes: 192 random bits.
    private static let tokenBytes = 24

    /// Returns a new token, in hexadecimal digits.
    static func makeToken() -> String {
        String(decoding: HexText.encode(RandomBytes.make(count: tokenBytes)), as: UTF8.self)
    }

    /// Returns the hash under which a token is stored, or nil if the text cannot be a token.
    ///
    /// Tokens are random, so a fast hash suffices. They are compared by their hashes, so the time of a
    /// comparison does not reveal anything about a token.
    static func hash(of token: String) -> [UInt8]? {
        guard token.utf8.count == 2 * tokenBytes else { return nil }
        do throws(CryptoError) { return try Digest.of(Array(token.utf8).span, .sha256) } catch { return nil }
    }
}
#endif
