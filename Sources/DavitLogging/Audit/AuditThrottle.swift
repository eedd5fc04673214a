/// Limits how often events that clients can cause at will are recorded: equal events once a minute, and at most 1,024
/// different ones a minute.
struct AuditThrottle {
    /// How long an equal event is left out, in nanoseconds.
    static let interval: Int64 = 60_000_000_000
    /// The maximum number of different events in an interval.
    static let limit = 1_024

    /// The times of recorded events, by their hash values, so that clients do not control the size.
    private var times: [Int: Int64] = [:]
    /// The number of events that were left out and are not mentioned in a record yet.
    private var suppressed = 0

    /// - Parameters:
    ///   - key: the hash value of what makes two events equal.
    ///   - now: nanoseconds of a clock that does not go backwards by much.
    /// - Returns: whether to record the event.
    mutating func admits(_ key: Int, now: Int64) -> Bool {
        if let last = times[key], now - last < Self.interval {
            suppressed += 1
            return false
        }
        if times.count >= Self.limit { times = times.filter { now - $0.value < Self.interval } }
        guard times.count < Self.limit || times[key] != nil else {
            suppressed += 1
            return false
        }
        times[key] = now
        return true
    }

    /// Returns the number of events that were left out since the last call.
    mutating func takeSuppressed() -> Int {
        defer { suppressed = 0 }
        return suppressed
    }
}
