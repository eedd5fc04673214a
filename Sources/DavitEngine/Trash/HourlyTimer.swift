internal import DavitHTTP
internal import Synchronization

/// Decides whether something that must not happen more than once an hour is due.
final class HourlyTimer: Sendable {
    private static let intervalSeconds: Int64 = 3600

    private let last = Mutex<Timestamp?>(nil)

    /// Returns true for the first call, then at most once an hour, unless the clock is set back.
    func isDue(now: Timestamp) -> Bool {
        last.withLock { last in
            if let last, last <= now, now < last.adding(seconds: Self.intervalSeconds) { return false }
            last = now
            return true
        }
    }
}
