public import DavitAccess
internal import DavitHTTP

/// An app password of an account as it is stored.
public struct StoredAppPassword: Hashable, Sendable {
    /// When and from where an app password was used last.
    public struct Use: Hashable, Sendable {
        /// Seconds since 1970.
        public let time: Int64
        /// The numeric address of the client.
        public let address: String

        public init(time: Int64, address: String) {
            self.time = time
            self.address = address
        }
    }

    /// The maximum number of app passwords of one account, including expired ones.
    public static let limitPerAccount = 100
    /// The maximum length of a label in bytes.
    public static let labelLimitBytes = 100

    /// Identifies the password; not secret.
    public let id: String
    /// The name of the account.
    public let account: String
    /// The name of the device or program that uses the password.
    public let label: String
    /// What verifies the password; the password is not stored.
    public let secret: String
    /// What the password is limited to; nil if it may do what its account may do.
    public let limit: AccessLimit?
    /// When it was created, in seconds since 1970.
    public let created: Int64
    /// When it expires, in seconds since 1970; nil if it does not.
    public let expiry: Int64?
    /// Nil if it was not used. Recorded with a delay of some minutes.
    public var lastUse: Use?

    public init(
        id: String, account: String, label: String, secret: String, limit: AccessLimit? = nil, created: Int64,
        expiry: Int64? = nil, lastUse: Use? = nil
    ) {
        self.id = id
        self.account = account
        self.label = label
        self.secret = secret
        self.limit = limit
        self.created = created
        self.expiry = expiry
        self.lastUse = lastUse
    }

    /// Whether a label has 1 to ``labelLimitBytes`` bytes and no control characters.
    public static func isLabel(_ label: String) -> Bool {
        1...labelLimitBytes ~= label.utf8.count && !label.utf8.contains(where: \.isControl)
    }
}
