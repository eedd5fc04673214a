public import DavitHTTP
public import DavitWebDAV

/// To which resource the rows at a path belong. They count only if what is at the path now has one of these
/// identities; a resource replaced behind the server's back inherits nothing.
public struct Binding: Hashable, Sendable {
    public var identity: ResourceIdentity
    /// The identity that a replacement on its way will have; rows hold for both, so that a crash between
    /// the commit and the rename loses nothing.
    public var pending: ResourceIdentity?

    public init(identity: ResourceIdentity, pending: ResourceIdentity? = nil) {
        self.identity = identity
        self.pending = pending
    }

    public func holds(for current: ResourceIdentity) -> Bool { current == identity || current == pending }
}

/// A dead property.
public struct StoredProperty: Hashable, Sendable {
    public var name: PropertyName
    public var value: PropertyValue

    public init(name: PropertyName, value: PropertyValue) {
        self.name = name
        self.value = value
    }

    /// Bytes of the name and the value, which is what limits on properties count.
    public var byteCount: Int { name.namespace.utf8.count + name.local.utf8.count + value.element.count }
}

/// The dead properties of one resource, ordered by name.
public struct PropertyRecord: Hashable, Sendable {
    public var binding: Binding
    public var properties: [StoredProperty]

    public init(binding: Binding, properties: [StoredProperty]) {
        self.binding = binding
        self.properties = properties
    }
}

/// A write lock (RFC 4918 §6, §7).
public struct Lock: Hashable, Sendable {
    public var token: LockToken
    /// The lock root, canonical.
    public var root: ResourcePath
    /// `zero` or `infinity`.
    public var depth: Depth
    public var scope: LockScope
    /// The `owner` element as it was sent, serialised; nil if there was none (§14.17).
    public var owner: PropertyValue?
    /// Who took it; nil without authentication.
    public var principal: String?
    /// Granted seconds (§10.7).
    public var timeoutSeconds: Int64
    /// The lock no longer counts from this instant on.
    public var expiry: Timestamp
    /// The lock root as the client spelled it, percent-encoded, for `lockroot` (§14.12).
    public var rootHref: [UInt8]
    /// When it was taken; nil for locks of versions that did not keep it.
    public var created: Timestamp?
    /// The network from which it was taken, see ``ClientKey``; nil with an account.
    public var network: String?

    public init(
        token: LockToken, root: ResourcePath, depth: Depth, scope: LockScope, owner: PropertyValue?,
        principal: String?, timeoutSeconds: Int64, expiry: Timestamp, rootHref: [UInt8],
        created: Timestamp? = nil, network: String? = nil
    ) {
        self.token = token
        self.root = root
        self.depth = depth
        self.scope = scope
        self.owner = owner
        self.principal = principal
        self.timeoutSeconds = timeoutSeconds
        self.expiry = expiry
        self.rootHref = rootHref
        self.created = created
        self.network = network
    }

    /// The client that is charged for it.
    public var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// Bytes charged for it: what the client has chosen, and a flat part for the rest.
    public var chargedBytes: Int { 256 + root.bytes.count + rootHref.count + (owner?.element.count ?? 0) }

    /// True if the lock protects `path`: its root, or below it with depth infinity.
    public func covers(_ path: ResourcePath) -> Bool {
        depth == .infinity ? root.contains(path) : root == path
    }
}

/// A rename that a crash may have cut in two; recovered at start.
public struct Intent: Hashable, Sendable {
    public var id: Int64
    /// Where the moved resource came from: its old name, or the reserved name of a copy.
    public var source: ResourcePath
    public var destination: ResourcePath
    /// The identity of the moved resource: if the destination has it, the rename happened.
    public var moved: ResourceIdentity
    /// What was replaced, and is at `source` after an exchange; nil if the destination was free.
    public var replaced: ResourceIdentity?
    /// True for a copy: `source` is a reserved name, and dropping the intent also drops what is there.
    public var isCopy: Bool
    /// What a copy was made of, if it is to go once the copy is in place: a move across volumes.
    public var origin: Origin?
    /// No rename: what the resource at `destination` gets along with rows of the same commit.
    public var attributes: ResourceAttributes?
    /// No rename: what `getcontentlanguage` becomes once the content with the identity `moved` is at `destination`; empty
    /// if it is removed.
    public var contentLanguage: String?
    /// Where what is replaced goes, if the trash keeps it: it then takes its properties along. A copy changes places
    /// with it there.
    public var kept: ResourcePath?

    /// A resource by its path and by which one it was.
    public struct Origin: Hashable, Sendable {
        public var path: ResourcePath
        public var identity: ResourceIdentity

        public init(path: ResourcePath, identity: ResourceIdentity) {
            self.path = path
            self.identity = identity
        }
    }

    public init(
        id: Int64, source: ResourcePath, destination: ResourcePath, moved: ResourceIdentity,
        replaced: ResourceIdentity?, isCopy: Bool, origin: Origin? = nil,
        attributes: ResourceAttributes? = nil, contentLanguage: String? = nil, kept: ResourcePath? = nil
    ) {
        self.id = id
        self.source = source
        self.destination = destination
        self.moved = moved
        self.replaced = replaced
        self.isCopy = isCopy
        self.origin = origin
        self.attributes = attributes
        self.contentLanguage = contentLanguage
        self.kept = kept
    }
}
