/// A metric: a name, and values that are distinguished by labels.
///
/// Names and labels follow the conventions of Prometheus: a prefix for the program, base units such as `seconds` and
/// `bytes`, and labels with few different values. Never put paths, users or addresses into labels: each combination of
/// values is stored separately by the program that collects them.
///
/// ```swift
/// Metric("shop_orders", .counter, "Orders.", value: 17)
/// ```
public struct Metric: Hashable, Sendable {
    /// The kind of a metric.
    public enum Kind: String, Sendable {
        /// A number that only increases until the server restarts. The exposed name ends with `_total`.
        case counter
        /// A number that can increase and decrease.
        case gauge
        /// A distribution.
        case histogram
        /// Constant facts in labels. The exposed name ends with `_info`.
        case info
    }

    /// The value for one combination of labels.
    public struct Sample: Hashable, Sendable {
        /// Names and values, in the order in which they are written.
        public var labels: [Label]
        /// The value.
        public var value: Value

        /// Creates a sample.
        public init(_ labels: [Label] = [], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// A label of a sample.
    public struct Label: Hashable, Sendable {
        /// Letters, digits and underscores; the first character is a letter.
        public var name: String
        /// Any text.
        public var value: String

        /// Creates a label.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The value of a sample.
    public enum Value: Hashable, Sendable {
        /// The value of a counter, a gauge or an info metric.
        case number(Double)
        /// The value of a histogram.
        case distribution(Distribution)
    }

    /// The value of a histogram.
    public struct Distribution: Hashable, Sendable {
        /// The upper bounds of the intervals, in ascending order, without infinity.
        public var bounds: [Double]
        /// The number of values in each interval, not cumulated; one more than ``bounds``.
        public var counts: [UInt64]
        /// The sum of all values.
        public var sum: Double

        /// Creates a distribution.
        public init(bounds: [Double], counts: [UInt64], sum: Double) {
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
        }
    }

    /// Letters, digits and underscores, without the suffix that depends on the kind. If there is a unit, the name ends
    /// with it.
    public var name: String
    /// The kind.
    public var kind: Kind
    /// The unit, such as `seconds`; nil for a number without a unit.
    public var unit: String?
    /// One sentence.
    public var help: String
    /// The values. Metrics without samples are left out.
    public var samples: [Sample]

    /// Creates a metric.
    public init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }

    /// Creates a metric with one value, without labels.
    public init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, value: Double) {
        self.init(name, kind, unit: unit, help, [Sample([], .number(value))])
    }

    /// Whether ``name`` and the names of labels are valid; others would make the whole response unreadable.
    var isValid: Bool {
        Self.isName(name) && (unit.map { Self.isName($0) && name.hasSuffix("_" + $0) } ?? true)
            && samples.allSatisfy { $0.labels.allSatisfy { Self.isName($0.name) && $0.name != "le" } }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isASCIILetterOrUnderscore else { return false }
        return text.utf8.allSatisfy { $0.isASCIILetterOrUnderscore || (0x30...0x39).contains($0) }
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrUnderscore: Bool {
        (0x61...0x7A).contains(self | 0x20) || self == UInt8(ascii: "_")
    }
}
