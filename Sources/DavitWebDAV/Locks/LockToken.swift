/// The URI of a lock (RFC 4918 §6.5): `opaquelocktoken:` or `urn:uuid:` followed by a UUID.
public struct LockToken: Hashable, Sendable {
    public let uri: String
    public init(uri: String) { self.uri = uri }
}
