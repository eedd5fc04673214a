public import DavitHTTP
public import DavitWebDAV

/// One step of a transaction. Transactions are values, so that every backend runs the same ones and
/// several can be committed together.
///
/// A binding without properties and locks does not outlive its transaction.
public enum StateChange: Hashable, Sendable {
    /// Says which resource the rows at `path` belong to. If what is recorded does not hold for
    /// `current`, the old rows at this path (not below it) are dropped first: they were somebody else's.
    /// Creates nothing but the binding.
    case bind(ResourcePath, current: ResourceIdentity, pending: ResourceIdentity?)
    /// Sets or replaces one dead property; the path has been bound earlier, or the transaction fails.
    case setProperty(ResourcePath, StoredProperty)
    /// Limits the names and values of the dead properties at `path` to so many bytes: the transaction fails with
    /// ``StateError/propertiesTooLarge`` if there are more after its last change, and more than at this step.
    /// A resource that is already over the limit can shrink.
    case limitProperties(ResourcePath, bytes: Int)
    /// Replaces binding and dead properties at a path by a copy of those at `source`, without the properties named.
    /// Fails with ``StateError/propertiesTooLarge`` if the copy would have more than `limitBytes`, nil for no limit.
    /// Locks stay. Fails if the two paths are one.
    case copyProperties(
        from: ResourcePath, to: ResourcePath, binding: Binding, without: [PropertyName], limitBytes: Int?)
    /// Removes one dead property; none of that name is no error (RFC 4918 §14.23).
    case removeProperty(ResourcePath, PropertyName)
    /// Drops properties, locks and bindings at `path` and below it.
    case removeRows(under: ResourcePath)
    /// Drops the locks at `path` and below it; properties stay.
    case removeLocks(under: ResourcePath)
    /// Moves properties and bindings at `source` and below it to `destination`, where what was at and below
    /// goes first (locks of depth infinity above it stay). Locks at and below `source` are dropped:
    /// they do not move (RFC 4918 §7.5). Fails if one of the two contains the other.
    case moveRows(from: ResourcePath, to: ResourcePath)
    /// Inserts or replaces binding and properties of one resource: the rows of a copy. Locks stay.
    case putRecord(ResourcePath, PropertyRecord)
    /// Adds a lock; its root has been bound earlier and its token is new, or the transaction fails.
    case addLock(Lock)
    /// Gives a lock new time; no such token at this root is no error.
    case refreshLock(LockToken, root: ResourcePath, timeoutSeconds: Int64, expiry: Timestamp)
    case removeLock(LockToken, root: ResourcePath)
    /// Drops a lock if it no longer counts at this instant: it may have been given new time meanwhile.
    case removeExpiredLock(LockToken, root: ResourcePath, now: Timestamp)
    case putIntent(Intent)
    case dropIntent(id: Int64)
    /// Inserts an upload, or replaces the one of its id. ``moveRows(from:to:)`` and ``removeRows(under:)`` reach uploads
    /// by their collection, which is where the bytes are; those of a name in it stay.
    case putUpload(UploadRecord)
    /// Says how far an upload is; none of that id is no error.
    case setUploadProgress(id: String, UploadRecord.Progress)
    case removeUpload(id: String)
    /// Adds an entry to the trash; its number and its id are new, or the transaction fails.
    case putTrash(TrashEntry)
    /// Says how much is in an entry that is there with no length, as far as it still is.
    case measureTrash(TrashEntry, length: Int64)
    /// Drops an entry, whose length is the one it was put or measured with; none of that number is no error.
    case dropTrash(TrashEntry)
}

/// Why the state could not be read or written.
public enum StateError: Error, Hashable, Sendable {
    /// The disk of the state folder is full: 507, and nothing was changed.
    case outOfSpace
    /// A resource would have more bytes of dead properties than ``StateChange/limitProperties(_:bytes:)`` allows: 507,
    /// and nothing was changed.
    case propertiesTooLarge
    /// A fault of the disk or of this program: 500; `reason` is for the log.
    case failed(reason: String)
}

/// What the file system cannot hold: locks, dead properties, intents. Calls block.
///
/// A store has no clock and knows no rules: it keeps rows. ``ShareState`` is the one caller.
public protocol StateStore: Sendable {
    /// Commits all changes in order, or none.
    ///
    /// - Parameter publish: called once when the changes are durable and before the next ones become so, in
    ///   the order of the commits, also when several threads call; not called if the transaction fails. It
    ///   gets the positions in `changes` of each `removeProperty` that took the last property of its
    ///   resource, and of each `copyProperties` that copied none. It must be short and must not call
    ///   ``apply(_:publish:)``.
    func apply(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
    ) throws(StateError)

    /// The same, for callers that must not wait: returns at once.
    ///
    /// - Parameter completion: called once, on any thread, with why the transaction failed or nil; after
    ///   `publish`. It must be short.
    func enqueue(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void,
        completion: @escaping @Sendable (StateError?) -> Void
    )

    /// All locks with the binding of their root, in the order they were added; expired ones too.
    func locks() throws(StateError) -> [(lock: Lock, binding: Binding)]
    /// Every path that has dead properties, with its binding.
    func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)]
    /// Every path that has a dead property of this name.
    func paths(with name: PropertyName) throws(StateError) -> [ResourcePath]
    /// In the order of their ids.
    func intents() throws(StateError) -> [Intent]

    /// In the order of their ids; ended ones too.
    func uploads() throws(StateError) -> [UploadRecord]
    /// How much is in the trash.
    func trashTotals() throws(StateError) -> TrashTotals
    /// The entries of the trash with higher numbers, in their order.
    func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry]
    /// Nil if there is none.
    func trashEntry(_ id: String) throws(StateError) -> TrashEntry?

    /// Nil if there are no properties.
    func record(at path: ResourcePath) throws(StateError) -> PropertyRecord?
    /// The records at several paths, nil where there are no properties, all of one instant.
    ///
    /// - Parameter limitBytes: of names and values together; the result ends before the record that exceeds it. It is
    ///   empty if the first one does.
    func records(at paths: [ResourcePath], limitBytes: Int) throws(StateError) -> [PropertyRecord?]
    /// The records at and below a path.
    func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)]
}

extension StateStore {
    /// For stores that answer from memory: reads every record.
    public func paths(with name: PropertyName) throws(StateError) -> [ResourcePath] {
        try records(under: .root).filter { $0.record.properties.contains { $0.name == name } }.map(\.path)
    }

    /// The records at several paths, nil where there are no properties, all of one instant.
    public func records(at paths: [ResourcePath]) throws(StateError) -> [PropertyRecord?] {
        try records(at: paths, limitBytes: .max)
    }

    /// Commits all changes in order, or none.
    public func apply(_ changes: [StateChange]) throws(StateError) {
        try apply(changes) { _ in }
    }

    /// For stores that answer from memory: done when it returns.
    public func enqueue(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void,
        completion: @escaping @Sendable (StateError?) -> Void
    ) {
        do throws(StateError) {
            try apply(changes, publish: publish)
            completion(nil)
        } catch {
            completion(error)
        }
    }
}
