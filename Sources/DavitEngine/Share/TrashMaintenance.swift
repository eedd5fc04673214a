internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Pending maintenance of a share's trash, done outside of requests.
final class TrashMaintenance: Sendable {
    /// Interval of the check for expired entries, while there are requests, and of repeated error reports.
    private static let intervalSeconds: Int64 = 3600

    private let unmeasured = Mutex<[String]>([])
    private let lastLook = Mutex<Timestamp?>(nil)
    private let lastFailure = Mutex<Timestamp?>(nil)

    /// Whether a failure should be reported: a persistent failure would otherwise be logged for each change.
    func isFailureDue(now: Timestamp) -> Bool { Self.isDue(now: now, lastFailure) }

    func recordUnmeasured(_ entry: TrashEntry) {
        if entry.length == nil { unmeasured.withLock { $0.append(entry.id) } }
    }

    /// Returns and clears the ids of collections that have not been measured.
    func takeUnmeasured() -> [String] {
        unmeasured.withLock { unmeasured in
            defer { unmeasured = [] }
            return unmeasured
        }
    }

    /// Whether the check for expired entries is due.
    func isDue(now: Timestamp) -> Bool { Self.isDue(now: now, lastLook) }

    private static func isDue(now: Timestamp, _ last: borrowing Mutex<Timestamp?>) -> Bool {
        last.withLock { last in
            if let last, last <= now, now < last.adding(seconds: intervalSeconds) { return false }
            last = now
            return true
        }
    }
}
