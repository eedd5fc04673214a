public import DavitHTTP
public import DavitWebDAV
internal import Synchronization

/// The locks and dead properties of one share: a ``StateStore`` and what of it has to be known at once.
///
/// Locks, and which paths have properties, are in memory, so that a request that meets neither asks no
/// store. A commit changes the store first; memory follows when that is durable, in the same order.
/// Calls marked as throwing, and ``expireLocks(now:)``, may block.
public final class ShareState: Sendable {
    let store: any StateStore
    private let index: Mutex<RowIndex>
    /// How many locks the index has; lets the common request pass without taking the mutex.
    private let lockCount: Atomic<Int>
    /// How many paths with properties it has.
    private let propertyCount: Atomic<Int>
    /// False until something has a ``PropertyName/contentLanguage``.
    private let mayHaveLanguages: Atomic<Bool>
    /// How many uploads it has.
    private let uploadCount: Atomic<Int>
    private let lastIntentID: Atomic<Int64>
    /// Who is told of locks that come and go.
    private let lockListeners = Mutex<[@Sendable ([Lock]) -> Void]>([])
    private let totals: Mutex<TrashTotals>
    private let lastTrashNumber: Atomic<Int64>
    /// See ``commitLater(_:)``.
    private let waiting = Mutex<[StateChange]>([])

    /// Reads all locks and the paths of all properties: linear in their number.
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

    /// Commits all changes in order, or none. What other calls answer changes after they are durable and
    /// before this returns.
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

    /// The same without blocking a thread: what many tasks wait for becomes one commit.
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

    /// Commits with the next transaction what could not be committed now, and is about nothing that another
    /// change may touch. An intent that stayed could be taken for a later rename of the same resource that was
    /// cut short.
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

