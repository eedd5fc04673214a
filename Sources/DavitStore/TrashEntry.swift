public import DavitHTTP

/// A removed resource in the trash: its origin and its current location.
public struct TrashEntry: Hashable, Sendable {
    /// Why the resource was moved to the trash.
    public enum Reason: Hashable, Sendable {
        /// Deleted by DELETE.
        case deleted
        /// Replaced, for example by PUT, PATCH, COPY, MOVE or the restoration of another resource.
        case overwritten
    }

    /// The position in the order of removal, unique in the trash of the share.
    public var number: Int64
    /// The public id of the entry: 16 letters and digits.
    public var id: String
    /// The original path, canonical.
    public var path: ResourcePath
    /// The current path: a name in a trash folder, which clients cannot access.
    public var location: ResourcePath
    /// The identity of the resource. The entry is valid only if this is the resource at ``location``.
    public var identity: ResourceIdentity
    /// The time of removal.
    public var deleted: Timestamp
    /// The account that removed the resource; nil without authentication.
    public var principal: String?
    /// The number of bytes of content; nil for a collection that has not been measured yet.
    public var length: Int64?
    /// Whether the resource is a collection; its members are in the trash with it.
    public var isCollection: Bool
    /// Why the resource was moved to the trash.
    public var reason: Reason

    /// Creates an entry with these values.
    public init(
        number: Int64, id: String, path: ResourcePath, location: ResourcePath, identity: ResourceIdentity,
        deleted: Timestamp, principal: String?, length: Int64?, isCollection: Bool, reason: Reason
    ) {
        self.number = number
        self.id = id
        self.path = path
        self.location = location
        self.identity = identity
        self.deleted = deleted
        self.principal = principal
        self.length = length
        self.isCollection = isCollection
        self.reason = reason
    }
}

extension TrashEntry {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let idCount = 16

    /// Returns a new id with 80 random bits.
    package static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        var bits = generator.next()
        var bytes: [UInt8] = []
        for index in 0..<idCount {
            if index == 12 { bits = generator.next() }
            bytes.append(alphabet[Int(bits & 31)])
            bits >>= 5
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether `bytes` has the form of an entry id, which is also the name of the entry in the trash.
    package static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == idCount && bytes.allSatisfy(alphabet.contains)
    }
}

extension ResourceStore {
    /// Whether an entry is in the trash of the volume that contains the root of the share, which is always available.
    package func ownsTrash(of entry: TrashEntry) -> Bool { entry.location.parent == trashFolder }

    /// Whether the trash that contains an entry is on a volume which is not mounted now, and may be mounted later.
    package func isTrashUnavailable(of entry: TrashEntry) throws(StoreError) -> Bool {
        guard !ownsTrash(of: entry), let folder = entry.location.parent else { return false }
        return try identity(at: folder) == nil
    }
}

/// The size of the trash.
public struct TrashTotals: Hashable, Sendable {
    /// The number of entries.
    public var count = 0
    /// The number of bytes of content in measured entries.
    public var bytes: Int64 = 0
    /// The highest number of any entry since the totals were loaded, including removed entries; 0 if there
    /// was none.
    public var lastNumber: Int64 = 0

    /// Creates the totals of an empty trash.
    public init() {}

    /// Creates totals with these values.
    public init(count: Int, bytes: Int64, lastNumber: Int64) {
        self.count = count
        self.bytes = bytes
        self.lastNumber = lastNumber
    }
}

/// A location in a trash to which a resource can be moved.
public struct TrashLocation: Sendable {
    /// A free name in the trash of a volume.
    public let location: ResourceLocation
    /// Whether the volume can exchange two names atomically, so that a resource can be replaced and moved to
    /// the trash in one step.
    public let canExchange: Bool

    /// - Parameters:
    ///   - location: see ``location``.
    ///   - canExchange: see ``canExchange``.
    public init(_ location: ResourceLocation, canExchange: Bool) {
        self.location = location
        self.canExchange = canExchange
    }
}

/// A resource in the trash of a volume, with or without an entry.
public struct TrashedResource: Sendable {
    /// The path in the trash.
    public let location: ResourcePath
    /// The metadata of the resource.
    public let info: ResourceInfo

    /// - Parameters:
    ///   - location: see ``location``.
    ///   - info: see ``info``.
    public init(location: ResourcePath, info: ResourceInfo) {
        self.location = location
        self.info = info
    }
}

extension TrashTotals {
    mutating func add(_ entry: TrashEntry) {
        count += 1
        addBytes(entry.length ?? 0)
        lastNumber = max(lastNumber, entry.number)
    }

    /// Applies a change that is already durable.
    mutating func follow(_ change: StateChange) {
        switch change {
        case .putTrash(let entry): add(entry)
        case .measureTrash(_, let length): addBytes(length)
        case .dropTrash(let entry):
            count -= 1
            bytes = max(0, bytes - (entry.length ?? 0))
        default: break
        }
    }

    /// Sparse files can have any length, so the sum stops at the maximum.
    private mutating func addBytes(_ length: Int64) { bytes = bytes.addingClamped(length) }
}

extension StateChange {
    /// Whether the change affects the trash.
    var isOfTrash: Bool {
        switch self {
        case .putTrash, .measureTrash, .dropTrash: true
        default: false
        }
    }
}
