/// The part of a representation that a message contains: `bytes 4-9/10` (RFC 9110 §14.4).
public struct ContentRange: Hashable, Sendable {
    /// The range; it ends within ``total``.
    public let range: ByteRange
    /// The length of the complete representation; nil if the sender does not know it (`*`).
    public let total: Int64?

    /// Parses `bytes first-last/total`. Returns nil for anything else: another unit, a range that ends before
    /// it begins or beyond the total, numbers that overflow, and `*` in place of the range.
    public init?(parsing value: borrowing Span<UInt8>) {
        guard value.startsIgnoringCase(with: "bytes ") else { return nil }
        let rest = value.extracting(6..<value.count)
        let text = rest.extracting(rest.trimmedRange)
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")),
            let range = ByteRange(parsing: text.extracting(0..<slash))
        else { return nil }
        let size = text.extracting((slash + 1)..<text.count)
        var total: Int64?
        if !size.equalsIgnoringCase("*") {
            guard let number = size.decimalValue, number >= range.end else { return nil }
            total = number
        }
        self.range = range
        self.total = total
    }
}

extension ByteRange {
    /// Parses `first-last`. Returns nil for anything else, including a last byte before the first.
    package init?(parsing text: borrowing Span<UInt8>) {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")),
            let first = text.extracting(0..<dash).decimalValue,
            let last = text.extracting((dash + 1)..<text.count).decimalValue,
            first <= last, last < .max
        else { return nil }
        self.init(offset: first, length: last - first + 1)
    }
}
