internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// Hands out modification times, no two of which are equal: they make entity tags.
///
/// All are whole microseconds, which nearly every volume keeps, and none is a whole millisecond: a time that
/// is one was not given out here, or the volume has cut it.
package final class StampClock: Sendable {
    /// One for the process: several stores may serve one volume.
    static let shared = StampClock()

    /// Between one time and the next, in nanoseconds.
    static let step: Int64 = 1_000
    /// Times that are multiples of this, in nanoseconds, are not given out.
    static let coarseStep: Int64 = 1_000_000
    /// The latest time that is taken from a clock, in nanoseconds: a year before the range of `Int64` ends, which leaves
    /// room for times after it.
    static let latest: Int64 = .max - 366 * 86_400 * 1_000_000_000

    private let last = Atomic<Int64>(0)
    /// Microseconds.
    private let fraction = Atomic<Int64>(Clock.wallNow() / StampClock.step % 1_000_000)

    package init() {}

    /// A time that is `now`, to the microsecond, or just behind the last one given out.
    func next() -> Int64 { next(now: Clock.wallNow()) }

    /// As ``next()``, at a given time.
    package func next(now: Int64) -> Int64 {
        while true {
            let previous = last.load(ordering: .relaxed)
            var stamp = max(min(now, Self.latest) / Self.step * Self.step, previous + Self.step)
            if stamp % Self.coarseStep == 0 { stamp += Self.step }
            if last.compareExchange(expected: previous, desired: stamp, ordering: .relaxed).exchanged {
                return stamp
            }
        }
    }

    /// A time within a second that a client asked for, with microseconds of its own; they repeat after
    /// 999,000 calls.
    func next(within second: Timestamp) -> Int64 {
        while true {
            let value = fraction.add(1, ordering: .relaxed).newValue % 1_000_000 * Self.step
            if value % Self.coarseStep != 0 { return second.seconds &* 1_000_000_000 &+ value }
        }
    }
}
