/// Which part of a representation the content of a message is: `bytes 4-9/10` (RFC 9110 §14.4).
public struct ContentRange: Hashable, Sendable {
    /// The part; its last byte is below ``total``.
    public let range: ByteRange
    /// Bytes of the whole representation; nil where the sender does not know (`*`).
    public let total: Int64?

    /// Parses `bytes first-last/total`. Nil for anything else: another unit, a range that ends before it begins or behind
    /// the total, numbers that do not fit, and `*` in place of the range, which says of no bytes where they go.
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
    /// Parses `first-last`; nil for anything else, a last byte before the first included.
    package init?(parsing text: borrowing Span<UInt8>) {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")),
            let first = text.extracting(0..<dash).decimalValue,
            let last = text.extracting((dash + 1)..<text.count).decimalValue,
            first <= last, last < .max
        else { return nil }
        self.init(offset: first, length: last - first + 1)
    }
}
