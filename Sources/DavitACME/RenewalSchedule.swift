#if TLS
internal import DavitHTTP

/// When a certificate is renewed. Pure: the clock and random numbers are parameters.
struct RenewalSchedule: Hashable, Sendable {
    /// The time in seconds after which an attempt that failed is repeated: the first time, and at most. It doubles with each
    /// failure, so that fewer than five attempts fall into an hour, the limit for failed validations at Let's Encrypt.
    static let firstRetry: Int64 = 5 * 60
    static let greatestRetry: Int64 = 6 * 3600

    /// Failures since the last success.
    private(set) var failures = 0
    /// The earliest time of the next attempt; nil before the first one.
    private(set) var retry: Timestamp?

    /// Returns the time at which a certificate is renewed: when a third of its life is left, or earlier by up to a thirtieth of
    /// its life, so that not all servers renew at the same time.
    /// - Parameter jitter: a number that is the same each time for the same certificate.
    static func renewal(of validity: ClosedRange<Timestamp>, jitter: UInt16) -> Timestamp {
        let life = validity.upperBound.seconds - validity.lowerBound.seconds
        let earlier = life / 30 * Int64(jitter) / Int64(UInt16.max)
        return validity.upperBound.adding(seconds: -(life / 3) - earlier)
    }

    /// Returns the time of the next attempt.
    /// - Parameter renewal: when the current certificate is due; nil without one that fits the settings.
    func next(renewal: Timestamp?, now: Timestamp) -> Timestamp {
        let due = renewal ?? now
        return retry.map { max($0, due) } ?? due
    }

    /// Records a success. The next attempt follows after a sixth of the life of the certificate at the earliest, so that a
    /// wrong clock, for which each new certificate is due already, does not cause one request after another.
    mutating func succeeded(now: Timestamp, _ validity: ClosedRange<Timestamp>) {
        failures = 0
        retry = now.adding(seconds: (validity.upperBound.seconds - validity.lowerBound.seconds) / 6)
    }

    /// Records a failure.
    /// - Parameters:
    ///   - retrySeconds: the least time until the next attempt that the ACME server has named.
    ///   - random: extends the time by up to a tenth.
    /// - Returns: the seconds until the next attempt.
    @discardableResult
    mutating func failed(now: Timestamp, retrySeconds: Int64?, random: UInt16) -> Int64 {
        let doubled = Self.firstRetry << Int64(min(failures, 10))
        failures += 1
        var seconds = max(min(doubled, Self.greatestRetry), retrySeconds ?? 0)
        seconds += seconds / 10 * Int64(random) / Int64(UInt16.max)
        retry = now.adding(seconds: seconds)
        return seconds
    }
}
#endif
