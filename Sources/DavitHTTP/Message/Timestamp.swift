/// An instant in UTC: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Since 1970; negative before. From 1677 to 2262.
    public var nanoseconds: Int64

    /// An instant by nanoseconds since 1970.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// An instant by seconds since 1970.
    public init(seconds: Int64) { nanoseconds = seconds &* 1_000_000_000 }

    /// Whole seconds, rounded towards the past.
    public var seconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant so many seconds later.
    public func adding(seconds: Int64) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds &+ seconds &* 1_000_000_000)
    }
}
