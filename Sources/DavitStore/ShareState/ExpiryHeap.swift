internal import DavitHTTP
internal import DavitWebDAV

/// Locks by when they end: a binary heap that knows where each of its members is, so that adding, moving and
/// removing one is logarithmic in their number, and the first to end is at hand.
struct ExpiryHeap {
    private var members: [HeldLock] = []

    /// No lock ends before this.
    var earliest: Timestamp? { members.first?.lock.expiry }

    /// Some of the locks that no longer count at `now`, the first to end among them.
    func ended(now: Timestamp, limit: Int) -> [Lock] {
        var found: [Lock] = []
        var next = 0
        // Whatever has ended stands below something that has: a walk from the top meets all of it.
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

    /// Brings a member to where it belongs, after its time has changed.
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

    /// The one of the two members below a place that ends first.
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
