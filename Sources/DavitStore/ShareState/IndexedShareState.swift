package import DavitHTTP
package import DavitWebDAV
internal import Synchronization

/// The locks, dead properties, uploads, trash entries and intents of one share: a ``StateStore`` and an
/// in-memory index of its rows.
///
/// Locks, and the set of paths that have properties, are in memory, so that a request that involves neither
/// does not query the store. A commit first changes the store; once it is durable, the index is updated in
/// the same order. Synchronous calls that throw, and ``expireLocks(now:)``, may block.
package final class IndexedShareState: ShareState {
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
    private let watches = Mutex(RecordWatches())
    private let totals: Mutex<TrashTotals>
    private let lastTrashNumber: Atomic<Int64>
    /// Changes to add to the next commit; see ``ShareState/commitLater(_:)``.
    private let waiting = Mutex<[StateChange]>([])

    /// Loads all locks and uploads, and the paths of all properties. Cost: linear in their number.
    package init(store: any StateStore) throws(StateError) {
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

    package func commit(_ changes: [StateChange]) throws(StateError) {
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

    package func commitWithoutBlocking(_ changes: [StateChange]) async throws(StateError) {
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

    package func commitLater(_ changes: [StateChange]) { waiting.withLock { $0 += changes } }

    private func follow(_ changes: [StateChange], emptying: Set<Int>) {
        if changes.contains(where: \.isOfTrash) {
            totals.withLock { totals in
                for change in changes { totals.follow(change) }
            }
        }
        let locks = index.withLock { index -> [Lock] in
            watches.withLock { $0.follow(changes) { index.node(at: $0)?.binding } }
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

    package func watchRecords(under path: ResourcePath) -> RecordWatch? {
        watches.withLock { $0.add(path) }
    }

    package func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void) {
        lockListeners.withLock { $0.append(body) }
        index.withLock { $0.lockChanges = $0.lockChanges ?? [] }
    }

    // MARK: Locks

    package var hasLocks: Bool { lockCount.load(ordering: .acquiring) > 0 }

    package func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(covering: path, now: now) }
    }

    package func locks(under path: ResourcePath, now: Timestamp) -> [Lock] {
        guard hasLocks else { return [] }
        return index.withLock { $0.locks(below: path, now: now) }
    }

    package func lockCount(atOrUnder path: ResourcePath) -> Int {
        guard hasLocks else { return 0 }
        return index.withLock { $0.node(at: path)?.lockCount ?? 0 }
    }

    package func lock(for token: LockToken, now: Timestamp) -> Lock? {
        guard hasLocks else { return nil }
        return index.withLock { index in
            guard let held = index.tokens[token], held.lock.expiry > now else { return nil }
            return held.lock
        }
    }

    package func binding(ofLockRoot path: ResourcePath) -> Binding? {
        index.withLock { $0.node(at: path)?.binding }
    }

    package func expireLocks(now: Timestamp) {
        guard hasEndedLocks(now: now) else { return }
        let ended = index.withLock { $0.expiries.ended(now: now, limit: Self.expiryLimit) }
        try? commit(ended.map { .removeExpiredLock($0.token, root: $0.root, now: now) })
    }

    package func hasEndedLocks(now: Timestamp) -> Bool {
        guard hasLocks else { return false }
        return index.withLock { $0.expiries.earliest.map { $0 <= now } ?? false }
    }

    /// The maximum number of expired locks that one call of ``expireLocks(now:)`` removes.
    private static let expiryLimit = 256

    // MARK: Rows

    package func hasRows(atOrUnder path: ResourcePath) -> Bool {
        guard hasLocks || hasProperties || hasUploads else { return false }
        return index.withLock { index in
            index.node(at: path).map { $0.lockCount > 0 || $0.propertyCount > 0 || $0.uploadCount > 0 }
                ?? false
        }
    }

    package func hasRows(at path: ResourcePath) -> Bool {
        guard hasLocks || hasProperties else { return false }
        return index.withLock { index in index.node(at: path)?.hasRows ?? false }
    }

    private var hasProperties: Bool { propertyCount.load(ordering: .acquiring) > 0 }

    // MARK: Properties

    package func hasContentLanguage(at path: ResourcePath) -> Bool {
        guard mayHaveLanguages.load(ordering: .acquiring) else { return false }
        return index.withLock { index in index.node(at: path)?.hasLanguage ?? false }
    }

    package func properties(
        at path: ResourcePath, identity: ResourceIdentity
    ) throws(StateError) -> [StoredProperty] {
        try properties(of: [(path, identity)])[0]
    }

    package func hasProperties(below path: ResourcePath) -> Bool {
        guard hasProperties else { return false }
        return index.withLock { index in
            index.node(at: path).map { $0.propertyCount > ($0.hasProperties ? 1 : 0) } ?? false
        }
    }

    package func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int
    ) throws(StateError) -> [[StoredProperty]] {
        var found = [[StoredProperty]](repeating: [], count: resources.count)
        guard hasProperties else { return found }
        var sizes = [Int](repeating: 0, count: resources.count)
        let (unread, version) = index.withLock { index in
            var unread: [Int] = []
            var collection: RowIndex.KnownCollection?
            for position in resources.indices {
                let (path, identity) = resources[position]
                guard let node = index.node(at: path, &collection), node.hasProperties,
                    node.binding?.holds(for: identity) == true
                else { continue }
                if let kept = index.keptProperties(of: node) {
                    (found[position], sizes[position]) = kept
                } else {
                    unread.append(position)
                }
            }
            return (unread, index.propertyVersion)
        }
        var end = resources.count
        if !unread.isEmpty {
            let records = try store.records(at: unread.map { resources[$0].path }, limitBytes: limitBytes)
            if records.count < unread.count { end = unread[records.count] }
            for (position, record) in zip(unread, records) {
                guard let record, record.binding.holds(for: resources[position].identity) else { continue }
                found[position] = record.properties
                sizes[position] = record.properties.reduce(0) { $0 + $1.byteCount }
            }
            keep(found, sizes, at: unread.prefix(records.count).map { ($0, resources[$0].path) }, version)
        }
        var left = limitBytes
        end =
            sizes[..<end].firstIndex { size in
                left -= size
                return left < 0
            } ?? end
        found.removeSubrange(end...)
        return found
    }

    /// Keeps properties that were read, unless they may have changed in the meantime.
    /// - Parameter version: the version of the index before they were read.
    private func keep(
        _ properties: [[StoredProperty]], _ sizes: [Int], at places: [(position: Int, path: ResourcePath)],
        _ version: UInt64
    ) {
        // Released after the mutex, for which the event loop may wait.
        _ = index.withLock { index -> [[StoredProperty]] in
            var dropped: [[StoredProperty]] = []
            guard index.propertyVersion == version else { return dropped }
            var collection: RowIndex.KnownCollection?
            for (position, path) in places where !properties[position].isEmpty {
                guard let node = index.node(at: path, &collection) else { continue }
                index.keep(properties[position], bytes: sizes[position], at: node, dropping: &dropped)
            }
            return dropped
        }
    }

    package func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)] {
        guard hasProperties else { return [] }
        let isWorthAsking = index.withLock { index in
            index.node(at: path).map { $0.propertyCount > 0 } ?? false
        }
        return isWorthAsking ? try store.records(under: path) : []
    }

    package func pathsWithProperties(
        under path: ResourcePath
    ) -> [(path: ResourcePath, binding: Binding)] {
        guard hasProperties else { return [] }
        return index.withLock { $0.pathsWithProperties(under: path) }
    }

    // MARK: Limits

    package var lockBytes: Int { hasLocks ? index.withLock { $0.lockQuota.total.bytes } : 0 }

    package func admits(_ lock: Lock, _ limits: QuotaLimits) -> Bool {
        index.withLock { $0.lockQuota.admits(lock.chargedBytes, for: lock.client, limits) }
    }

    package func admitsUpload(of bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> [String]? {
        index.withLock { $0.admitsUpload(of: bytes, for: client, limits) }
    }

    // MARK: Uploads

    package var hasUploads: Bool { uploadCount.load(ordering: .acquiring) > 0 }

    package func upload(_ id: String) -> UploadRecord? {
        guard hasUploads else { return nil }
        return index.withLock { $0.uploads[id] }
    }

    package func keepsStaged(_ name: [UInt8]) -> Bool {
        guard hasUploads else { return false }
        return index.withLock { $0.stagedNames.contains(name) }
    }

    package func endedUploads(now: Timestamp) -> [UploadRecord] {
        guard hasUploads else { return [] }
        return index.withLock { index in index.uploads.values.filter { $0.progress.expiry <= now } }
    }

    package func allUploads() -> [UploadRecord] {
        guard hasUploads else { return [] }
        return index.withLock { Array($0.uploads.values) }
    }

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

    package var storedLockCount: Int { lockCount.load(ordering: .relaxed) }

    // MARK: Intents

    package func intents() throws(StateError) -> [RenameIntent] { try store.intents() }

    package func nextIntentID() -> Int64 {
        lastIntentID.wrappingAdd(1, ordering: .relaxed).newValue
    }

    // MARK: Trash

    package var trashTotals: TrashTotals { totals.withLock { $0 } }

    package func nextTrashNumber() -> Int64 {
        lastTrashNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    package func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry] {
        hasTrash ? try store.trash(after: number, limit: limit) : []
    }

    package func trashEntry(_ id: String) throws(StateError) -> TrashEntry? {
        hasTrash ? try store.trashEntry(id) : nil
    }
}
