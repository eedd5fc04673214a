public import DavitHTTP

/// A lock as reported to clients (RFC 4918 §14.1).
public struct ActiveLock: Hashable, Sendable {
    public var scope: LockScope
    public var depth: Depth
    /// The `owner` element as sent; nil if there was none.
    public var owner: PropertyValue?
    /// The remaining time in seconds; negative values count as 0.
    public var remainingSeconds: Int64
    public var token: LockToken
    /// The percent-encoded path of the lock root.
    public var rootHref: [UInt8]
    /// The account that created the lock; nil without authentication.
    public var principal: String?
    /// The creation time; nil if unknown.
    public var created: Timestamp?

    public init(
        scope: LockScope, depth: Depth, owner: PropertyValue?, remainingSeconds: Int64, token: LockToken,
        rootHref: [UInt8], principal: String? = nil, created: Timestamp? = nil
    ) {
        self.scope = scope
        self.depth = depth
        self.owner = owner
        self.remainingSeconds = remainingSeconds
        self.token = token
        self.rootHref = rootHref
        self.principal = principal
        self.created = created
    }
}
