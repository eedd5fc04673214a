internal import DavitHTTP
internal import DavitWebDAV

/// An in-memory index of the paths that have dead properties, locks or uploads, with the locks and uploads
/// themselves: a tree of nodes that follows the namespace, each with the number of rows at and below it.
///
/// The cost of finding a path depends only on its depth, regardless of the number of rows elsewhere. A
/// subtree is moved by reattaching its node. Property values are kept only up to a limit.
struct RowIndex {
    let root = RowNode()
    private(set) var tokens: [LockToken: LockEntry] = [:]
    private var nextNumber: Int64 = 1
    private(set) var expiries = ExpiryHeap()
    /// The uploads by id.
    var uploads: [String: UploadRecord] = [:]
    /// The hidden names of the bytes of all uploads that have not been published.
    var stagedNames: Set<[UInt8]> = []
    /// Whether any path has, or had, a ``PropertyName/contentLanguage``.
    private(set) var hasSeenLanguages = false
    /// The number of changes so far that can affect property values.
    private(set) var propertyVersion: UInt64 = 0
    /// The properties that were kept since all were last dropped; empty for those that have changed.
    private var kept: [(properties: [StoredProperty], bytes: Int)] = []
    /// The memory charged for them, including those that have changed.
    private var keptBytes = 0
    /// How often all were dropped.
    private var keptGeneration = 0
    /// The cost of locks, charged to the clients that created them.
    private(set) var lockQuota = QuotaTracker()
    /// The cost of uploads, charged to the clients that created them.
    var uploadQuota = QuotaTracker()
    /// Locks added or removed since the list was last collected; nil if there are no listeners.
    var lockChanges: [Lock]?

    // MARK: Queries

    func node(at path: ResourcePath) -> RowNode? {
        var node = root
        var offset = 0
        while let segment = path.nextSegment(at: &offset) {
            guard let child = node.children[segment] else { return nil }
            node = child
        }
        return node
    }

    /// A collection whose node was found, for the lookups of other members.
    struct KnownCollection {
        fileprivate let path: ArraySlice<UInt8>
        fileprivate let node: RowNode
    }

    /// Same as ``node(at:)``, but does not look up the collection again if it is that of the last path.
    func node(at path: ResourcePath, _ last: inout KnownCollection?) -> RowNode? {
        guard let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else { return node(at: path) }
        let collection = path.bytes[..<slash]
        if last?.path != collection {
            last = node(at: ResourcePath(unchecked: Array(collection))).map {
                KnownCollection(path: collection, node: $0)
            }
        }
        return last?.node.children[SegmentKey(path.bytes[(slash + 1)...])]
    }

    /// Returns the locks on `path` and those of depth infinity on its ancestors, outermost first.
    func locks(covering path: ResourcePath, now: Timestamp) -> [Lock] {
        var found: [Lock] = []
        var node = root
        var offset = 0
        while node.lockCount > 0 {
            let segment = path.nextSegment(at: &offset)
            for held in node.locks where held.lock.expiry > now {
                if segment == nil || held.lock.depth == .infinity { found.append(held.lock) }
            }
            guard let segment, let child = node.children[segment] else { break }
            node = child
        }
        return found
    }

    /// Returns the locks whose root is strictly below `path`, in insertion order.
    func locks(below path: ResourcePath, now: Timestamp) -> [Lock] {
        guard let top = node(at: path), top.lockCount > top.locks.count else { return [] }
        var found: [LockEntry] = []
        top.forEach(
            where: { $0.lockCount > 0 }, do: { if $0 !== top { found.append(contentsOf: $0.locks) } })
        found.sort { $0.number < $1.number }
        return found.lazy.map(\.lock).filter { $0.expiry > now }
    }

    func held(_ token: LockToken, root: ResourcePath) -> LockEntry? {
        guard let held = tokens[token], held.lock.root == root else { return nil }
        return held
    }

    // MARK: Changes

    /// Descends from the root to `path`, passing each node to `body` and creating missing nodes.
    /// - Returns: the node of `path`.
    @discardableResult
    func walk(to path: ResourcePath, _ body: (RowNode) -> Void = { _ in }) -> RowNode {
        var node = root
        body(node)
        var offset = 0
        while let segment = path.nextSegment(at: &offset) {
            if let child = node.children[segment] {
                node = child
            } else {
                let child = RowNode()
                node.children[segment.detached] = child
                node = child
            }
            body(node)
        }
        return node
    }

    func setBinding(_ binding: Binding?, at path: ResourcePath) { walk(to: path).binding = binding }

    mutating func setHasLanguage(_ hasLanguage: Bool, at path: ResourcePath) {
        if hasLanguage { hasSeenLanguages = true }
        node(at: path)?.hasLanguage = hasLanguage
    }

    mutating func setHasProperties(_ hasProperties: Bool, at path: ResourcePath) {
        let node = walk(to: path)
        dropProperties(of: node)
        if !hasProperties { node.hasLanguage = false }
        guard node.hasProperties != hasProperties else { return }
        node.hasProperties = hasProperties
        walk(to: path) { $0.propertyCount += hasProperties ? 1 : -1 }
    }

    // MARK: Property values

