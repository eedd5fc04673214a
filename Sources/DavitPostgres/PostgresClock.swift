#if Postgres
internal import Synchronization

/// The clock of the database, which decides for all nodes when a lock, an upload or a link expires.
///
/// Keeps the difference to the node's monotonic clock, so that reading it needs no statement. The difference is wrong by
/// half a round trip at most.
package final class PostgresClock: Sendable {
    private struct Reading {
        let roundTrip: Duration
        let received: ContinuousClock.Instant
    }

    /// A reading that took less time is more exact, but clocks drift: a reading is replaced by any that is as much later.
    private static let lifetime = Duration.seconds(10)

    private let start = ContinuousClock.now
    private let reading = Mutex<Reading?>(nil)
    // Each request reads these several times, on all threads: without a lock.
    /// The database's time minus the monotonic time, in nanoseconds; ``unknown`` before the first answer.
    private let offset = Atomic<Int64>(unknown)
    /// When the reading was received, in nanoseconds since ``start``.
    private let received = Atomic<Int64>(0)
    private static let unknown = Int64.min

    package init() {}

    /// Takes over a reading of `clock_timestamp()`.
    ///
    /// - Parameters:
    ///   - time: in nanoseconds since 1970-01-01T00:00:00Z.
    ///   - sent: when the statement was sent, and `received` when it was answered.
    package func record(_ time: Int64, sent: ContinuousClock.Instant, received: ContinuousClock.Instant) {
        let roundTrip = received - sent
        let middle = nanoseconds(start.duration(to: sent) + roundTrip / 2)
        reading.withLock { reading in
            if let old = reading, roundTrip > old.roundTrip, received - old.received < Self.lifetime {
                return
            }
            reading = Reading(roundTrip: roundTrip, received: received)
            self.received.store(nanoseconds(start.duration(to: received)), ordering: .relaxed)
            offset.store(time - middle, ordering: .releasing)
        }
    }

    /// Returns the database's time in nanoseconds since 1970-01-01T00:00:00Z; nil before the first answer.
    package func now(_ instant: ContinuousClock.Instant = .now) -> Int64? {
        let offset = offset.load(ordering: .acquiring)
        return offset == Self.unknown ? nil : offset + nanoseconds(start.duration(to: instant))
    }

    /// Whether a reading is due, because the last one is old or there is none.
    package func isStale(_ instant: ContinuousClock.Instant = .now) -> Bool {
        if offset.load(ordering: .acquiring) == Self.unknown { return true }
        let received = Duration.nanoseconds(received.load(ordering: .relaxed))
        return start.duration(to: instant) - received >= Self.lifetime
    }

    private func nanoseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    }
}
#endif
