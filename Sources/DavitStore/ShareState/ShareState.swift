public import DavitHTTP
public import DavitWebDAV

/// The locks, dead properties, uploads, trash entries and intents of one share.
///
/// Calls that throw, and ``expireLocks(now:)``, may block. The others answer from memory, unless the state is in a database
/// that several servers use; see ``StoreSessions``.
public protocol ShareState: AnyObject, Sendable {
    /// Commits all changes in order, or none. The changes become visible to other calls once the commit is
    /// durable, and before this call returns.
    func commit(_ changes: [StateChange]) throws(StateError)

    /// Like ``commit(_:)``, without blocking a thread; concurrent calls are combined into one commit.
    func commitWithoutBlocking(_ changes: [StateChange]) async throws(StateError)

    /// Adds changes to the next transaction. Use it only for changes that could not be committed immediately
    /// and that affect no rows of other changes, such as the removal of an intent: an intent that remains in
    /// the store could be mistaken for a later, interrupted rename of the same resource.
    func commitLater(_ changes: [StateChange])

    /// Registers `body` to be called with the locks that a commit added or removed, in commit order and
    /// before the commit returns; refreshed locks are not reported. `body` must be short and must not commit.
    func onLockChange(_ body: @escaping @Sendable ([Lock]) -> Void)

    // MARK: Locks

    /// Whether there are any locks. Expired locks count until ``expireLocks(now:)`` removes them.
    var hasLocks: Bool { get }

    /// Returns the active locks on `path` and those of depth infinity on its ancestors, outermost first;
    /// locks with the same root are in order of creation.
    func locks(covering path: ResourcePath, now: Timestamp) -> [Lock]

    /// Returns the active locks whose root is strictly below `path`, in order of creation. Cost: linear in
    /// their number.
    func locks(under path: ResourcePath, now: Timestamp) -> [Lock]

    /// Returns the number of locks at and below `path`, including expired ones.
    func lockCount(atOrUnder path: ResourcePath) -> Int

    /// The size of all locks in bytes; 0 if they are not in memory.
    var lockBytes: Int { get }

    /// Returns the lock with `token`, or nil if it is unknown or has expired.
    func lock(for token: LockToken, now: Timestamp) -> Lock?

    /// Returns the binding of the resource that the locks on `path` belong to, or nil if the path has no rows. See
    /// ``isInEffect(_:on:)``.
    func binding(ofLockRoot path: ResourcePath) -> Binding?

    /// Begins to watch the property records at and below a path that is about to be copied. Nil if records belong to
    /// resources, and not to paths.
    func watchRecords(under path: ResourcePath) -> RecordWatch?

    /// Removes expired locks from the store and from memory. Costs one comparison if no lock has expired;
    /// otherwise removes a bounded number of locks in one transaction and leaves the rest to later calls. If
    /// the store fails, the locks remain but are inactive.
    func expireLocks(now: Timestamp)

    /// Whether ``expireLocks(now:)`` would remove any locks.
    func hasEndedLocks(now: Timestamp) -> Bool

    // MARK: Rows

    /// Whether there are properties, locks or uploads at or below `path` that a change must move or remove together with
    /// the resources. Always false if the store does that itself, because its rows belong to resources and not to paths.
    func hasRows(atOrUnder path: ResourcePath) -> Bool

    /// Whether there are properties or locks at `path` itself.
    func hasRows(at path: ResourcePath) -> Bool

    // MARK: Properties

    /// Whether the resource at `path` has a ``PropertyName/contentLanguage``. Does not query the store,
    /// because GET requests depend on the result.
    func hasContentLanguage(at path: ResourcePath) -> Bool

    /// Returns the dead properties of the resource at `path`, ordered by name. Queries the store only if
    /// there are any.
    ///
    /// - Parameter identity: the identity of the resource at `path`; properties that belong to another
    ///   resource are ignored.
    func properties(
        at path: ResourcePath, identity: ResourceIdentity
    ) throws(StateError) -> [StoredProperty]

    /// Whether any resource strictly below `path` may have dead properties.
    func hasProperties(below path: ResourcePath) -> Bool

