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
