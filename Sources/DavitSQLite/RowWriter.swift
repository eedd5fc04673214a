internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Executes ``StateChange``s on the writing connection, within the caller's transaction.
final class RowWriter {
    private let statements: WriteStatements
    /// Paths whose binding may have become unused. They are checked after all changes, because a later change
    /// of the same transaction can rely on the binding.
    private var touched: Set<ResourcePath> = []
    /// The path of the last `bind`, to which the following changes usually refer; nil after a change that
    /// could remove its binding.
    private var bound: ResourcePath?
    /// The number of the last lock; numbers used by failed transactions are skipped.
    private var lastLockNumber: Int64

    /// - Parameter lastLockNumber: the highest number in the table, or 0.
    init(_ statements: WriteStatements, lastLockNumber: Int64) {
        self.statements = statements
        self.lastLockNumber = lastLockNumber
    }

    /// See ``Statement/scanSteps``.
    var scanSteps: Int { statements.sum { $0.scanSteps } }

    /// The number of statements that SQLite does not accept, including those that have not run yet.
    var invalidStatementCount: Int { statements.sum { $0.isValid ? 0 : 1 } }

    /// See ``Statement/steps``.
    var steps: Int { statements.sum { $0.steps } }

    /// - Returns: the positions of each `removeProperty` that removed the last property of its resource, and
    ///   of each `copyProperties` that copied no properties.
    func apply(_ changes: [StateChange]) throws(StateError) -> Set<Int> {
        touched.removeAll(keepingCapacity: true)
        bound = nil
        var emptying: Set<Int> = []
        var limits: [(path: ResourcePath, bytes: Int)] = []
        for (position, change) in changes.enumerated() {
            switch change {
            case .bind, .setProperty, .limitProperties, .addLock: break
            default: bound = nil
            }
            switch change {
            case .removeProperty(let path, let name):
                if try removeProperty(name, at: path) { emptying.insert(position) }
            case .copyProperties(_, let path, _, _, _):
                try apply(change)
                if try !statements.anyProperty.hasRow(path.key) { emptying.insert(position) }
            case .limitProperties(let path, let bytes):
                limits.append((path, max(bytes, try propertyBytes(at: path))))
            default:
                try apply(change)
            }
        }
        for (path, bytes) in limits where try propertyBytes(at: path) > bytes { throw .propertiesTooLarge }
        for path in touched { try statements.removeRedundantBinding.run(path.key) }
        return emptying
    }

    private func apply(_ change: StateChange) throws(StateError) {
        switch change {
        case .bind(let path, let current, let pending):
            try bind(path, to: Binding(identity: current, pending: pending))
        case .setProperty(let path, let property):
            try setProperty(property, at: path)
        case .limitProperties:
            break
        case .copyProperties(let source, let destination, let binding, let without, let limitBytes):
            try copyProperties(from: source, to: destination, binding, without: without)
            if let limitBytes, try propertyBytes(at: destination) > limitBytes { throw .propertiesTooLarge }
        case .removeProperty(let path, let name):
            _ = try removeProperty(name, at: path)
        case .removeRows(let path):
            try removeRows(under: path)
        case .removeLocks(let path):
            try removeLocks(under: path)
        case .moveRows(let source, let destination):
            try moveRows(from: source, to: destination)
        case .putRecord(let path, let record):
            try putRecord(record, at: path)
        case .addLock(let lock):
            try addLock(lock)
        case .refreshLock(let token, let root, let timeoutSeconds, let expiry):
            try statements.refreshLock.run(
                root.key + [.text(token.uri), .integer(timeoutSeconds), .integer(expiry.nanoseconds)])
        case .removeLock(let token, let root):
            try removeLocks(at: root, statements.removeLock, [.text(token.uri)])
        case .removeExpiredLock(let token, let root, let now):
            try removeLocks(
                at: root, statements.removeExpiredLock, [.text(token.uri), .integer(now.nanoseconds)])
        case .putIntent(let intent):
            try putIntent(intent)
        case .dropIntent(let id):
            try statements.dropIntent.run([.integer(id)])
        case .putUpload(let upload):
            try putUpload(upload)
        case .setUploadProgress(let id, let progress):
            try statements.setUploadProgress.run([.text(id)] + Self.values(progress))
        case .removeUpload(let id):
            try statements.removeUpload.run([.text(id)])
        case .putTrash(let entry):
            try putTrash(entry)
        case .measureTrash(let entry, let length):
            try statements.measureTrash.run([.integer(entry.number), .integer(length)])
        case .dropTrash(let entry):
            try statements.dropTrash.run([.integer(entry.number)])
        }
    }

