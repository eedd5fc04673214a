public import DavitHTTP
public import DavitWebDAV

/// The resource that the rows at a path belong to. The rows are valid only if the resource at the path has
/// one of these identities; a resource that another program has put in its place does not inherit them.
public struct Binding: Hashable, Sendable {
    public var identity: ResourceIdentity
    /// The identity of a pending replacement. Rows are valid for both identities, so that a crash between the
    /// commit and the rename does not lose them.
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

    /// The size of the name and the value in bytes, as counted by property limits.
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
    /// The canonical path of the lock root.
    public var root: ResourcePath
    /// `zero` or `infinity`.
    public var depth: Depth
    public var scope: LockScope
    /// The `owner` element as sent, serialized; nil if there was none (§14.17).
    public var owner: PropertyValue?
    /// The account that created the lock; nil without authentication.
    public var principal: String?
    /// The granted timeout in seconds (§10.7).
    public var timeoutSeconds: Int64
    /// The time at which the lock expires.
    public var expiry: Timestamp
    /// The lock root as spelled by the client, percent-encoded, for `lockroot` (§14.12).
    public var rootHref: [UInt8]
    /// The creation time; nil for locks created by older versions of davit, which did not record it.
    public var created: Timestamp?
    /// The network from which the lock was created, see ``ClientKey``; nil with an account.
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

    /// The client that the lock is charged to.
    public var client: ClientKey { ClientKey(principal: principal, network: network) }

    /// The number of bytes charged for the lock: the parts chosen by the client plus a fixed overhead.
    public var chargedBytes: Int { 256 + root.bytes.count + rootHref.count + (owner?.element.count ?? 0) }

    /// Whether the lock covers `path`: its root or, with depth infinity, any descendant.
    public func covers(_ path: ResourcePath) -> Bool {
        depth == .infinity ? root.contains(path) : root == path
    }
}

/// A rename, or another change of a file together with its rows, that a crash may interrupt; completed or
/// reverted at startup.
public struct RenameIntent: Hashable, Sendable {
    public var id: Int64
    /// The original path of the moved resource: its old name, or the reserved name of a copy.
    public var source: ResourcePath
    public var destination: ResourcePath
    /// The identity of the moved resource. If the resource at `destination` has it, the rename took place.
    public var moved: ResourceIdentity
    /// The identity of the replaced resource, which is at `source` after an exchange; nil if the destination
    /// was free.
    public var replaced: ResourceIdentity?
    /// Whether this is a copy. Its `source` is a reserved name; if the intent is discarded, the rows there
    /// are removed.
    public var isCopy: Bool
    /// The source of a copy, to be removed once the copy is in place: a move across volumes.
    public var origin: Origin?
    /// The attributes that the resource at `destination` receives together with the rows of the same commit.
    /// If not nil, the intent is not a rename.
    public var attributes: ResourceAttributes?
    /// The `getcontentlanguage` to set once the content with the identity `moved` is at `destination`; empty
    /// to remove the property. If not nil, the intent is not a rename.
    public var contentLanguage: String?
    /// The trash location of the replaced resource, if it was moved to the trash; its properties move with
    /// it. For a copy, the replaced resource is exchanged with the copy at this location.
    public var kept: ResourcePath?

    /// A resource identified by its path and its file identity.
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
