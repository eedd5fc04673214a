public import DavitHTTP
public import DavitWebDAV

/// One step of a transaction. Transactions are values, so that every backend runs the same ones and several
/// can be committed together.
///
/// A binding without properties or locks is removed at the end of its transaction.
public enum StateChange: Hashable, Sendable {
    /// Records which resource the rows at `path` belong to. If the existing binding does not match `current`,
    /// the rows at this path (not below it) are removed first, because they belong to another resource. Adds
    /// no rows except the binding.
    case bind(ResourcePath, current: ResourceIdentity, pending: ResourceIdentity?)
    /// Sets or replaces one dead property. The transaction fails if the path has no binding.
    case setProperty(ResourcePath, StoredProperty)
    /// Limits the total size of names and values of the dead properties at `path`. The transaction fails with
    /// ``StateError/propertiesTooLarge`` if their final size exceeds both `bytes` and the size at this step,
    /// so that a resource that is already over the limit can shrink.
    case limitProperties(ResourcePath, bytes: Int)
    /// Replaces the binding and the dead properties at a path with a copy of those at `source`, except the
    /// properties in `without`. Fails with ``StateError/propertiesTooLarge`` if the copy would exceed
    /// `limitBytes` (nil: no limit). Locks are not changed. Fails if both paths are equal.
    case copyProperties(
        from: ResourcePath, to: ResourcePath, binding: Binding, without: [PropertyName], limitBytes: Int?)
    /// Removes one dead property; not an error if the property does not exist (RFC 4918 §14.23).
    case removeProperty(ResourcePath, PropertyName)
    /// Removes properties, locks and bindings at and below `path`, and the uploads to collections there.
    case removeRows(under: ResourcePath)
    /// Removes the locks at and below `path`, but not the properties.
    case removeLocks(under: ResourcePath)
    /// Moves properties and bindings at and below `source`, and the uploads to collections there, to
    /// `destination`. The rows at and below `destination` are removed first; locks on its ancestors remain.
    /// Locks at and below `source` are removed, because locks do not move (RFC 4918 §7.5). Fails if one path
    /// contains the other.
    case moveRows(from: ResourcePath, to: ResourcePath)
    /// Inserts or replaces the binding and properties of one resource: the rows of a copy. Locks are not
    /// changed.
    case putRecord(ResourcePath, PropertyRecord)
    /// Adds a lock. The transaction fails if the root has no binding, or if any lock already has this token.
    case addLock(Lock)
    /// Sets a new timeout and expiry; not an error if no lock at this root has the token.
    case refreshLock(LockToken, root: ResourcePath, timeoutSeconds: Int64, expiry: Timestamp)
    case removeLock(LockToken, root: ResourcePath)
    /// Removes a lock if it has expired at `now`; it may have been refreshed in the meantime.
    case removeExpiredLock(LockToken, root: ResourcePath, now: Timestamp)
    case putIntent(RenameIntent)
    case dropIntent(id: Int64)
    /// Inserts an upload, or replaces the one with the same id. ``moveRows(from:to:)`` and
    /// ``removeRows(under:)`` affect uploads by their collection, where the bytes are stored, but not by the
    /// name of their target.
    case putUpload(UploadRecord)
    /// Records the progress of an upload; not an error if no upload has this id.
    case setUploadProgress(id: String, UploadRecord.Progress)
    case removeUpload(id: String)
    /// Adds an entry to the trash. The transaction fails if its number or id is already in use.
    case putTrash(TrashEntry)
    /// Records the length of an entry that has none, if the entry still exists.
    case measureTrash(TrashEntry, length: Int64)
    /// Removes an entry, whose length must be the recorded one; not an error if no entry has this number.
    case dropTrash(TrashEntry)
}

/// The reason why the state could not be read or written.
public enum StateError: Error, Hashable, Sendable {
    /// The volume of the state folder is full: 507, without any change.
    case outOfSpace
    /// The dead properties of a resource would exceed the limit given by a
    /// ``StateChange/limitProperties(_:bytes:)`` or `copyProperties`: 507, without any change.
    case propertiesTooLarge
    /// Another server has taken over the upload that was to be changed: 409, without any change.
    case superseded
    /// An error of the disk or a bug: 500; `reason` is for the log.
    case failed(reason: String)

