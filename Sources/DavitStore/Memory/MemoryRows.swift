internal import DavitHTTP
internal import DavitWebDAV

/// The rows of a ``MemoryStateStore``: a minimal implementation of every ``StateChange``, without indexes.
struct MemoryRows: Sendable {
    /// A property name compared by bytes: strings that are equal in Unicode can be different names in XML.
    struct NameKey: Hashable, Comparable {
        let namespace: [UInt8]
        let local: [UInt8]

        init(_ name: PropertyName) {
            namespace = Array(name.namespace.utf8)
            local = Array(name.local.utf8)
        }

        static func < (a: NameKey, b: NameKey) -> Bool {
            if a.namespace != b.namespace { return a.namespace.lexicographicallyPrecedes(b.namespace) }
            return a.local.lexicographicallyPrecedes(b.local)
        }
    }

    var bindings: [ResourcePath: Binding] = [:]
    /// The properties by path; resources without properties have no entry.
    var properties: [ResourcePath: [NameKey: StoredProperty]] = [:]
    /// The locks in insertion order.
    var locks: [Lock] = []
    var intents: [Int64: RenameIntent] = [:]
    var uploads: [String: UploadRecord] = [:]
    /// The trash entries by number.
    var trash: [Int64: TrashEntry] = [:]

    func record(at path: ResourcePath) -> PropertyRecord? {
        guard let binding = bindings[path], let values = properties[path] else { return nil }
        return PropertyRecord(
            binding: binding, properties: values.sorted { $0.key < $1.key }.map(\.value))
    }

    /// - Returns: the positions of each `removeProperty` that removed the last property of its resource, and
    ///   of each `copyProperties` that copied no properties.
    mutating func apply(_ changes: [StateChange]) throws(StateError) -> Set<Int> {
        var emptying: Set<Int> = []
        var limits: [(path: ResourcePath, bytes: Int)] = []
        for (position, change) in changes.enumerated() {
            try apply(change)
            switch change {
            case .limitProperties(let path, let bytes):
                limits.append((path, max(bytes, propertyBytes(at: path))))
            case .copyProperties(_, let path, _, _, _) where properties[path] == nil:
                emptying.insert(position)
            default: break
            }
            if case .removeProperty(let path, _) = change, properties[path]?.isEmpty == true {
                properties[path] = nil
                emptying.insert(position)
            }
        }
        for (path, bytes) in limits where propertyBytes(at: path) > bytes { throw .propertiesTooLarge }
        let roots = Set(locks.map(\.root))
        bindings = bindings.filter { path, _ in properties[path] != nil || roots.contains(path) }
        return emptying
    }

    private func propertyBytes(at path: ResourcePath) -> Int {
        properties[path]?.values.reduce(0) { $0 + $1.byteCount } ?? 0
    }

    private mutating func apply(_ change: StateChange) throws(StateError) {
        switch change {
        case .bind(let path, let current, let pending):
            if let old = bindings[path], !old.holds(for: current) {
                properties[path] = nil
                locks.removeAll { $0.root == path }
            }
            bindings[path] = Binding(identity: current, pending: pending)
        case .setProperty(let path, let property):
            guard bindings[path] != nil else { throw .unbound(path) }
            properties[path, default: [:]][NameKey(property.name)] = property
        case .limitProperties:
            break
        case .copyProperties(let source, let destination, let binding, let without, let limitBytes):
            if source == destination { throw .overlap(source, destination) }
            var copies = properties[source] ?? [:]
            for name in without { copies[NameKey(name)] = nil }
            bindings[destination] = binding
            properties[destination] = copies.isEmpty ? nil : copies
            if let limitBytes, propertyBytes(at: destination) > limitBytes { throw .propertiesTooLarge }
        case .removeProperty(let path, let name):
            properties[path]?[NameKey(name)] = nil
        case .removeRows(let path):
            removeRows(under: path)
        case .removeLocks(let path):
            locks.removeAll { path.contains($0.root) }
        case .moveRows(let source, let destination):
            try moveRows(from: source, to: destination)
        case .putRecord(let path, let record):
            bindings[path] = record.binding
            let named = record.properties.map { (NameKey($0.name), $0) }
            properties[path] = named.isEmpty ? nil : Dictionary(named) { _, last in last }
        case .addLock(let lock):
            guard bindings[lock.root] != nil else { throw .unbound(lock.root) }
            guard !locks.contains(where: { $0.token == lock.token }) else { throw .repeatedToken }
            locks.append(lock)
        case .refreshLock(let token, let root, let timeoutSeconds, let expiry):
            for index in locks.indices where locks[index].token == token && locks[index].root == root {
                locks[index].timeoutSeconds = timeoutSeconds
                locks[index].expiry = expiry
            }
        case .removeLock(let token, let root):
            locks.removeAll { $0.token == token && $0.root == root }
        case .removeExpiredLock(let token, let root, let now):
            locks.removeAll { $0.token == token && $0.root == root && $0.expiry <= now }
        case .putIntent(let intent):
            intents[intent.id] = intent
        case .dropIntent(let id):
            intents[id] = nil
        case .putUpload(let upload):
            uploads[upload.id] = upload
        case .setUploadProgress(let id, let progress):
            uploads[id]?.progress = progress
        case .removeUpload(let id):
            uploads[id] = nil
        case .putTrash(let entry):
            let isRepeated = trash.values.contains { $0.number == entry.number || $0.id == entry.id }
            if isRepeated { throw .repeatedTrash }
            trash[entry.number] = entry
        case .measureTrash(let entry, let length):
            if trash[entry.number]?.length == nil { trash[entry.number]?.length = length }
        case .dropTrash(let entry):
            trash[entry.number] = nil
        }
    }

    private mutating func removeRows(under path: ResourcePath) {
        bindings = bindings.filter { !path.contains($0.key) }
        properties = properties.filter { !path.contains($0.key) }
        locks.removeAll { path.contains($0.root) }
        uploads = uploads.filter { !path.contains($0.value.collection) }
    }

    private mutating func moveRows(
        from source: ResourcePath, to destination: ResourcePath
    ) throws(StateError) {
        if source.overlaps(destination) { throw .overlap(source, destination) }
        removeRows(under: destination)
        locks.removeAll { source.contains($0.root) }
        bindings = bindings.rebasingKeys(from: source, to: destination)
        properties = properties.rebasingKeys(from: source, to: destination)
        for (id, upload) in uploads {
            if let moved = upload.collection.rebased(from: source, to: destination) {
                uploads[id]?.collection = moved
            }
        }
    }
}

extension Dictionary where Key == ResourcePath {
    fileprivate func rebasingKeys(from source: ResourcePath, to destination: ResourcePath) -> Self {
        reduce(into: [:]) { $0[$1.key.rebased(from: source, to: destination) ?? $1.key] = $1.value }
    }
}
