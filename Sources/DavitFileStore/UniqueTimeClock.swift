internal import DavitHTTP
internal import DavitSystem
internal import Synchronization

/// Generates unique modification times, which become part of entity tags.
///
/// All times are whole microseconds, which nearly every volume preserves, but never whole milliseconds: a
/// time in whole milliseconds was not generated here or was truncated by the volume.
package final class UniqueTimeClock: Sendable {
    /// Shared by all stores of the process, because several stores may serve the same volume.
    static let shared = UniqueTimeClock()

    /// The interval between consecutive times, in nanoseconds.
    static let step: Int64 = 1_000
    /// Times that are multiples of this number of nanoseconds are skipped.
    static let coarseStep: Int64 = 1_000_000
    /// The latest time accepted from a clock, in nanoseconds: a year before the end of the range of `Int64`,
    /// so that there is room for later times.
    static let latest: Int64 = .max - 366 * 86_400 * 1_000_000_000

    private let last = Atomic<Int64>(0)
    /// A counter; modulo one million, it is the fraction of the latest requested time in microseconds.
    private let fraction = Atomic<Int64>(Clock.wallNow() / UniqueTimeClock.step % 1_000_000)

    package init() {}

    /// Returns the current time in whole microseconds, or a time just after the last one returned.
    func next() -> Int64 { next(now: Clock.wallNow()) }

    /// Like ``next()``, for a given current time.
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

    /// Returns a time within the requested second, with distinct microseconds; they repeat after 999,000
    /// calls.
    func next(within second: Timestamp) -> Int64 {
        while true {
            let value = fraction.add(1, ordering: .relaxed).newValue % 1_000_000 * Self.step
            if value % Self.coarseStep != 0 { return second.seconds &* 1_000_000_000 &+ value }
        }
    }
}