    /// A message for the log and for administrators.
    package var text: String {
        switch self {
        case .outOfSpace: "out of space"
        case .propertiesTooLarge: "the properties of a resource exceed the size limit"
        case .superseded: "another server has taken over the upload"
        case .failed(let reason): reason
        }
    }
}

/// Storage for locks, dead properties, intents, uploads and trash entries, which the file system cannot hold.
/// Calls may block unless they state otherwise.
///
/// A store has no clock and enforces no WebDAV rules; it only stores rows. ``ShareState`` is its only caller.
public protocol StateStore: Sendable {
    /// Commits all changes in order, or none.
    ///
    /// - Parameter publish: called once after the changes are durable, in commit order even with concurrent
    ///   callers; not called if the transaction fails. Receives the positions in `changes` of each
    ///   `removeProperty` that removed the last property of its resource, and of each `copyProperties` that
    ///   copied no properties. It must be short and must not call ``apply(_:publish:)``.
    func apply(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void
    ) throws(StateError)

    /// Like ``apply(_:publish:)``, for callers that must not wait; returns immediately.
    ///
    /// - Parameter completion: called once, on any thread, after `publish`, with the error of the transaction
    ///   or nil for success. It must be short.
    func enqueue(
        _ changes: [StateChange], publish: @escaping @Sendable (_ emptying: Set<Int>) -> Void,
        completion: @escaping @Sendable (StateError?) -> Void
    )

    /// Returns all locks, including expired ones, in order of creation, each with the binding of its root.
    func locks() throws(StateError) -> [(lock: Lock, binding: Binding)]
    /// Returns every path that has dead properties, with its binding.
    func pathsWithProperties() throws(StateError) -> [(path: ResourcePath, binding: Binding)]
    /// Returns every path that has a dead property with this name.
    func paths(with name: PropertyName) throws(StateError) -> [ResourcePath]
    /// Returns all intents, ordered by id.
    func intents() throws(StateError) -> [RenameIntent]

    /// Returns all uploads, including expired ones, ordered by id.
    func uploads() throws(StateError) -> [UploadRecord]
    /// Returns the size of the trash.
    func trashTotals() throws(StateError) -> TrashTotals
    /// Returns the trash entries with higher numbers, in ascending order.
    func trash(after number: Int64, limit: Int) throws(StateError) -> [TrashEntry]
    /// Returns the entry with `id`, or nil if there is none.
    func trashEntry(_ id: String) throws(StateError) -> TrashEntry?

    /// Returns the properties at `path`, or nil if there are none.
    func record(at path: ResourcePath) throws(StateError) -> PropertyRecord?
    /// Returns the records at several paths, nil for paths without properties, from one consistent snapshot.
    ///
    /// - Parameter limitBytes: the maximum size of all names and values together. The result ends before the
    ///   record that exceeds it, and is empty if the first one does.
    func records(at paths: [ResourcePath], limitBytes: Int) throws(StateError) -> [PropertyRecord?]
    /// Returns the records at and below a path.
    func records(
        under path: ResourcePath
    ) throws(StateError) -> [(path: ResourcePath, record: PropertyRecord)]
}

extension StateStore {
    /// Reads every record; sufficient for stores in memory.
    public func paths(with name: PropertyName) throws(StateError) -> [ResourcePath] {
        try records(under: .root).filter { $0.record.properties.contains { $0.name == name } }.map(\.path)
    }

    /// Returns the records at several paths, nil for paths without properties, from one consistent snapshot.
    public func records(at paths: [ResourcePath]) throws(StateError) -> [PropertyRecord?] {
        try records(at: paths, limitBytes: .max)
    }

    /// Commits all changes in order, or none.
    public func apply(_ changes: [StateChange]) throws(StateError) {
        try apply(changes) { _ in }
    }

    /// Commits synchronously; sufficient for stores in memory.
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

extension StoreError {
    package init(_ error: StateError) {
        switch error {
        case .outOfSpace: self = .outOfSpace
        // A configured limit, not the capacity of the volume (RFC 4331 §6).
        case .propertiesTooLarge: self = .quotaExceeded
        case .superseded: self = .superseded
        case .failed(let reason): self = .failed(reason: reason)
        }
    }
}

extension StateError {
    package init(_ error: StoreError) {
        switch error {
        case .outOfSpace: self = .outOfSpace
        case .quotaExceeded: self = .propertiesTooLarge
        case .superseded: self = .superseded
        default: self = .failed(reason: error.text)
        }
    }
}
