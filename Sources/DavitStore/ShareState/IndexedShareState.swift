public import DavitHTTP
public import DavitWebDAV
internal import Synchronization

/// The locks, dead properties, uploads, trash entries and intents of one share: a ``StateStore`` and an
/// in-memory index of its rows.
///
/// Locks, and the set of paths that have properties, are in memory, so that a request that involves neither
/// does not query the store. A commit first changes the store; once it is durable, the index is updated in
/// the same order. Synchronous calls that throw, and ``expireLocks(now:)``, may block.
public final class ShareState: Sendable {
    let store: any StateStore
    private let index: Mutex<RowIndex>
    /// The number of locks in the index; lets requests skip the mutex if there are none.
    private let lockCount: Atomic<Int>
    /// The number of paths with properties in the index.
    private let propertyCount: Atomic<Int>
    /// Whether some resource may have a ``PropertyName/contentLanguage``; false until one has had it.
    private let mayHaveLanguages: Atomic<Bool>
    /// The number of uploads in the index.
    private let uploadCount: Atomic<Int>
    private let lastIntentID: Atomic<Int64>
    /// Callbacks for added and removed locks.
    private let lockListeners = Mutex<[@Sendable ([Lock]) -> Void]>([])
    private let totals: Mutex<TrashTotals>
    private let lastTrashNumber: Atomic<Int64>
    /// Changes to add to the next commit; see ``commitLater(_:)``.
    private let waiting = Mutex<[StateChange]>([])

    /// Loads all locks and uploads, and the paths of all properties. Cost: linear in their number.
    public init(store: any StateStore) throws(StateError) {
        self.store = store
        var rows = RowIndex()
        for (path, binding) in try store.pathsWithProperties() {
            rows.setBinding(binding, at: path)
            rows.setHasProperties(true, at: path)
        }
        for path in try store.paths(with: .contentLanguage) { rows.setHasLanguage(true, at: path) }
        mayHaveLanguages = Atomic(rows.hasSeenLanguages)
        for (lock, binding) in try store.locks() {
            rows.setBinding(binding, at: lock.root)
            rows.insert(lock)
        }
        for upload in try store.uploads() { rows.insert(upload) }
        uploadCount = Atomic(rows.root.uploadCount)
        lockCount = Atomic(rows.root.lockCount)
        propertyCount = Atomic(rows.root.propertyCount)
        lastIntentID = Atomic(try store.intents().last?.id ?? 0)
        index = Mutex(rows)
        let trash = try store.trashTotals()
        totals = Mutex(trash)
        lastTrashNumber = Atomic(trash.lastNumber)
    }

    /// Commits all changes in order, or none. The changes become visible to other calls once the commit is
    /// durable, and before this call returns.
    public func commit(_ changes: [StateChange]) throws(StateError) {
        guard !changes.isEmpty else { return }
        let late = takeWaiting()
        let all = changes + late
        do throws(StateError) {
            try store.apply(all) { emptying in self.follow(all, emptying: emptying) }
        } catch {
            waiting.withLock { $0 += late }
            throw error
        }
    }