    // MARK: Bindings and properties

    private func bind(_ path: ResourcePath, to binding: Binding) throws(StateError) {
        // Before a file is replaced, its rows are usually bound to it.
        if binding.pending != nil, try statements.replaceBinding.run(path.key + Self.values(binding)) > 0 {
            bound = path
            return
        }
        let old = try self.binding(at: path)
        if let old, !old.holds(for: binding.identity) {
            try statements.removePropertiesAt.run(path.key)
            try removeLocks(at: path, statements.removeLocksAt)
        }
        if old != binding { try putBinding(binding, at: path) }
        bound = path
    }

    /// - Throws: an error if `path` has no binding.
    private func requireBinding(at path: ResourcePath) throws(StateError) {
        if bound == path { return }
        guard try statements.binding.hasRow(path.key) else { throw .unbound(path) }
    }

    private func binding(at path: ResourcePath) throws(StateError) -> Binding? {
        var binding: Binding?
        try statements.binding.forEachRow(path.key) { row in binding = row.binding(0) }
        return binding
    }

    private func putBinding(_ binding: Binding, at path: ResourcePath) throws(StateError) {
        try statements.putBinding.run(path.key + Self.values(binding))
        touched.insert(path)
    }

    private static func values(_ binding: Binding) -> [SQLValue] {
        [
            .bits(binding.identity.inode), .integer(binding.identity.birth),
            binding.pending.map { .bits($0.inode) } ?? .null, .optional(binding.pending?.birth),
        ]
    }

    private func setProperty(_ property: StoredProperty, at path: ResourcePath) throws(StateError) {
        try requireBinding(at: path)
        try putProperty(property, at: path)
    }

    private func putProperty(_ property: StoredProperty, at path: ResourcePath) throws(StateError) {
        try statements.putProperty.run(
            path.key + [
                .text(property.name.namespace), .text(property.name.local), .blob(property.value.element),
            ])
        // The binding is in use now. A change that removes the property adds the path again.
        touched.remove(path)
    }

    /// - Returns: whether it was the last property.
    private func removeProperty(_ name: PropertyName, at path: ResourcePath) throws(StateError) -> Bool {
        let removed = try statements.removeProperty.run(
            path.key + [.text(name.namespace), .text(name.local)])
        guard removed > 0, try !statements.anyProperty.hasRow(path.key) else { return false }
        touched.insert(path)
        return true
    }

    private func putRecord(_ record: PropertyRecord, at path: ResourcePath) throws(StateError) {
        try statements.removePropertiesAt.run(path.key)
        try putBinding(record.binding, at: path)
        for property in record.properties { try putProperty(property, at: path) }
    }

    /// Returns the total size of names and values in bytes.
    private func propertyBytes(at path: ResourcePath) throws(StateError) -> Int {
        var bytes = 0
        try statements.propertyBytes.forEachRow(path.key) { row in bytes = Int(row.integer(0)) }
        return bytes
    }

    /// Copies properties within the database, so that the values of a tree are never in memory together.
    private func copyProperties(
        from source: ResourcePath, to destination: ResourcePath, _ binding: Binding,
        without names: [PropertyName]
    ) throws(StateError) {
        if source == destination { throw .overlap(source, destination) }
        try statements.removePropertiesAt.run(destination.key)
        try putBinding(binding, at: destination)
        try statements.copyProperties.run(source.key + destination.key)
        for name in names { _ = try removeProperty(name, at: destination) }
    }

    // MARK: Subtrees

    private func removeRows(under path: ResourcePath) throws(StateError) {
        try statements.removePropertiesAt.run(path.key)
        try statements.removePropertiesBelow.run(path.belowRange)
        try removeLocks(under: path)
        try statements.removeBindingAt.run(path.key)
        try statements.removeBindingsBelow.run(path.belowRange)
        try statements.removeUploadsUnder.run(path.belowRange)
    }

