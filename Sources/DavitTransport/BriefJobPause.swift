/// Decides whether a loop runs brief jobs itself: not for some time after one has taken long.
struct BriefJobPause {
    /// Work that takes longer is better done by another thread, which costs about 30 µs.
    static let longNanoseconds: Int64 = 500_000
    private static let shortestNanoseconds: Int64 = 10_000_000
    private static let longestNanoseconds: Int64 = 1_000_000_000

    private var end: Int64 = .min
    private var nanoseconds = shortestNanoseconds

    func isOver(at now: Int64) -> Bool { now >= end }

    mutating func jobEnded(at now: Int64, after duration: Int64) {
        if duration > Self.longNanoseconds { jobWasLong(at: now) }
    }

    /// Begins a pause. It is twice as long as the last one if that has ended less than its length ago.
    mutating func jobWasLong(at now: Int64) {
        let isRepeated = end != .min && now - end < nanoseconds
        nanoseconds = isRepeated ? min(2 * nanoseconds, Self.longestNanoseconds) : Self.shortestNanoseconds
        end = now + nanoseconds
    }
}