    /// Has `body` called with the locks that were added or removed, in the order of the commits, before those return; not
    /// with those that only get new time. It must be short, and commit nothing.
    package func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void) {
        lockListeners.withLock { $0.append(body) }
        index.withLock { $0.lockChanges = $0.lockChanges ?? [] }
    }

    // MARK: Locks

    /// False if there are no locks at all. Locks that have ended count until ``expireLocks(now:)``.
    public var hasLocks: Bool { lockCount.load(ordering: .acquiring) > 0 }

    /// The active locks on `path` and those of depth infinity on its ancestors, outermost first, those on
    /// one path in the order of creation.
    public func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(covering: path, now: now) }
    }

    /// The active locks whose root is strictly below `path`, in the order of creation. Linear in their number.
    public func locks(under path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(below: path, now: now) }
    }

    /// How many locks there are at `path` and below it, ended ones included.
    public func lockCount(atOrUnder path: ResourcePath) -> Int {
        guard hasLocks else { return 0 }
        return index.withLock { $0.node(at: path)?.lockCount ?? 0 }
    }

    /// Nil if the lock is unknown or has ended.
    public func lock(for token: LockToken, now: Timestamp) -> Lock? {
        guard hasLocks else { return nil }
        return index.withLock { index in
            guard let held = index.tokens[token], held.lock.expiry > now else { return nil }
            return held.lock
        }
    }

    /// To which resource the locks on `path` belong; nil if it has no rows. A lock whose binding does not
    /// hold for what is at its root is somebody else's and does not count.
    public func binding(ofLockRoot path: ResourcePath) -> Binding? {
        index.withLock { $0.node(at: path)?.binding }
    }

    /// Removes locks that have ended, the first ones first, from the store and from memory. While none has, that
    /// is one comparison; else one transaction, which is bounded: the next call takes the next ones. If the store
    /// fails they stay, and count for nothing.
    public func expireLocks(now: Timestamp) {
        guard hasEndedLocks(now: now) else { return }
        let ended = index.withLock { $0.expiries.ended(now: now, limit: Self.expiryLimit) }
        try? commit(ended.map { .removeExpiredLock($0.token, root: $0.root, now: now) })
    }

    /// Whether ``expireLocks(now:)`` has something to do.
    public func hasEndedLocks(now: Timestamp) -> Bool {
        guard hasLocks else { return false }
        return index.withLock { $0.expiries.earliest.map { $0 <= now } ?? false }
    }

    /// How many locks are removed at a time, by the request that happens to come.
    private static let expiryLimit = 256

    // MARK: Rows

    /// Whether there are properties, locks or uploads at `path` or below it.
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

    /// Whether there is a ``PropertyName/contentLanguage`` at `path`. Answered from memory, because every GET asks.
    public func hasContentLanguage(at path: ResourcePath) -> Bool {
        guard mayHaveLanguages.load(ordering: .acquiring) else { return false }
        return index.withLock { index in index.node(at: path)?.hasLanguage ?? false }
    }

    /// The dead properties of what is at `path` now, ordered by name. Asks the store only if there are some.
    ///
    /// - Parameter identity: of what is at `path`; properties that belong to another resource are not its.
    public func properties(
        at path: ResourcePath, identity: ResourceIdentity
    ) throws(StateError) -> [StoredProperty] {
        try properties(of: [(path, identity)])[0]
    }

    /// Whether something strictly below `path` has dead properties.
    public func hasProperties(below path: ResourcePath) -> Bool {
        guard hasProperties else { return false }
        return index.withLock { index in
            index.node(at: path).map { $0.propertyCount > ($0.hasProperties ? 1 : 0) } ?? false
        }
    }

    /// The dead properties of several resources, each as ``properties(at:identity:)`` gives them: one question
    /// to the store, or none.
    ///
    /// - Parameter limitBytes: of names and values together; the result ends before the resource that exceeds it. It is
    ///   empty if the first one does.
    public func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int = .max
    ) throws(StateError) -> [[StoredProperty]] {
        var found = [[StoredProperty]](repeating: [], count: resources.count)
        guard hasProperties else { return found }
        let places = index.withLock { index in
            resources.indices.filter { place in
                guard let node = index.node(at: resources[place].path), node.hasProperties else {
                    return false
                }
                return node.binding?.holds(for: resources[place].identity) ?? false
            }
        }
        guard !places.isEmpty else { return found }
        let records = try store.records(at: places.map { resources[$0].path }, limitBytes: limitBytes)
        for (place, record) in zip(places, records) {
            guard let record, record.binding.holds(for: resources[place].identity) else { continue }
            found[place] = record.properties
        }
        if records.count < places.count { found.removeSubrange(places[records.count]...) }
        return found
    }

    /// The records at `path` and below it: one query, or none.
    public func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard hasProperties else { return [] }
        let isWorthAsking = index.withLock { index in
            index.node(at: path).map { $0.propertyCount > 0 } ?? false
        }
        return isWorthAsking ? try store.records(under: path) : []
    }

    /// The paths at and below `path` that have dead properties, each with its binding. Asks no store.
    public func pathsWithProperties(
        under path: ResourcePath
    ) -> [(path: ResourcePath, binding: Binding)] {
        guard hasProperties else { return [] }
        return index.withLock { $0.pathsWithProperties(under: path) }
    }

    // MARK: Limits

    /// Whether the client of a lock may add it.
    public func admits(_ lock: Lock, _ limits: ChargeLimits) -> Bool {
        index.withLock { $0.lockCharges.admits(lock.chargedBytes, for: lock.client, limits) }
    }

    /// Whether a client may add an upload.
    ///
    /// - Parameter bytes: what is charged for it.
    /// - Returns: nil if not; else the ids of complete uploads to forget in the same transaction, oldest first, none
    ///   in most cases. Linear in the number of uploads if there is no room without that.
    public func admitsUpload(of bytes: Int, for client: ClientKey, _ limits: ChargeLimits) -> [String]? {
        index.withLock { $0.admitsUpload(of: bytes, for: client, limits) }
    }

    // MARK: Uploads

    /// False if there are no uploads at all, also none that are complete.
    public var hasUploads: Bool { uploadCount.load(ordering: .acquiring) > 0 }

    /// Nil if there is none of that id. Ended ones count until they are removed.
    public func upload(_ id: String) -> UploadRecord? {
        guard hasUploads else { return nil }
        return index.withLock { $0.uploads[id] }
    }

    /// Whether an upload keeps its bytes under this name.
    public func keepsStaged(_ name: [UInt8]) -> Bool {
        guard hasUploads else { return false }
        return index.withLock { $0.stagedNames.contains(name) }
    }

    /// The uploads whose time is up. Linear in the number of all.
    public func endedUploads(now: Timestamp) -> [UploadRecord] {
        guard hasUploads else { return [] }
        return index.withLock { index in index.uploads.values.filter { $0.progress.expiry <= now } }
    }

    // MARK: Intents

    /// The renames that a crash may have cut in two, oldest first.
    public func intents() throws(StateError) -> [Intent] { try store.intents() }

    /// An id that no intent of this share has.
    public func nextIntentID() -> Int64 {
        lastIntentID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    // MARK: Trash

    /// How much is in the trash.
    public var trashTotals: TrashTotals { totals.withLock { $0 } }

    /// A number that no entry of this share's trash has.
    public func nextTrashNumber() -> Int64 {
        lastTrashNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
