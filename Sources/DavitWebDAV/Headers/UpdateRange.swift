internal import DavitHTTP

/// The position of a PATCH's content: the field `X-Update-Range` of the media type
/// `application/x-sabredav-partialupdate`.
public enum UpdateRange: Hashable, Sendable {
    /// From this offset in bytes, counted from 0: `bytes=4-`, or `bytes=4-9`, which also specifies the length
    /// of the content.
    case from(Int64, length: Int64?)
    /// From this number of bytes before the end: `bytes=-4`.
    case fromEnd(Int64)
    /// After the last byte: `append`.
    case append

    /// The reason why a value is refused.
    public enum ParseError: Error, Hashable, Sendable {
        /// A malformed value: 400.
        case malformed
        /// 416: the range ends before it begins.
        case backwards
    }

    /// Parses the field value, ignoring case. Multiple ranges are malformed, because the content has a single
    /// position.
    public static func parse(_ value: borrowing Span<UInt8>) throws(ParseError) -> UpdateRange {
        let text = value.extracting(value.trimmedRange)
        if text.equalsIgnoringCase("append") { return .append }
        guard text.startsIgnoringCase(with: "bytes=") else { throw .malformed }
        let range = text.extracting(6..<text.count)
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")) else { throw .malformed }
        let first = range.extracting(0..<dash)
        let last = range.extracting((dash + 1)..<range.count)
        if first.isEmpty {
            guard let count = last.decimalValue else { throw .malformed }
            return .fromEnd(count)
        }
        guard let start = first.decimalValue else { throw .malformed }
        if last.isEmpty { return .from(start, length: nil) }
        guard let end = last.decimalValue else { throw .malformed }
        guard start <= end else { throw .backwards }
        // A range whose last byte is at the largest number is malformed, because its end is not
        // representable.
        guard let range = ByteRange(parsing: range) else { throw .malformed }
        return .from(start, length: range.length)
    }
}
