/// The distribution of a delay, in milliseconds.
public enum FaultDelay: Hashable, Sendable {
    case fixed(Double)
    /// Each value in the range is equally likely.
    case uniform(ClosedRange<Double>)
    /// A normal distribution. Negative values become 0, and no value is more than six standard deviations
    /// from the mean.
    case normal(mean: Double, deviation: Double)

    /// Returns a delay in nanoseconds.
    func draw(_ random: inout FaultRandom) -> Int64 {
        let milliseconds: Double
        switch self {
        case .fixed(let value): milliseconds = value
        case .uniform(let range):
            milliseconds = range.lowerBound + (range.upperBound - range.lowerBound) * random.fraction()
        case .normal(let mean, let deviation):
            // The sum of twelve uniform values has variance 1 and is nearly normal.
            var sum = -6.0
            for _ in 0..<12 { sum += random.fraction() }
            milliseconds = mean + deviation * sum
        }
        return Int64(min(max(0, milliseconds), Self.limitMilliseconds) * 1_000_000)
    }

    /// The longest delay: one day.
    static let limitMilliseconds = 86_400_000.0
}
