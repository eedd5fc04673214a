public import DavitHTTP

/// A lock as clients see it (RFC 4918 §14.1).
public struct ActiveLock: Hashable, Sendable {
    public var scope: LockScope
    public var depth: Depth
    /// The `owner` element as it was sent; nil if there was none.
    public var owner: PropertyValue?
    /// Seconds until it ends; negative counts as 0.
    public var remainingSeconds: Int64
    public var token: LockToken
    /// Percent-encoded path of the lock root.
    public var rootHref: [UInt8]
    /// The account of who took it; nil without one.
    public var principal: String?
    /// When it was taken; nil where that is not known.
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
