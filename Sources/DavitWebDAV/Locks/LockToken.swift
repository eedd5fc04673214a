/// A lock token (RFC 4918 §6.5): the URI of a lock, or any other URI that a client sent as a token.
public struct LockToken: Hashable, Sendable {
    public let uri: String
    public init(uri: String) { self.uri = uri }
}
