internal import DavitHTTP
internal import DavitWebDAV

/// Locks ordered by expiry: a binary heap whose members store their positions, so that insertion, update and
/// removal are logarithmic in the number of locks, and the earliest expiry is available in constant time.
struct ExpiryHeap {
    private var members: [LockEntry] = []

    /// The earliest expiry of any lock.
    var earliest: Timestamp? { members.first?.lock.expiry }

    /// Returns up to `limit` locks that have expired at `now`, including the earliest.
    func ended(now: Timestamp, limit: Int) -> [Lock] {
        var found: [Lock] = []
        var next = 0
        // The parent of an expired lock has expired too, so a traversal from the top finds all of them.
        var waiting: [Int] = [0]
        while next < waiting.count, found.count < limit {
            let position = waiting[next]
            next += 1
            guard position < members.count, members[position].lock.expiry <= now else { continue }
            found.append(members[position].lock)
            waiting += [2 * position + 1, 2 * position + 2]
        }
        return found
    }

    mutating func insert(_ held: LockEntry) {
        held.position = members.count
        members.append(held)
        restoreHeapOrder(held)
    }

    mutating func remove(_ held: LockEntry) {
        let last = members.removeLast()
        guard last !== held else { return }
        put(last, at: held.position)
        restoreHeapOrder(last)
    }

    /// Restores the heap order after the expiry of a member has changed.
    mutating func restoreHeapOrder(_ held: LockEntry) {
        while held.position > 0 {
            let above = members[(held.position - 1) / 2]
            guard held.lock.expiry < above.lock.expiry else { break }
            exchange(held, above)
        }
        while let below = firstBelow(held.position), below.lock.expiry < held.lock.expiry {
            exchange(below, held)
        }
    }

    /// Returns the child of the member at `position` that expires first; nil if there are no children.
    private func firstBelow(_ position: Int) -> LockEntry? {
        let left = 2 * position + 1
        guard left < members.count else { return nil }
        let right = left + 1
        guard right < members.count, members[right].lock.expiry < members[left].lock.expiry else {
            return members[left]
        }
        return members[right]
    }

    private mutating func exchange(_ a: LockEntry, _ b: LockEntry) {
        let position = a.position
        put(a, at: b.position)
        put(b, at: position)
    }

    private mutating func put(_ held: LockEntry, at position: Int) {
        members[position] = held
        held.position = position
    }
}