    private func removeLocks(under path: ResourcePath) throws(StateError) {
        try removeLocks(at: path, statements.removeLocksAt)
        try statements.removeLocksBelow.forEachRow(path.belowRange) { row in touched.insert(row.path(0)) }
    }

    /// - Parameter statement: a DELETE of locks at one path; its parameters are the path's key and `values`.
    private func removeLocks(
        at path: ResourcePath, _ statement: Statement, _ values: [SQLValue] = []
    ) throws(StateError) {
        if try statement.run(path.key + values) > 0 { touched.insert(path) }
    }

    private func moveRows(from source: ResourcePath, to destination: ResourcePath) throws(StateError) {
        if source.overlaps(destination) { throw .overlap(source, destination) }
        try removeRows(under: destination)
        try removeLocks(under: source)
        let at = source.key + destination.key
        try statements.movePropertiesAt.run(at)
        try statements.moveBindingAt.run(at)
        let prefix = source.memberParent
        let below =
            source.belowRange + [.blob(destination.memberParent), .integer(Int64(prefix.count) + 1)]
        try statements.movePropertiesBelow.run(below)
        try statements.moveBindingsBelow.run(below)
        try statements.moveUploadsUnder.run(below)
        touched = Set(touched.map { $0.rebased(from: source, to: destination) ?? $0 })
    }

    // MARK: Locks and intents

    private func addLock(_ lock: Lock) throws(StateError) {
        try requireBinding(at: lock.root)
        lastLockNumber += 1
        let added = try statements.addLock.run(
            lock.root.key + [
                .text(lock.token.uri), .integer(lastLockNumber), .integer(lock.depth == .infinity ? 1 : 0),
                .integer(lock.scope == .exclusive ? 1 : 0),
                .optional(lock.owner?.element), .optional(lock.principal), .integer(lock.timeoutSeconds),
                .integer(lock.expiry.nanoseconds), .blob(lock.rootHref),
                .optional(lock.created?.nanoseconds), .optional(lock.network),
            ])
        guard added > 0 else { throw .repeatedToken }
        touched.remove(lock.root)
    }

    private func putUpload(_ upload: UploadRecord) throws(StateError) {
        let values: [SQLValue] = [
            .text(upload.id), .blob(upload.collection.memberParent), .blob(upload.name),
            .blob(upload.stagedName), .bits(upload.identity.inode), .integer(upload.identity.birth),
            .optional(upload.principal), .blob(upload.fieldLines), .integer(upload.options.rawValue),
        ]
        try statements.putUpload.run(
            values + Self.values(upload.progress) + [.optional(upload.network)])
    }

    private static func values(_ progress: UploadRecord.Progress) -> [SQLValue] {
        [
            .optional(progress.length), .integer(progress.offset), .integer(progress.isUnverified ? 1 : 0),
            .integer(progress.isComplete ? 1 : 0), .integer(progress.expiry.nanoseconds),
        ]
    }

    private func putIntent(_ intent: RenameIntent) throws(StateError) {
        try statements.putIntent.run([
            .integer(intent.id), .blob(intent.source.bytes), .blob(intent.destination.bytes),
            .bits(intent.moved.inode), .integer(intent.moved.birth),
            intent.replaced.map { .bits($0.inode) } ?? .null, .optional(intent.replaced?.birth),
            .integer(intent.isCopy ? 1 : 0), .optional(intent.origin?.path.bytes),
            intent.origin.map { .bits($0.identity.inode) } ?? .null,
            .optional(intent.origin?.identity.birth),
            .optional(intent.attributes?.isExecutable.map { $0 ? 1 : 0 }),
            .optional(intent.attributes?.modified?.nanoseconds), .optional(intent.kept?.bytes),
            .optional(intent.contentLanguage),
        ])
    }

    private func putTrash(_ entry: TrashEntry) throws(StateError) {
        let added = try statements.putTrash.run([
            .integer(entry.number), .text(entry.id), .blob(entry.path.bytes), .blob(entry.location.bytes),
            .bits(entry.identity.inode), .integer(entry.identity.birth), .integer(entry.deleted.nanoseconds),
            .optional(entry.principal), .optional(entry.length), .integer(entry.isCollection ? 1 : 0),
            .integer(entry.reason == .overwritten ? 1 : 0),
        ])
        guard added > 0 else { throw .repeatedTrash }
    }
}
