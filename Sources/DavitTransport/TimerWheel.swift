/// An entry of a ``TimerWheel`` with a deadline. Belongs to one thread.
package class TimerEntry {
    /// The deadline in nanoseconds on the wheel's clock; `Int64.max` means never. Set by the wheel.
    @safe @exclusivity(unchecked) package fileprivate(set) var deadline = Int64.max
    /// The tick of the slot that holds the entry; -1 if it is in no slot.
    @safe @exclusivity(unchecked) fileprivate var filedTick: Int64 = -1
    /// The index of the entry in its slot.
    @safe @exclusivity(unchecked) fileprivate var position = 0

    /// Called once when the deadline has passed.
    func deadlinePassed() {}

    package init() {}
}

/// A timer wheel for many deadlines, most of which are postponed before they pass.
///
/// Postponing a deadline only stores it; the entry moves when its old slot is reached. A busy connection
/// therefore costs one store per request, and each entry is visited about once per timeout. Deadlines fire up
/// to one slot late and never early.
package struct TimerWheel {
    package static let slotCount = 512
    package static let slotNanoseconds: Int64 = 250_000_000

    private var slots = [[TimerEntry]](repeating: [], count: slotCount)
    /// A bit set of the slots that hold entries.
    private var occupied = [UInt64](repeating: 0, count: slotCount / 64)
    /// The last tick whose slot was processed.
    private var tick: Int64

    package init(now: Int64) { tick = now / Self.slotNanoseconds }

    /// Sets the deadline of an entry, which is added if necessary.
    package mutating func schedule(_ entry: TimerEntry, at deadline: Int64) {
        entry.deadline = deadline
        guard deadline != .max else { return }
        let wanted = slotTick(of: deadline)
        if entry.filedTick >= 0 {
            if entry.filedTick <= wanted { return }
            unlinkEntry(entry)
        }
        linkEntry(entry, at: wanted)
    }

    /// Removes an entry and clears its deadline.
    package mutating func remove(_ entry: TimerEntry) {
        entry.deadline = .max
        if entry.filedTick >= 0 { unlinkEntry(entry) }
    }

    /// Removes all entries and clears their deadlines.
    package mutating func removeAll() {
        for slot in slots.indices {
            for entry in slots[slot] {
                entry.filedTick = -1
                entry.deadline = .max
            }
            slots[slot] = []
        }
        for word in occupied.indices { occupied[word] = 0 }
    }

    /// Removes the entries whose deadline has passed, and appends them to `due`.
    package mutating func advance(to now: Int64, due: inout [TimerEntry]) {
        let target = now / Self.slotNanoseconds
        guard target > tick else { return }
        // After a pause of more than a revolution, every slot is visited once.
        var next = max(tick + 1, target - Int64(Self.slotCount) + 1)
        tick = target
        while next <= target {
            let slot = Int(next % Int64(Self.slotCount))
            if isOccupied(slot) { empty(slot, now: now, due: &due) }
            next += 1
        }
    }

    /// The time at which ``advance(to:due:)`` has work to do next; nil if the wheel is empty.
    package var nextAdvance: Int64? {
        var distance: Int64 = 1
        while distance <= Int64(Self.slotCount) {
            let slot = Int((tick + distance) % Int64(Self.slotCount))
            let rest = occupied[slot / 64] >> UInt64(slot % 64)
            if rest != 0 {
                return (tick + distance + Int64(rest.trailingZeroBitCount)) * Self.slotNanoseconds
            }
            distance += Int64(64 - slot % 64)
        }
        return nil
    }

    private mutating func empty(_ slot: Int, now: Int64, due: inout [TimerEntry]) {
        let entries = slots[slot]
        slots[slot] = []
        occupied[slot / 64] &= ~(1 << UInt64(slot % 64))
        for entry in entries {
            entry.filedTick = -1
            if entry.deadline <= now {
                due.append(entry)
            } else if entry.deadline != .max {
                linkEntry(entry, at: slotTick(of: entry.deadline))
            }
        }
    }

    /// The first tick at which `deadline` has passed, limited to the range of the wheel.
    private func slotTick(of deadline: Int64) -> Int64 {
        let exact = (deadline - 1) / Self.slotNanoseconds + 1
        return min(max(exact, tick + 1), tick + Int64(Self.slotCount) - 1)
    }

    private func isOccupied(_ slot: Int) -> Bool { occupied[slot / 64] & (1 << UInt64(slot % 64)) != 0 }

    private mutating func linkEntry(_ entry: TimerEntry, at wanted: Int64) {
        let slot = Int(wanted % Int64(Self.slotCount))
        entry.filedTick = wanted
        entry.position = slots[slot].count
        slots[slot].append(entry)
        occupied[slot / 64] |= 1 << UInt64(slot % 64)
    }

    private mutating func unlinkEntry(_ entry: TimerEntry) {
        let slot = Int(entry.filedTick % Int64(Self.slotCount))
        entry.filedTick = -1
        let last = slots[slot].removeLast()
        if last !== entry {
            last.position = entry.position
            slots[slot][entry.position] = last
        }
        if slots[slot].isEmpty { occupied[slot / 64] &= ~(1 << UInt64(slot % 64)) }
    }
}
