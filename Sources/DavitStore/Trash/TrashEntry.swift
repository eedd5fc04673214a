public import DavitHTTP

/// Something that a change has taken away and the trash keeps: what it was, and where it stands now.
public struct TrashEntry: Hashable, Sendable {
    /// Why it went.
    public enum Reason: Hashable, Sendable {
        /// DELETE.
        case deleted
        /// Something else has taken its name: PUT, PATCH, COPY, MOVE.
        case overwritten
    }

    /// Its place in the order in which things went; no two of a share are alike.
    public var number: Int64
    /// What clients call it: 16 letters and digits.
    public var id: String
    /// Where it was, canonical.
    public var path: ResourcePath
    /// Where it stands: a name of the server's own, which no client can reach.
    public var place: ResourcePath
    /// Which resource it is. The entry counts only if this is what stands at ``place``.
    public var identity: ResourceIdentity
    /// When it went.
    public var deleted: Timestamp
    /// Whose request it was; nil without accounts.
    public var principal: String?
    /// Bytes of content in it; nil for a collection that nobody has measured yet.
    public var length: Int64?
    /// It is a collection, with all that was in it.
    public var isCollection: Bool
    /// Why it went.
    public var reason: Reason

    /// An entry with these values.
    public init(
        number: Int64, id: String, path: ResourcePath, place: ResourcePath, identity: ResourceIdentity,
        deleted: Timestamp, principal: String?, length: Int64?, isCollection: Bool, reason: Reason
    ) {
        self.number = number
        self.id = id
        self.path = path
        self.place = place
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

    /// A new id: 80 random bits.
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

    /// Whether something could be the id of an entry, and so the name under which one stands.
    package static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == idCount && bytes.allSatisfy(alphabet.contains)
    }
}

/// How much is in the trash.
public struct TrashTotals: Hashable, Sendable {
    /// Entries.
    public var count = 0
    /// Bytes of content, as far as they are known.
    public var bytes: Int64 = 0
    /// The highest number of an entry; 0 without any.
    public var lastNumber: Int64 = 0

    /// Nothing.
    public init() {}

    /// So much.
    public init(count: Int, bytes: Int64, lastNumber: Int64) {
        self.count = count
        self.bytes = bytes
        self.lastNumber = lastNumber
    }
}

/// Where something can come to stand that the trash keeps.
public struct TrashPlace: Sendable {
    /// A free name in the trash of a volume.
    public let place: Place
    /// Whether the volume can make two names change places in one step: then what takes the place of something does so
    /// in one step with that going into the trash.
    public let canExchange: Bool

    /// - Parameters:
    ///   - place: see ``place``.
    ///   - canExchange: see ``canExchange``.
    public init(_ place: Place, canExchange: Bool) {
        self.place = place
        self.canExchange = canExchange
    }
}

/// What stands in the trash of a volume, whether or not anybody knows why.
public struct TrashedResource: Sendable {
    /// A name in the trash.
    public let place: ResourcePath
    /// What stands there.
    public let info: ResourceInfo

    /// - Parameters:
    ///   - place: see ``place``.
    ///   - info: see ``info``.
    public init(place: ResourcePath, info: ResourceInfo) {
        self.place = place
        self.info = info
    }
}

extension TrashTotals {
    mutating func add(_ entry: TrashEntry) {
        count += 1
        bytes += entry.length ?? 0
        lastNumber = max(lastNumber, entry.number)
    }

    /// Follows a change that is durable.
    mutating func follow(_ change: StateChange) {
        switch change {
        case .putTrash(let entry): add(entry)
        case .measureTrash(_, let length): bytes += length
        case .dropTrash(let entry):
            count -= 1
            bytes -= entry.length ?? 0
        default: break
        }
    }
}

extension StateChange {
    /// Whether it is about the trash.
    var isOfTrash: Bool {
        switch self {
        case .putTrash, .measureTrash, .dropTrash: true
        default: false
        }
    }
}
