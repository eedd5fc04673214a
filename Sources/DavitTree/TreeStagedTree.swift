#if Postgres
internal import DavitHTTP
internal import DavitPostgres
internal import DavitStore

/// A new empty collection, which the transaction that publishes it stores.
///
/// The conformance is unchecked: calls do not overlap.
final class TreeStagedCollection: StagedTree, @unchecked Sendable {
    private let database: TreeDatabase
    let path: ResourcePath
    var destination: ResourcePath
    let info: ResourceInfo
    var failures: [(path: ResourcePath, error: StoreError)] { [] }

    init(at path: ResourcePath, in database: TreeDatabase) {
        self.database = database
        self.path = path
        destination = path
        let now = database.now
        info = ResourceInfo(
            kind: .collection, length: 0, modified: now, created: now,
            identity: ResourceIdentity(inode: UInt64(bitPattern: database.makeID()), birth: now.nanoseconds),
            volume: 1, isExecutable: false)
    }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? { nil }

    func publish(isReplacing: Bool) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            let parent = try session.freeParent(of: destination)
            try session.insert(
                info.identity.rowID, in: parent, as: destination.name, isCollection: true,
                info.modified.nanoseconds)
        }
    }

    func publishOverContent() throws(StoreError) { throw .alreadyExists }
    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) { throw .alreadyExists }
    func unpublish(isReplacing: Bool) throws(StoreError) {}
    func destroy() {}
}

/// A copy of a resource, which the transaction that publishes it makes in the database. No content is copied.
///
/// The conformance is unchecked: calls do not overlap.
final class TreeStagedCopy: StagedTree, @unchecked Sendable {
    private let store: TreeStore
    private let source: ResourcePath
    private let includesMembers: Bool
    private let filter: (any CopyFilter)?
    private let heightLimit: Int
    let path: ResourcePath
    var destination: ResourcePath
    let info: ResourceInfo
    private(set) var failures: [(path: ResourcePath, error: StoreError)] = []
    /// The members that the copy does not include, with everything below them.
    private var omitted: [Int64] = []
    /// What the copy has replaced.
    private var replaced: TreeDetached?

    private var database: TreeDatabase { store.database }

    init(
        of source: ResourcePath, for destination: ResourcePath, includesMembers: Bool,
        _ filter: (any CopyFilter)?, _ heightLimit: Int, in store: TreeStore
    ) throws(StoreError) {
        self.store = store
        self.source = source
        self.includesMembers = includesMembers
        self.filter = filter
        self.heightLimit = heightLimit
        self.destination = destination
        path = destination
        let database = store.database
        guard
            let row = try database.session({ (session) throws(StoreError) in try session.row(source) })
        else { throw .notFound }
        var info = row.info
        let now = database.now
        info.identity = ResourceIdentity(
            inode: UInt64(bitPattern: database.makeID()), birth: now.nanoseconds)
        info.created = now
        if filter?.replacesSource != true { info.modified = now }
        info.stamp = row.isCollection ? 0 : 1
        self.info = info
        // Before the change takes path locks, because a client may have chosen a large tree. The members that are created
        // in between are looked at in the transaction.
        try examineMembers()
    }

    func identity(ofCopyOf path: ResourcePath) throws(StoreError) -> ResourceIdentity? { nil }

    /// Determines which members are omitted, and checks the height.
    private func examineMembers() throws(StoreError) {
        guard info.isCollection, includesMembers else { return }
        (omitted, failures) = ([], [])
        try database.session { (session) throws(StoreError) in
            guard let row = try session.row(source) else { throw .notFound }
            if heightLimit != .max, try session.height(of: row.id, limit: heightLimit) > heightLimit {
                throw .tooDeep
            }
            guard let filter else { return }
            var collections = [(row.id, source)]
            while let (id, path) = collections.popLast() {
                let cursor = TreeMemberCursor(of: id, in: database)
                var member = Member()
                while try cursor.next(&member) {
                    let memberPath = path.appending(member.name)
                    let memberID = member.info.identity.rowID
                    if filter.omits(member.name, at: memberPath)
                        || !member.info.isCollection && filter.omits(content: member.name)
                    {
                        omitted.append(memberID)
                    } else if member.info.isCollection {
                        if let memberPath { collections.append((memberID, memberPath)) }
                    } else {
                        switch filter.admission(at: memberPath) {
                        case .copy: break
                        case .omit: omitted.append(memberID)
                        case .fail:
                            omitted.append(memberID)
                            if let memberPath { failures.append((memberPath, .forbidden)) }
                        }
                    }
                }
            }
        }
    }

    /// For a copy of some millions of members.
    private static let extraTime = Duration.seconds(60)

    // MARK: Publishing

    func publish(isReplacing: Bool) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            if isReplacing, let old = try session.row(destination) {
                try session.move(old, to: database.removed, as: database.removedName(of: old.id))
                replaced = TreeDetached(old, from: destination, in: store)
            }
            try copy(session)
        }
    }

    func publishOverContent() throws(StoreError) { try publish(isReplacing: true) }

    func publish(keepingReplacedAt trash: TrashLocation) throws(StoreError) {
        try database.session { (session) throws(StoreError) in
            guard let old = try session.row(destination) else { throw .notFound }
            try session.move(old, to: database.trash, as: Array(trash.location.path.name))
            try copy(session)
        }
    }

    private func copy(_ session: TreeSession) throws(StoreError) {
        let parent = try session.freeParent(of: destination)
        guard let row = try session.row(source) else { throw .notFound }
        try examineMembers()
        let name = Array(destination.name)
        if row.isCollection, includesMembers { session.addTime(Self.extraTime) }
        try session.write { batch in
            batch.add(
                "SELECT copy_tree($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", .integer(database.share),
                .integer(row.id), .integer(info.identity.rowID), .integer(parent),
                .bytes(TreeKey.key(of: name)), .bytes(name),
                .integer(filter?.replacesSource == true ? nil : info.modified.nanoseconds),
                .integer(info.created?.nanoseconds), .flag(includesMembers), .integers(omitted))
        }
        try session.recordChange(info.identity.rowID, parent, name, row.isCollection ? .appeared : .changed)
    }

    /// Never needed: an error rolls the transaction back.
    func unpublish(isReplacing: Bool) throws(StoreError) {}

    func destroy() { _ = replaced?.destroy() }
}

/// A resource that is being removed.
final class TreeDetached: DetachedTree {
    private let row: TreeRow
    private let path: ResourcePath
    private let store: TreeStore

    init(_ row: TreeRow, from path: ResourcePath, in store: TreeStore) {
        self.row = row
        self.path = path
        self.store = store
    }

    private static let batchCount = 500
    private static let batchLimit = 4

    /// Removes what few transactions can. The maintenance of any node removes the rest, so that no response waits for it.
    func destroy() -> [(path: ResourcePath, error: StoreError)] {
        for _ in 0..<Self.batchLimit {
            guard let count = try? store.database.removeDetached(limit: Self.batchCount), count > 0 else {
                break
            }
        }
        return []
    }

    func restore() throws(StoreError) {
        try store.database.session { (session) throws(StoreError) in
            let parent = try session.freeParent(of: path)
            try session.move(row, to: parent, as: Array(path.name))
        }
    }
}
#endif
