/// A part of a representation in bytes.
public struct ByteRange: Hashable, Sendable {
    /// The first byte, counted from 0.
    public var offset: Int64
    /// At least 1.
    public var length: Int64

    /// A range of at least one byte.
    public init(offset: Int64, length: Int64) {
        self.offset = offset
        self.length = length
    }

    /// Where the next byte after the range is.
    public var end: Int64 { offset + length }
}

/// What a Range field asks for, once the length of the representation is known.
public enum RangeOutcome: Hashable, Sendable {
    /// 200: no range, none that this server understands, or not worth a partial answer.
    case whole
    /// 206.
    case single(ByteRange)
    /// 206 with `multipart/byteranges`: at least two, ascending, with gaps between them.
    case multiple([ByteRange])
    /// 416.
    case unsatisfiable
}

/// Ranges of a representation (RFC 9110 §14).
public enum ByteRanges {
    /// More ranges than this are answered with the whole (§14.2: a sign of a broken or hostile client).
    public static let countLimit = 64

    /// Ranges with a gap up to this become one: about what the head of another part costs (§15.3.7.2).
    static let mergedGap: Int64 = 80

    /// Resolves the Range field of a request. Methods and preconditions are not looked at, see
    /// ``Preconditions/rangeApplies(_:tag:modified:now:)``.
    public static func resolve(_ request: HTTPRequest, length: Int64) -> RangeOutcome {
        guard request.count(of: .range) == 1 else { return .whole }
        return request.withValue(of: .range) { resolve($0, length: length) } ?? .whole
    }

    /// Resolves `bytes=` with its list of ranges (§14.1.2).
    /// - Parameter length: of the representation; 0 and more.
    public static func resolve(_ value: borrowing Span<UInt8>, length: Int64) -> RangeOutcome {
        // Other units, and everything that is malformed, count as no Range at all (§14.2).
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
        // A suffix of something empty is all of it, but no Content-Range can say so.
        if ranges.isEmpty { return .unsatisfiable }
        if ranges.contains(where: { $0.length == 0 }) { return .whole }
        return outcome(of: merged(ranges), length: length)
    }

    private static func outcome(of ranges: [ByteRange], length: Int64) -> RangeOutcome {
        ranges.count == 1 ? .single(ranges[0]) : .multiple(ranges)
    }

    /// Sorted, with those that overlap or nearly touch made one, so that no byte is sent twice.
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

/// One element of a Range field. Numbers that do not fit are as large as can be: no representation
/// gets there.
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

    /// The range it means, or nil if it cannot be satisfied. Of length 0 only for a suffix of nothing.
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