    /// Returns the dead properties of several resources, each as in ``properties(at:identity:)``, with at
    /// most one query to the store.
    ///
    /// - Parameter limitBytes: the maximum size of all names and values together. The result ends before the
    ///   resource that exceeds it, and is empty if the first one does.
    func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)], limitBytes: Int
    ) throws(StateError) -> [[StoredProperty]]

    /// Returns the property records at and below `path`, with at most one query to the store.
    func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)]

    /// Returns the paths at and below `path` whose dead properties a change must copy together with the resources, each
    /// with its binding. Does not query the store.
    func pathsWithProperties(
        under path: ResourcePath
    ) -> [(path: ResourcePath, binding: Binding)]

    // MARK: Limits

    /// Whether the client of `lock` may add it.
    func admits(_ lock: Lock, _ limits: QuotaLimits) -> Bool

    /// Whether a client may add an upload.
    ///
    /// - Parameter bytes: the number of bytes to charge.
    /// - Returns: nil if the client may not; otherwise the ids of complete uploads to remove in the same
    ///   transaction, oldest first; usually empty. Cost: linear in the number of uploads if some must be
    ///   removed.
    func admitsUpload(of bytes: Int, for client: ClientKey, _ limits: QuotaLimits) -> [String]?

    // MARK: Uploads

    /// Whether there are any uploads, including complete ones.
    var hasUploads: Bool { get }

    /// Returns the upload with `id`, or nil if there is none. Expired uploads are returned until they are
    /// removed.
    func upload(_ id: String) -> UploadRecord?

    /// Whether `name` is the hidden name of the bytes of an upload that has not been published.
    func keepsStaged(_ name: [UInt8]) -> Bool

    /// Returns the expired uploads. Cost: linear in the number of all uploads.
    func endedUploads(now: Timestamp) -> [UploadRecord]

    /// Returns all uploads, in no particular order. Cost: linear in their number.
    func allUploads() -> [UploadRecord]

    /// The uploads that are not complete, and the bytes received for them. Cost: linear in the number of all
    /// uploads.
    var openUploads: (count: Int, bytes: Int64) { get }

    /// The number of locks, including expired ones that have not been removed yet.
    var storedLockCount: Int { get }

    // MARK: Intents

    /// Returns the renames that a crash may have interrupted, oldest first.
    func intents() throws(StateError) -> [RenameIntent]

    /// Returns an id that no stored intent of this share has; each call returns a different one.
    func nextIntentID() -> Int64

    // MARK: Trash

    /// The size of the trash.
    var trashTotals: TrashTotals { get }

    /// Returns a number higher than those of all entries in the trash; each call returns a higher one.
    func nextTrashNumber() -> Int64

    /// Returns the entries with higher numbers, in ascending order.
    /// - Parameter limit: the maximum number of entries.
    func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry]

    /// Returns the entry with `id`, or nil if there is none.
    func trashEntry(_ id: String) throws(StateError) -> TrashEntry?
}

extension ShareState {
    /// Whether the trash has any entries.
    public var hasTrash: Bool { trashTotals.count > 0 }

    /// Passes every entry to `body`, oldest first, until `body` returns false.
    package func forEachTrashEntry(_ body: (TrashEntry) throws(StateError) -> Bool) throws(StateError) {
        var last: Int64 = 0
        while true {
            let entries = try trash(after: last, limit: 256)
            for entry in entries {
                if try !body(entry) { return }
                last = entry.number
            }
            if entries.count < 256 { return }
        }
    }

    /// Returns the dead properties of several resources, regardless of their size.
    package func properties(
        of resources: [(path: ResourcePath, identity: ResourceIdentity)]
    ) throws(StateError) -> [[StoredProperty]] {
        try properties(of: resources, limitBytes: .max)
    }
}

extension ShareState {
    public var lockBytes: Int { 0 }

    public func watchRecords(under path: ResourcePath) -> RecordWatch? { nil }

    /// Whether a lock belongs to the resource at its root. A lock whose resource another program has replaced or removed
    /// must be ignored.
    /// - Parameter info: the resource at the root of the lock; nil if there is none.
    package func isInEffect(_ lock: Lock, on info: ResourceInfo?) -> Bool {
        info.map { binding(ofLockRoot: lock.root)?.holds(for: $0.identity) ?? false } ?? false
    }
}
