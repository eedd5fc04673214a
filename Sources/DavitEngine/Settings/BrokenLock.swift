public import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A lock that was broken: ended by someone other than the client that holds its token.
public struct BrokenLock: Sendable {
    /// The path of the locked resource in the share.
    public let root: ResourcePath
    /// The URI of the lock token.
    public let token: String
    /// The text of the `owner` element that the lock owner sent, trimmed of whitespace; nil without one.
    public let owner: String?
    /// The account of the lock owner; nil if the owner was not authenticated.
    public let holder: String?
    /// The account that broke the lock; nil without authentication, or if the command line broke it.
    public let principal: String?
    /// The origin of the request: an address, or a description of the user of the command line.
    public let origin: String

    init(_ lock: Lock, by principal: String?, from origin: String) {
        root = lock.root
        token = lock.token.uri
        owner = lock.owner?.trimmedText
        holder = lock.principal
        self.principal = principal
        self.origin = origin
    }
}
