internal import DavitHTTP

/// A path in ``RowIndex`` that has rows or uploads, or descendants that have them.
///
/// Owned and accessed by one index only.
final class RowNode {
    var children: [SegmentKey: RowNode] = [:]
    var binding: Binding?
    var hasProperties = false
    /// Where the index keeps the properties, if it does; see ``RowIndex/keptProperties(of:)``.
    var kept = KeptPosition()
    /// Whether one of its properties is ``PropertyName/contentLanguage``.
    var hasLanguage = false
    /// The locks in insertion order.
    var locks: [LockEntry] = []
    /// The ids of uploads to members of this collection.
    var uploads: Set<String> = []

    /// Number of paths with properties, at and below this node.
    var propertyCount = 0
    /// Number of locks at and below this node.
    var lockCount = 0
    /// Number of uploads at and below this node.
    var uploadCount = 0

    var hasRows: Bool { hasProperties || !locks.isEmpty }
    /// Whether the node itself has neither rows nor uploads.
    var isRedundant: Bool { !hasRows && uploads.isEmpty }

    /// Visits this node and all its descendants, in no particular order. Memory and time are linear in their
    /// number.
    ///
    /// Uses an explicit stack: a tree can have more levels than fit on the stack of a thread.
    /// - Parameter includes: whether to visit a node and its descendants.
    func forEach(where includes: (RowNode) -> Bool, do body: (RowNode) -> Void) {
        var pending = [self]
        while let node = pending.popLast() {
            guard includes(node) else { continue }
            body(node)
            pending.append(contentsOf: node.children.values)
        }
    }

    /// Releases the descendants iteratively. Recursive release by the runtime would overflow the thread's
    /// stack with tens of thousands of levels.
    deinit {
        if children.isEmpty { return }
        var pending: [RowNode] = []
        moveChildren(to: &pending)
        while var node = pending.popLast() {
            // A node with other references keeps its children and later releases them in the same way.
            if isKnownUniquelyReferenced(&node) { node.moveChildren(to: &pending) }
        }
    }

    private func moveChildren(to pending: inout [RowNode]) {
        pending.append(contentsOf: children.values)
        children.removeAll()
    }
}

/// The position of the properties of a resource among those that the index keeps.
struct KeptPosition {
    /// How often the index had dropped all when these were kept; -1 if they are not kept.
    var generation = -1
    var position = 0
}

/// A lock in memory, with its position in the order of creation.
final class LockEntry {
    var lock: Lock
    let number: Int64
    /// The position of this entry in the ``ExpiryHeap``; changed only by the heap.
    var position = 0

    init(_ lock: Lock, number: Int64) {
        self.lock = lock
        self.number = number
    }
}
