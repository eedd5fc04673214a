public import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A lock that somebody has ended without its token being theirs to use: whose it was, and who it was.
public struct BrokenLock: Sendable {
    /// Where the lock was, as the share sees it.
    public let root: ResourcePath
    /// The URI of its token.
    public let token: String
    /// The text of the `owner` element of its holder, whitespace at the ends left out; nil without one.
    public let owner: String?
    /// The account of its holder; nil where nobody needed one.
    public let holder: String?
    /// The account of who has broken it; nil where nobody needs one, and for the command.
    public let principal: String?
    /// From where: an address, or what the command says of its user.
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