    /// The maximum memory for property values, in bytes.
    private static let keptLimit = 4 << 20
    /// The memory of a property in addition to its name and value: two strings, an array, and its part of another array.
    private static let propertyOverhead = 224
    /// The memory of the properties of a resource in addition to that: an array, and an element of another one.
    private static let resourceOverhead = 96
    /// The maximum size of the properties of a resource that are kept, in bytes.
    private static let keptPropertiesLimit = 16 << 10

    /// Returns the properties of a resource and their size, as counted by property limits; nil if they are not kept.
    func keptProperties(of node: RowNode) -> (properties: [StoredProperty], bytes: Int)? {
        node.kept.generation == keptGeneration ? kept[node.kept.position] : nil
    }

    /// Keeps the properties of a resource, so that the next listing need not read them. If there is no room, all that is kept is
    /// dropped first; the properties of folders that are listed often are soon kept again.
    /// - Parameters:
    ///   - bytes: their size, as counted by property limits.
    ///   - dropped: receives what was dropped, which takes some milliseconds to release.
    mutating func keep(
        _ properties: [StoredProperty], bytes: Int, at node: RowNode,
        dropping dropped: inout [[StoredProperty]]
    ) {
        guard bytes <= Self.keptPropertiesLimit, node.kept.generation != keptGeneration else { return }
        let charged = bytes + properties.count * Self.propertyOverhead + Self.resourceOverhead
        if keptBytes + charged > Self.keptLimit {
            dropped += kept.map(\.properties)
            kept = []
            keptBytes = 0
            keptGeneration += 1
        }
        keptBytes += charged
        node.kept = KeptPosition(generation: keptGeneration, position: kept.count)
        kept.append((properties, bytes))
    }

    /// Called for each change of properties. What was dropped stays charged until all are dropped, which limits the length of the
    /// list as well.
    mutating func dropProperties(of node: RowNode) {
        propertyVersion += 1
        if node.kept.generation == keptGeneration { kept[node.kept.position] = ([], 0) }
        node.kept = KeptPosition()
    }

    mutating func insert(_ lock: Lock) {
        let held = LockEntry(lock, number: nextNumber)
        nextNumber += 1
        walk(to: lock.root) { $0.lockCount += 1 }.locks.append(held)
        tokens[lock.token] = held
        lockQuota.add(lock.chargedBytes, for: lock.client)
        expiries.insert(held)
        lockChanges?.append(lock)
    }

    mutating func refresh(_ held: LockEntry, timeoutSeconds: Int64, expiry: Timestamp) {
        held.lock.timeoutSeconds = timeoutSeconds
        held.lock.expiry = expiry
        expiries.restoreHeapOrder(held)
    }

    mutating func remove(_ held: LockEntry) {
        tokens[held.lock.token] = nil
        lockQuota.remove(held.lock.chargedBytes, for: held.lock.client)
        expiries.remove(held)
        lockChanges?.append(held.lock)
        walk(to: held.lock.root) { $0.lockCount -= 1 }.locks.removeAll { $0 === held }
    }

    /// Removes and returns all locks at and below `path`.
    mutating func removeLocks(under path: ResourcePath) -> [LockEntry] {
        guard let top = node(at: path), top.lockCount > 0 else { return [] }
        var removed: [LockEntry] = []
        top.forEach(where: { $0.lockCount > 0 }, do: { removed.append(contentsOf: $0.locks) })
        for held in removed { remove(held) }
        return removed
    }

    /// Removes `path` with all its descendants and returns its node, or nil if it has none. The node of the
    /// root is emptied instead, and the result is nil.
    @discardableResult
    mutating func detach(_ path: ResourcePath) -> RowNode? {
        _ = removeLocks(under: path)
        _ = removeUploads(under: path)
        propertyVersion += 1
        guard let top = node(at: path) else { return nil }
        let count = top.propertyCount
        guard let parent = path.parent else {
            (root.children, root.binding, root.hasProperties, root.propertyCount) = ([:], nil, false, 0)
            root.hasLanguage = false
            dropProperties(of: root)
            return nil
        }
        walk(to: parent) { $0.propertyCount -= count }.children[SegmentKey(path.name)] = nil
        prune(parent)
        return top
    }

    /// Attaches `node`, which has neither locks nor uploads, at `path`, which must not have a node.
    func attach(_ node: RowNode, at path: ResourcePath) {
        guard let parent = path.parent else { return }
        let above = walk(to: parent) { $0.propertyCount += node.propertyCount }
        above.children[SegmentKey(path.name).detached] = node
    }

    /// Removes the binding at `path` if the path has no rows.
    func refresh(_ path: ResourcePath) {
        guard let node = node(at: path), !node.hasRows else { return }
        node.binding = nil
        prune(path)
    }

    /// Removes the nodes on the path from the root to `path` that are no longer needed.
    func prune(_ path: ResourcePath) {
        var node = root
        var offset = 0
        var steps: [(parent: RowNode, segment: SegmentKey, child: RowNode)] = []
        while let segment = path.nextSegment(at: &offset), let child = node.children[segment] {
            steps.append((node, segment, child))
            node = child
        }
        for step in steps.reversed() {
            guard step.child.children.isEmpty, step.child.binding == nil, step.child.isRedundant else {
                return
            }
            step.parent.children[step.segment] = nil
        }
    }
}
