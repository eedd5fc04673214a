/// A byte range of a representation.
public struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte, counted from 0.
    public var offset: Int64
    /// The length in bytes, at least 1.
    public var length: Int64

    /// Creates a range of at least one byte.
    public init(offset: Int64, length: Int64) {
        self.offset = offset
        self.length = length
    }

    /// The offset of the first byte after the range.
    public var end: Int64 { offset + length }
}

/// The result of evaluating a Range field against the length of the representation.
public enum RangeOutcome: Hashable, Sendable {
    /// 200 with the complete representation: the Range field is missing, repeated or malformed, has another
    /// unit or more than ``ByteRanges/countLimit`` ranges, or selects all of an empty representation.
    case whole
    /// 206 with a single range.
    case single(ByteRange)
    /// 206 with `multipart/byteranges`: at least two ranges, ascending, with gaps between them.
    case multiple([ByteRange])
    /// 416: no range overlaps the representation.
    case unsatisfiable
}

/// Evaluation of Range fields (RFC 9110 §14).
public enum ByteRanges {
    /// Maximum number of ranges. A request with more receives the complete representation, because it
    /// indicates a broken or malicious client (§14.2).
    public static let countLimit = 64

    /// Ranges separated by at most this many bytes are merged, because the header of another part would be
    /// about as long (§15.3.7.2).
    static let mergedGap: Int64 = 80

    /// Evaluates the Range field of a request. Does not check the method or the preconditions; see
    /// ``Preconditions/rangeApplies(_:tag:modified:now:)``.
    public static func resolve(_ request: HTTPRequest, length: Int64) -> RangeOutcome {
        guard request.count(of: .range) == 1 else { return .whole }
        return request.withValue(of: .range) { resolve($0, length: length) } ?? .whole
    }

    /// Evaluates `bytes=` with its list of ranges (§14.1.2).
    /// - Parameter length: the length of the representation, at least 0.
    public static func resolve(_ value: borrowing Span<UInt8>, length: Int64) -> RangeOutcome {
        // Other units and malformed values are ignored (§14.2).
        guard value.startsIgnoringCase(with: "bytes=") else { return .whole }
        var ranges: [ByteRange] = []
        var specCount = 0
        var isMalformed = false
        value.extracting(6..<value.count).forEachElement { element in
            if element.isEmpty || isMalformed { return }
            specCount += 1
            guard specCount <= countLimit, let spec = RangeSpec(parsing: element) else {
                isMalformed = true
                return
            }
            if let range = spec.range(in: length) { ranges.append(range) }
        }
        if isMalformed || specCount == 0 { return .whole }
        if ranges.isEmpty { return .unsatisfiable }
        // A suffix range of empty content selects the entire content, but Content-Range cannot express an
        // empty range.
        if ranges.contains(where: { $0.length == 0 }) { return .whole }
        return outcome(of: merged(ranges))
    }

    private static func outcome(of ranges: [ByteRange]) -> RangeOutcome {
        ranges.count == 1 ? .single(ranges[0]) : .multiple(ranges)
    }

    /// Returns the ranges sorted, merging those that overlap or nearly touch, so that no byte is sent twice.
    private static func merged(_ ranges: [ByteRange]) -> [ByteRange] {
        var merged: [ByteRange] = []
        for range in ranges.sorted(by: { $0.offset < $1.offset }) {
            if let last = merged.last, range.offset - last.end <= mergedGap {
                merged[merged.count - 1].length = max(last.end, range.end) - last.offset
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

/// One element of a Range field. Numbers that overflow are clamped to the maximum, which no representation
/// reaches.
private enum RangeSpec {
    case from(first: Int64, last: Int64)
    case suffix(Int64)

    init?(parsing text: borrowing Span<UInt8>) {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let first = text.extracting(0..<dash)
        let last = text.extracting((dash + 1)..<text.count)
        if first.isEmpty {
            guard let length = Self.number(last) else { return nil }
            self = .suffix(length)
            return
        }
        guard let firstValue = Self.number(first) else { return nil }
        if last.isEmpty {
            self = .from(first: firstValue, last: .max)
            return
        }
        guard let lastValue = Self.number(last), firstValue <= lastValue else { return nil }
        self = .from(first: firstValue, last: lastValue)
    }

    /// Returns the range within a representation of this length; nil if it cannot be satisfied. The result is
    /// empty only for a suffix of empty content.
    func range(in length: Int64) -> ByteRange? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return ByteRange(offset: first, length: min(last, length - 1) - first + 1)
        case .suffix(let suffix):
            guard suffix > 0 else { return nil }
            let length = max(length, 0)
            return ByteRange(offset: length - min(suffix, length), length: min(suffix, length))
        }
    }

    private static func number(_ digits: borrowing Span<UInt8>) -> Int64? {
        if let value = digits.decimalValue { return value }
        if digits.isEmpty { return nil }
        for index in 0..<digits.count where !digits[index].isDigit { return nil }
        return .max
    }
}
