internal import DavitHTTP
internal import DavitWebDAV

/// Locks ordered by expiry: a binary heap whose members know their positions, so that insertion, update and
/// removal are logarithmic in the number of locks, and the earliest expiry is available in constant time.
struct ExpiryHeap {
    private var members: [HeldLock] = []

    /// The earliest expiry of any lock.
    var earliest: Timestamp? { members.first?.lock.expiry }

    /// Returns up to `limit` locks that have expired at `now`, including the earliest.
    func ended(now: Timestamp, limit: Int) -> [Lock] {
        var found: [Lock] = []
        var next = 0
        // The parent of an expired lock has expired too, so a traversal from the top finds all of them.
        var waiting: [Int] = [0]
        while next < waiting.count, found.count < limit {
            let place = waiting[next]
            next += 1
            guard place < members.count, members[place].lock.expiry <= now else { continue }
            found.append(members[place].lock)
            waiting += [2 * place + 1, 2 * place + 2]
        }
        return found
    }

    mutating func insert(_ held: HeldLock) {
        held.place = members.count
        members.append(held)
        settle(held)
    }

    mutating func remove(_ held: HeldLock) {
        let last = members.removeLast()
        guard last !== held else { return }
        put(last, at: held.place)
        settle(last)
    }

    /// Restores the heap order after the expiry of a member has changed.
    mutating func settle(_ held: HeldLock) {
        while held.place > 0 {
            let above = members[(held.place - 1) / 2]
            guard held.lock.expiry < above.lock.expiry else { break }
            exchange(held, above)
        }
        while let below = firstBelow(held.place), below.lock.expiry < held.lock.expiry {
            exchange(below, held)
        }
    }

    /// Returns the child of a position that expires first.
    private func firstBelow(_ place: Int) -> HeldLock? {
        let left = 2 * place + 1
        guard left < members.count else { return nil }
        let right = left + 1
        guard right < members.count, members[right].lock.expiry < members[left].lock.expiry else {
            return members[left]
        }
        return members[right]
    }

    private mutating func exchange(_ a: HeldLock, _ b: HeldLock) {
        let place = a.place
        put(a, at: b.place)
        put(b, at: place)
    }

    private mutating func put(_ held: HeldLock, at place: Int) {
        members[place] = held
        held.place = place
    }
}
