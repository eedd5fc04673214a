extension ByteRanges {
    /// Returns a Content-Range value such as `bytes 0-499/1234` (RFC 9110 §14.4).
    public static func contentRange(_ range: ByteRange, of length: Int64) -> [UInt8] {
        var text: [UInt8] = []
        appendContentRange(range, of: length, to: &text)
        return text
    }

    /// Returns the Content-Range value of a 416 response, such as `bytes */1234`.
    public static func unsatisfiedContentRange(of length: Int64) -> [UInt8] {
        var text: [UInt8] = []
        text.append("bytes */")
        text.appendDecimal(length)
        return text
    }

    /// Returns `multipart/byteranges; boundary=…`.
    public static func multipartContentType(boundary: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.append("multipart/byteranges; boundary=")
        text.append(contentsOf: boundary)
        return text
    }

    /// Returns the content of a 206 response with several ranges (§14.6): part headers alternating with file
    /// segments.
    ///
    /// - Parameters:
    ///   - length: the length of the complete representation.
    ///   - contentType: the Content-Type of each part, the same as in a 200 response.
    ///   - boundary: token characters only; must not occur in the content, so use random text.
    public static func multipart(
        ranges: [ByteRange], length: Int64, contentType: some Collection<UInt8>,
        boundary: some Collection<UInt8>
    ) -> [HTTPBody.Segment] {
        var segments: [HTTPBody.Segment] = []
        segments.reserveCapacity(2 * ranges.count + 1)
        for (index, range) in ranges.enumerated() {
            var head: [UInt8] = []
            head.append(index == 0 ? "--" : "\r\n--")
            head.append(contentsOf: boundary)
            head.append("\r\nContent-Type: ")
            head.append(contentsOf: contentType)
            head.append("\r\nContent-Range: ")
            appendContentRange(range, of: length, to: &head)
            head.append("\r\n\r\n")
            segments.append(.bytes(head))
            segments.append(.file(offset: range.offset, length: range.length))
        }
        var end: [UInt8] = []
        end.append("\r\n--")
        end.append(contentsOf: boundary)
        end.append("--\r\n")
        segments.append(.bytes(end))
        return segments
    }

    private static func appendContentRange(_ range: ByteRange, of length: Int64, to text: inout [UInt8]) {
        text.append("bytes ")
        text.appendDecimal(range.offset)
        text.append(UInt8(ascii: "-"))
        text.appendDecimal(range.end - 1)
        text.append(UInt8(ascii: "/"))
        text.appendDecimal(length)
    }
}
