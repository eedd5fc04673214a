/// An instant in UTC: nanoseconds since 1970-01-01T00:00:00Z, not counting leap seconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970; negative for earlier instants. The range is 1677 to 2262.
    public var nanoseconds: Int64

    /// Creates an instant from nanoseconds since 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates an instant from seconds since 1970; saturates at the ends of the range of ``nanoseconds``.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant `seconds` later; saturates at the ends of the range of ``nanoseconds``.
    public func adding(seconds: Int64) -> Timestamp {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(Timestamp(seconds: seconds).nanoseconds)
        return Timestamp(nanoseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
    }

    /// Returns the instant `days` of 24 hours earlier; saturates at the ends of the range of ``nanoseconds``.
    package func subtracting(days: Int) -> Timestamp {
        let (seconds, overflow) = Int64(days).multipliedReportingOverflow(by: -86_400)
        return adding(seconds: overflow ? (days < 0 ? .max : .min) : seconds)
    }

    /// Returns the whole seconds since `start`, rounded up; 0 if this instant is not after `start`.
    /// Saturates.
    package func secondsRoundedUp(since start: Timestamp) -> Int64 {
        guard start < self else { return 0 }
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        let distance = overflow ? Int64.max : difference
        return (distance - 1) / 1_000_000_000 + 1
    }
}
