internal import DavitHTTP

/// A path in ``RowIndex`` that has rows, or has such paths below it.
///
/// Belongs to one index and is touched only by it.
final class RowNode {
    var children: [SegmentKey: RowNode] = [:]
    var binding: Binding?
    var hasProperties = false
    /// One of its properties is ``PropertyName/contentLanguage``.
    var hasLanguage = false
    /// In the order they were added.
    var locks: [HeldLock] = []
    /// The ids of uploads to members of this collection.
    var uploads: Set<String> = []

    /// Paths with properties, here and below.
    var propertyCount = 0
    /// Locks, here and below.
    var lockCount = 0
    /// Uploads, here and below.
    var uploadCount = 0

    var hasRows: Bool { hasProperties || !locks.isEmpty }
    /// Nothing rests on this node itself.
    var isUseless: Bool { !hasRows && uploads.isEmpty }

    /// This node and all nodes below it, in no particular order. Memory and time are linear in their number.
    ///
    /// Uses a stack of its own: a tree can have more levels than the stack of a thread has room for.
    /// - Parameter includes: whether a node and its children are visited.
    func forEach(where includes: (RowNode) -> Bool, do body: (RowNode) -> Void) {
        var pending = [self]
        while let node = pending.popLast() {
            guard includes(node) else { continue }
            body(node)
            pending.append(contentsOf: node.children.values)
        }
    }

    /// Releases the nodes below one after another. Left to the runtime, each level would take its part of the stack of
    /// the thread, and some tens of thousands of levels would overflow it.
    deinit {
        if children.isEmpty { return }
        var pending: [RowNode] = []
        moveChildren(to: &pending)
        while var node = pending.popLast() {
            // One that somebody else still holds keeps its children, and releases them the same way.
            if isKnownUniquelyReferenced(&node) { node.moveChildren(to: &pending) }
        }
    }

    private func moveChildren(to pending: inout [RowNode]) {
        pending.append(contentsOf: children.values)
        children.removeAll()
    }
}

/// A lock in memory, with its place in the order of creation.
final class HeldLock {
    var lock: Lock
    let number: Int64
    /// Its place in the ``ExpiryHeap``, which alone changes it.
    var place = 0

    init(_ lock: Lock, number: Int64) {
        self.lock = lock
        self.number = number
    }
}
