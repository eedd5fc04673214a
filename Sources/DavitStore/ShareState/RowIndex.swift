internal import DavitHTTP
internal import DavitWebDAV

/// Which paths have dead properties or locks, and the locks themselves: the namespace as a tree of nodes,
/// each with the number of rows below it.
///
/// A question costs the depth of its path, however many rows there are elsewhere; a subtree moves by
/// hanging its node somewhere else. Values of properties are not here.
struct RowIndex {
    let root = RowNode()
    private(set) var tokens: [LockToken: HeldLock] = [:]
    private var nextNumber: Int64 = 1
    private(set) var expiries = ExpiryHeap()
    /// By their ids.
    var uploads: [String: UploadRecord] = [:]
    /// The names under which their bytes are hidden.
    var stagedNames: Set<[UInt8]> = []
    /// Whether a path has, or had, a ``PropertyName/contentLanguage``.
    private(set) var hasSeenLanguages = false
    /// What the locks cost, by the clients that took them.
    private(set) var lockCharges = ChargeBook()
    /// What the uploads cost, by the clients that created them.
    var uploadCharges = ChargeBook()
    /// Locks that have come or gone since somebody looked; nil where nobody does.
    var lockChanges: [Lock]?

    // MARK: Looking

    func node(at path: ResourcePath) -> RowNode? {
        var node = root
        var offset = 0
        while let segment = path.nextSegment(at: &offset) {
            guard let child = node.children[segment] else { return nil }
            node = child
        }
        return node
    }

    /// Those on `path` and those of depth infinity on its ancestors, outermost first.
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

    /// Those whose root is strictly below `path`, in the order they were added.
    func locks(below path: ResourcePath, now: Timestamp) -> [Lock] {
        guard let top = node(at: path), top.lockCount > top.locks.count else { return [] }
        var found: [HeldLock] = []
        top.forEach(
            where: { $0.lockCount > 0 }, do: { if $0 !== top { found.append(contentsOf: $0.locks) } })
        found.sort { $0.number < $1.number }
        return found.lazy.map(\.lock).filter { $0.expiry > now }
    }

    func held(_ token: LockToken, root: ResourcePath) -> HeldLock? {
        guard let held = tokens[token], held.lock.root == root else { return nil }
        return held
    }

    // MARK: Changing

    /// Goes from the root to `path`, shows each node to `body`, and makes those that are missing.
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

    func setHasProperties(_ hasProperties: Bool, at path: ResourcePath) {
        let node = walk(to: path)
        if !hasProperties { node.hasLanguage = false }
        guard node.hasProperties != hasProperties else { return }
        node.hasProperties = hasProperties
        walk(to: path) { $0.propertyCount += hasProperties ? 1 : -1 }
    }

    mutating func insert(_ lock: Lock) {
        let held = HeldLock(lock, number: nextNumber)
        nextNumber += 1
        walk(to: lock.root) { $0.lockCount += 1 }.locks.append(held)
        tokens[lock.token] = held
        lockCharges.add(lock.chargedBytes, for: lock.client)
        expiries.insert(held)
        lockChanges?.append(lock)
    }

    mutating func refresh(_ held: HeldLock, timeoutSeconds: Int64, expiry: Timestamp) {
        held.lock.timeoutSeconds = timeoutSeconds
        held.lock.expiry = expiry
        expiries.settle(held)
    }

    mutating func remove(_ held: HeldLock) {
        tokens[held.lock.token] = nil
        lockCharges.remove(held.lock.chargedBytes, for: held.lock.client)
        expiries.remove(held)
        lockChanges?.append(held.lock)
        walk(to: held.lock.root) { $0.lockCount -= 1 }.locks.removeAll { $0 === held }
    }

    /// Takes out every lock at `path` and below it.
    mutating func removeLocks(under path: ResourcePath) -> [HeldLock] {
        guard let top = node(at: path), top.lockCount > 0 else { return [] }
        var removed: [HeldLock] = []
        top.forEach(where: { $0.lockCount > 0 }, do: { removed.append(contentsOf: $0.locks) })
        for held in removed { remove(held) }
        return removed
    }

    /// Takes `path` out, with all below it, and returns it; the root stays and loses all it has.
    @discardableResult
    mutating func detach(_ path: ResourcePath) -> RowNode? {
        _ = removeLocks(under: path)
        _ = removeUploads(under: path)
        guard let top = node(at: path) else { return nil }
        let count = top.propertyCount
        guard let parent = path.parent else {
            (root.children, root.binding, root.hasProperties, root.propertyCount) = ([:], nil, false, 0)
            root.hasLanguage = false
            return nil
        }
        walk(to: parent) { $0.propertyCount -= count }.children[SegmentKey(path.name)] = nil
        prune(parent)
        return top
    }

    /// Hangs `node`, which has no locks, at `path`, where nothing is.
    func attach(_ node: RowNode, at path: ResourcePath) {
        guard let parent = path.parent else { return }
        let above = walk(to: parent) { $0.propertyCount += node.propertyCount }
        above.children[SegmentKey(path.name).detached] = node
    }

    /// Forgets the binding at `path` if there are no rows.
    func settle(_ path: ResourcePath) {
        guard let node = node(at: path), !node.hasRows else { return }
        node.binding = nil
        prune(path)
    }

    /// Removes the nodes on the way to `path` that are of no use any more.
    func prune(_ path: ResourcePath) {
        var node = root
        var offset = 0
        var steps: [(parent: RowNode, segment: SegmentKey, child: RowNode)] = []
        while let segment = path.nextSegment(at: &offset), let child = node.children[segment] {
            steps.append((node, segment, child))
            node = child
        }
        for step in steps.reversed() {
            guard step.child.children.isEmpty, step.child.binding == nil, step.child.isUseless else { return }
            step.parent.children[step.segment] = nil
        }
    }
}
