import DavitTransport
import Testing

struct TimerWheelTests {
    static let slot = TimerWheel.slotNanoseconds

    /// A timer wheel together with a naive reference implementation.
    struct Oracle {
        var wheel = TimerWheel(now: 0)
        let entries = (0..<50).map { _ in TimerEntry() }
        var deadlines: [Int: Int64] = [:]
        var now: Int64 = 0

        mutating func schedule(_ index: Int, at deadline: Int64) {
            wheel.schedule(entries[index], at: deadline)
            deadlines[index] = deadline == .max ? nil : deadline
        }

        mutating func remove(_ index: Int) {
            wheel.remove(entries[index])
            deadlines[index] = nil
        }

        /// - Returns: the entries that the wheel reports as due.
        mutating func advance(by step: Int64) -> Set<Int> {
            now += step
            var due: [TimerEntry] = []
            wheel.advance(to: now, due: &due)
            return Set(due.compactMap { entry in entries.firstIndex { $0 === entry } })
        }
    }

    @Test(arguments: 0..<20)
    func deadlinesPassNeverEarlyAndAtMostOneSlotLate(seed: Int) {
        var random = Random(seed: UInt64(seed))
        var oracle = Oracle()
        for _ in 0..<3000 {
            switch random.next(below: 10) {
            case 0..<6:
                let reach = [2, 40, 600, 3000][random.next(below: 4)]
                let distance =
                    Int64(random.next(below: reach)) * Self.slot / 2 + Int64(random.next(below: 1000))
                oracle.schedule(random.next(below: 50), at: oracle.now + distance)
            case 6: oracle.remove(random.next(below: 50))
            case 7: oracle.schedule(random.next(below: 50), at: .max)
            default:
                let due = oracle.advance(by: Int64(random.next(below: 9)) * Self.slot / 3)
                for index in due {
                    #expect((oracle.deadlines[index] ?? .max) <= oracle.now)
                    oracle.deadlines[index] = nil
                }
                let late = oracle.deadlines.values.filter { $0 <= oracle.now - Self.slot }
                #expect(late.isEmpty)
            }
        }
    }

    @Test func removedEntriesCanBeScheduledAndRemovedAgain() {
        var wheel = TimerWheel(now: 0)
        let entries = (0..<3).map { _ in TimerEntry() }
        for entry in entries { wheel.schedule(entry, at: 10 * Self.slot) }
        wheel.removeAll()
        #expect(wheel.nextAdvance == nil)
        #expect(entries.allSatisfy { $0.deadline == .max })
        wheel.remove(entries[2])
        wheel.schedule(entries[0], at: 2 * Self.slot)
        var due: [TimerEntry] = []
        wheel.advance(to: 20 * Self.slot, due: &due)
        #expect(due.count == 1 && due.first === entries[0])
    }

    /// The deadlines of connections and their documented times.
    static let defaults: [(time: Duration, seconds: Int64)] = [
        (TransportConfiguration.Deadlines().head, 10), (TransportConfiguration.Deadlines().handshake, 10),
        (TransportConfiguration.Deadlines().keepAlive, 75), (TransportConfiguration.Deadlines().window, 30),
        (TransportConfiguration.Deadlines().linger, 2), (TransportConfiguration.Deadlines().parking, 2),
    ]

    /// One nanosecond before its deadline, an entry is not yet due.
    @Test(arguments: defaults)
    func defaultDeadlinesPassExactly(time: Duration, seconds: Int64) {
        #expect(time == .seconds(seconds))
        let nanoseconds = seconds * 1_000_000_000
        for postponed in [0, 1, nanoseconds / 2] {
            var wheel = TimerWheel(now: 0)
            let entry = TimerEntry()
            var due: [TimerEntry] = []
            wheel.schedule(entry, at: nanoseconds - postponed)
            // A request that arrived in the meantime has moved the deadline.
            wheel.schedule(entry, at: nanoseconds)
            wheel.advance(to: nanoseconds - 1, due: &due)
            #expect(due.isEmpty)
            wheel.advance(to: nanoseconds, due: &due)
            #expect(due.count == 1 && due.first === entry)
        }
    }

    @Test func longPauseMissesNoDeadline() {
        var oracle = Oracle()
        for index in 0..<50 { oracle.schedule(index, at: Int64(index + 1) * 40 * Self.slot) }
        #expect(oracle.advance(by: 2001 * Self.slot).count == 50)
    }

    @Test func nextAdvanceIsTheEarliestDeadline() {
        var wheel = TimerWheel(now: 0)
        #expect(wheel.nextAdvance == nil)
        let entry = TimerEntry()
        for ticks in [1, 2, 63, 64, 65, 400, 511] as [Int64] {
            wheel.schedule(entry, at: ticks * Self.slot)
            #expect(wheel.nextAdvance == ticks * Self.slot)
            wheel.remove(entry)
            #expect(wheel.nextAdvance == nil)
        }
    }

    @Test func laterDeadlineIsDeferred() {
        var wheel = TimerWheel(now: 0)
        let entry = TimerEntry()
        wheel.schedule(entry, at: 2 * Self.slot)
        wheel.schedule(entry, at: 9 * Self.slot)
        #expect(wheel.nextAdvance == 2 * Self.slot)
        var due: [TimerEntry] = []
        wheel.advance(to: 2 * Self.slot, due: &due)
        #expect(due.isEmpty)
        #expect(wheel.nextAdvance == 9 * Self.slot)
    }
}

/// A random number generator that returns the same sequence for the same seed (SplitMix64).
struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
}
