#if Postgres
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore
internal import DavitWebDAV

/// A row of the table `resource`.
struct TreeRow: Sendable {
    /// The columns, for statements that read rows with ``init(_:_:from:)``, in this order:
    /// id, parent, name, kind, length, modified, created, version, blob, is_executable, has_properties, content_language IS
    /// NOT NULL.
    static let columnCount = 12
    static let nameColumn = 2

    let id: Int64
    let parent: Int64
    let name: [UInt8]
    let isCollection: Bool
    let length: Int64
    let modified: Int64
    let created: Int64
    let version: Int64
    /// Nil for collections and empty content.
    let blob: Int64?
    let isExecutable: Bool
    let hasProperties: Bool
    let hasLanguage: Bool

    init(_ result: PostgresResult, _ row: Int, from first: Int = 0) throws(PostgresError) {
        id = try result.integer(row, first)
        parent = try result.integer(row, first + 1)
        name = try result.bytes(row, first + 2)
        isCollection = try result.integer(row, first + 3) == 0
        length = try result.integer(row, first + 4)
        modified = try result.integer(row, first + 5)
        created = try result.integer(row, first + 6)
        version = try result.integer(row, first + 7)
        blob = result.isNull(row, first + 8) ? nil : try result.integer(row, first + 8)
        isExecutable = try result.flag(row, first + 9)
        hasProperties = try result.flag(row, first + 10)
        hasLanguage = try result.flag(row, first + 11)
    }

    /// The identity of the resource, which it keeps as long as it exists.
    var identity: ResourceIdentity { ResourceIdentity(inode: UInt64(bitPattern: id), birth: created) }

    /// The metadata. The version is part of the entity tag, because the clocks of several nodes can give one time twice.
    var info: ResourceInfo {
        ResourceInfo(
            kind: isCollection ? .collection : .content, length: length,
            modified: Timestamp(nanoseconds: modified), created: Timestamp(nanoseconds: created),
            identity: identity, volume: 1, isExecutable: isExecutable,
            stamp: isCollection ? 0 : UInt64(bitPattern: version))
    }
}

extension ResourceIdentity {
    /// The id of the row of a resource.
    var rowID: Int64 { Int64(bitPattern: inode) }
}

/// A lock, with the id of its root.
struct TreeLock: Sendable {
    /// The number of columns that ``init(_:_:from:root:)`` reads: token, is_infinite, is_exclusive, owner, principal,
    /// network, timeout_seconds, created, expiry, root_href.
    static let columnCount = 10

    let resource: Int64
    let lock: Lock

    init(_ result: PostgresResult, _ row: Int, from first: Int, of resource: Int64, root: ResourcePath)
        throws(PostgresError)
    {
        self.resource = resource
        lock = Lock(
            token: LockToken(try result.uuid(row, first)), root: root,
            depth: try result.flag(row, first + 1) ? .infinity : .zero,
            scope: try result.flag(row, first + 2) ? .exclusive : .shared,
            owner: result.isNull(row, first + 3)
                ? nil : PropertyValue(element: try result.bytes(row, first + 3)),
            principal: result.isNull(row, first + 4) ? nil : try result.text(row, first + 4),
            timeoutSeconds: try result.integer(row, first + 6),
            expiry: Timestamp(nanoseconds: try result.time(row, first + 8)),
            rootHref: try result.bytes(row, first + 9),
            created: Timestamp(nanoseconds: try result.time(row, first + 7)),
            network: result.isNull(row, first + 5) ? nil : try result.text(row, first + 5))
    }
}

extension LockToken {
    private static let prefix = "opaquelocktoken:"

    /// - Parameter uuid: what ``uuid`` returned.
    init(_ uuid: PostgresUUID) {
        func digits(_ value: UInt64, _ shift: Int, _ count: Int) -> String {
            let text = String((value >> shift) & ((1 << (4 * count)) - 1), radix: 16)
            return String(repeating: "0", count: count - text.count) + text
        }
        self.init(
            uri: Self.prefix + digits(uuid.high, 32, 8) + "-" + digits(uuid.high, 16, 4) + "-"
                + digits(uuid.high, 0, 4) + "-" + digits(uuid.low, 48, 4) + "-" + digits(uuid.low, 0, 12))
    }

    /// The number in a token of this server; nil for others.
    var uuid: PostgresUUID? {
        guard uri.hasPrefix(Self.prefix) else { return nil }
        let digits = uri.dropFirst(Self.prefix.count).filter { $0 != "-" }
        guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16)
        else { return nil }
        let uuid = PostgresUUID(high: high, low: low)
        return LockToken(uuid).uri == uri ? uuid : nil
    }
}

extension StoreError {
    init(_ error: PostgresError) {
        switch error.kind {
        case .retry, .busy, .connectionLost, .timedOut, .tooManyConnections, .notPrimary, .readOnly,
            .wrongSchema:
            self = .busy
        case .full: self = .outOfSpace
        case .inDoubt:
            self = .failed(reason: "it is not known whether a change was committed: \(error.message)")
        case .constraint, .notPermitted, .other: self = .failed(reason: error.message)
        }
    }
}
#endif