    /// Like ``commit(_:)``, without blocking a thread; concurrent calls are combined into one commit.
    public func commitWithoutBlocking(_ changes: [StateChange]) async throws(StateError) {
        guard !changes.isEmpty else { return }
        let late = takeWaiting()
        let all = changes + late
        let failure = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<StateError?, Never>) in
            store.enqueue(all) { emptying in
                self.follow(all, emptying: emptying)
            } completion: { failure in
                unsafe continuation.resume(returning: failure)
            }
        }
        guard let failure else { return }
        waiting.withLock { $0 += late }
        throw failure
    }

    private func takeWaiting() -> [StateChange] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }

    /// Adds changes to the next transaction. Use it only for changes that could not be committed immediately
    /// and that affect no rows of other changes, such as the removal of an intent: an intent that remains in
    /// the store could be mistaken for a later, interrupted rename of the same resource.
    public func commitLater(_ changes: [StateChange]) { waiting.withLock { $0 += changes } }

    private func follow(_ changes: [StateChange], emptying: Set<Int>) {
        if changes.contains(where: \.isOfTrash) {
            totals.withLock { totals in
                for change in changes { totals.follow(change) }
            }
        }
        let locks = index.withLock { index -> [Lock] in
            index.follow(changes, emptying: emptying)
            lockCount.store(index.root.lockCount, ordering: .releasing)
            propertyCount.store(index.root.propertyCount, ordering: .releasing)
            uploadCount.store(index.root.uploadCount, ordering: .releasing)
            mayHaveLanguages.store(index.hasSeenLanguages, ordering: .releasing)
            guard let changes = index.lockChanges, !changes.isEmpty else { return [] }
            index.lockChanges = []
            return changes
        }
        if locks.isEmpty { return }
        for listener in lockListeners.withLock({ $0 }) { listener(locks) }
    }

    /// Registers `body` to be called with the locks that a commit added or removed, in commit order and
    /// before the commit returns; refreshed locks are not reported. `body` must be short and must not commit.
    package func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void) {
        lockListeners.withLock { $0.append(body) }
        index.withLock { $0.lockChanges = $0.lockChanges ?? [] }
    }

    // MARK: Locks

    /// Whether there are any locks. Expired locks count until ``expireLocks(now:)`` removes them.
    public var hasLocks: Bool { lockCount.load(ordering: .acquiring) > 0 }

    /// Returns the active locks on `path` and those of depth infinity on its ancestors, outermost first;
    /// locks with the same root are in order of creation.
    public func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(covering: path, now: now) }
    }

    /// Returns the active locks whose root is strictly below `path`, in order of creation. Cost: linear in
    /// their number.
    public func locks(under path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(below: path, now: now) }
    }

    /// Returns the number of locks at and below `path`, including expired ones.
    public func lockCount(atOrUnder path: ResourcePath) -> Int {
        guard hasLocks else { return 0 }
        return index.withLock { $0.node(at: path)?.lockCount ?? 0 }
    }

    /// Returns the lock with `token`, or nil if it is unknown or has expired.
    public func lock(for token: LockToken, now: Timestamp) -> Lock? {
        guard hasLocks else { return nil }
        return index.withLock { index in
            guard let held = index.tokens[token], held.lock.expiry > now else { return nil }
            return held.lock
        }
    }

    /// Returns the binding of the resource that the locks on `path` belong to, or nil if the path has no rows.
    /// Locks whose binding does not match the resource at their root belong to another resource and must be
    /// ignored.
    public func binding(ofLockRoot path: ResourcePath) -> Binding? {
        index.withLock { $0.node(at: path)?.binding }
    }

    /// Removes expired locks from the store and from memory. Costs one comparison if no lock has expired;
    /// otherwise removes a bounded number of locks in one transaction and leaves the rest to later calls. If
    /// the store fails, the locks remain but are inactive.
    public func expireLocks(now: Timestamp) {
        guard hasEndedLocks(now: now) else { return }
        let ended = index.withLock { $0.expiries.ended(now: now, limit: Self.expiryLimit) }
        try? commit(ended.map { .removeExpiredLock($0.token, root: $0.root, now: now) })
    }

    /// Whether ``expireLocks(now:)`` would remove any locks.
    public func hasEndedLocks(now: Timestamp) -> Bool {
        guard hasLocks else { return false }
        return index.withLock { $0.expiries.earliest.map { $0 <= now } ?? false }
    }

    /// The maximum number of expired locks that one call of ``expireLocks(now:)`` removes.
    private static let expiryLimit = 256

    // MARK: Rows

    /// Whether there are properties, locks or uploads at or below `path`.
    public func hasRows(atOrUnder path: ResourcePath) -> Bool {
        guard hasLocks || hasProperties || hasUploads else { return false }
        return index.withLock { index in
            index.node(at: path).map { $0.lockCount > 0 || $0.propertyCount > 0 || $0.uploadCount > 0 }
                ?? false
        }
    }

    /// Whether there are properties or locks at `path` itself.
    public func hasRows(at path: ResourcePath) -> Bool {
        guard hasLocks || hasProperties else { return false }
        return index.withLock { index in index.node(at: path)?.hasRows ?? false }
    }

    private var hasProperties: Bool { propertyCount.load(ordering: .acquiring) > 0 }

    // MARK: Properties

    /// Whether the resource at `path` has a ``PropertyName/contentLanguage``. Does not query the store,
    /// because GET requests depend on the result.
    public func hasContentLanguage(at path: ResourcePath) -> Bool {
        guard mayHaveLanguages.load(ordering: .acquiring) else { return false }
        return index.withLock { index in index.node(at: path)?.hasLanguage ?? false }
    }

    /// Returns the dead properties of the resource at `path`, ordered by name. Queries the store only if
    /// there are any.
    ///
    /// - Parameter identity: the identity of the resource at `path`; properties that belong to another
    ///   resource are ignored.
    public func properties(
        at path: ResourcePath, identity: ResourceIdentity
    ) throws(StateError) -> [StoredProperty] {
        try properties(of: [(path, identity)])[0]
    }

    /// Whether any resource strictly below `path` has dead properties.
    public func hasProperties(below path: ResourcePath) -> Bool {
        guard hasProperties else { return false }
        return index.withLock { index in
            index.node(at: path).map { $0.propertyCount > ($0.hasProperties ? 1 : 0) } ?? false
        }
    }

    /// Returns the dead properties of several resources, each as in ``properties(at:identity:)``, with at
    /// most one query to the store.
    ///
    /// - Parameter limitBytes: the maximum size of all names and values together. The result ends before the
    ///   resource that exceeds it, and is empty if the first one does.
    public func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int = .max
    ) throws(StateError) -> [[StoredProperty]] {
        var found = [[StoredProperty]](repeating: [], count: resources.count)
        guard hasProperties else { return found }
        let places = index.withLock { index in
            resources.indices.filter { position in
                guard let node = index.node(at: resources[position].path), node.hasProperties else {
                    return false
                }
                return node.binding?.holds(for: resources[position].identity) ?? false
            }
        }
        guard !places.isEmpty else { return found }
        let records = try store.records(at: places.map { resources[$0].path }, limitBytes: limitBytes)
        for (position, record) in zip(places, records) {
            guard let record, record.binding.holds(for: resources[position].identity) else { continue }
            found[position] = record.properties
        }
        if records.count < places.count { found.removeSubrange(places[records.count]...) }
        return found
    }

    /// Returns the property records at and below `path`, with at most one query to the store.
    public func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard hasProperties else { return [] }
        let isWorthAsking = index.withLock { index in
            index.node(at: path).map { $0.propertyCount > 0 } ?? false
        }
        return isWorthAsking ? try store.records(under: path) : []
    }

    /// Returns the paths at and below `path` that have dead properties, each with its binding. Does not query
    /// the store.
    public func pathsWithProperties(
        under path: ResourcePath
    ) -> [(path: ResourcePath, binding: Binding)] {
        guard hasProperties else { return [] }
        return index.withLock { $0.pathsWithProperties(under: path) }
    }

    // MARK: Limits

    /// Whether the client of `lock` may add it.
    public func admits(_ lock: Lock, _ limits: QuotaLimits) -> Bool {
        index.withLock { $0.lockQuota.admits(lock.chargedBytes, for: lock.client, limits) }
    }

    /// Whether a client may add an upload.
    ///
    /// - Parameter bytes: the number of bytes to charge.
    /// - Returns: nil if the client may not; otherwise the ids of complete uploads to remove in the same
    ///   transaction, oldest first; usually empty. Cost: linear in the number of uploads if some must be
    ///   removed.
    public func admitsUpload(of bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> [String]? {
        index.withLock { $0.admitsUpload(of: bytes, for: client, limits) }
    }

    // MARK: Uploads

    /// Whether there are any uploads, including complete ones.
    public var hasUploads: Bool { uploadCount.load(ordering: .acquiring) > 0 }

    /// Returns the upload with `id`, or nil if there is none. Expired uploads are returned until they are
    /// removed.
    public func upload(_ id: String) -> UploadRecord? {
        guard hasUploads else { return nil }
        return index.withLock { $0.uploads[id] }
    }

    /// Whether `name` is the hidden name of the bytes of an upload that has not been published.
    public func keepsStaged(_ name: [UInt8]) -> Bool {
        guard hasUploads else { return false }
        return index.withLock { $0.stagedNames.contains(name) }
    }

    /// Returns the expired uploads. Cost: linear in the number of all uploads.
    public func endedUploads(now: Timestamp) -> [UploadRecord] {
        guard hasUploads else { return [] }
        return index.withLock { index in index.uploads.values.filter { $0.progress.expiry <= now } }
    }

    /// Returns all uploads, in no particular order. Cost: linear in their number.
    public func allUploads() -> [UploadRecord] {
        guard hasUploads else { return [] }
        return index.withLock { Array($0.uploads.values) }
    }

    /// The uploads that are not complete, and the bytes received for them. Cost: linear in the number of all
    /// uploads.
    package var openUploads: (count: Int, bytes: Int64) {
        guard hasUploads else { return (0, 0) }
        return index.withLock { index in
            index.uploads.values.reduce(into: (count: 0, bytes: Int64(0))) { sum, upload in
                if upload.progress.isComplete { return }
                sum.count += 1
                sum.bytes += upload.progress.offset
            }
        }
    }

    /// The number of locks, including expired ones that have not been removed yet.
    package var storedLockCount: Int { lockCount.load(ordering: .relaxed) }

    // MARK: Intents

    /// Returns the renames that a crash may have interrupted, oldest first.
    public func intents() throws(StateError) -> [RenameIntent] { try store.intents() }

    /// Returns an id that no stored intent of this share has; each call returns a different one.
    public func nextIntentID() -> Int64 {
        lastIntentID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    // MARK: Trash

    /// The size of the trash.
    public var trashTotals: TrashTotals { totals.withLock { $0 } }

    /// Returns a number higher than those of all entries in the trash; each call returns a higher one.
    public func nextTrashNumber() -> Int64 {
        lastTrashNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
