extension MediaType {
    /// Whether content with this Content-Type is likely to compress well: text and similarly redundant
    /// formats. False for compressed formats, such as archives and most image formats, and for unknown types.
    public static func isCompressible(_ contentType: borrowing Span<UInt8>) -> Bool {
        let essence = contentType.extracting(essenceRange(of: contentType))
        if essence.startsIgnoringCase(with: "text/") { return true }
        for suffix in compressibleSuffixes where hasSuffix(suffix, essence) { return true }
        for known in compressibleTypes where essence.equalsIgnoringCase(known) { return true }
        return false
    }

    /// Returns the range of the media type in a Content-Type value, without parameters and surrounding white
    /// space.
    static func essenceRange(of contentType: borrowing Span<UInt8>) -> Range<Int> {
        let end = contentType.firstIndex(of: UInt8(ascii: ";")) ?? contentType.count
        return contentType.extracting(0..<end).trimmedRange
    }

    /// Whether a type has a structured syntax suffix (RFC 6838 §4.2.8), ignoring case.
    static func hasSuffix(_ suffix: StaticString, _ essence: borrowing Span<UInt8>) -> Bool {
        let start = essence.count - suffix.utf8CodeUnitCount
        return start > 0 && essence.extracting(start..<essence.count).equalsIgnoringCase(suffix)
    }

    /// The structured syntax suffixes of text formats (RFC 6839, RFC 7303).
    private static let compressibleSuffixes: [StaticString] = ["+xml", "+json"]

    private static let compressibleTypes: [StaticString] = [
        "application/xml", "application/json", "application/javascript", "application/x-ndjson",
        "application/json-seq", "application/xml-dtd", "application/x-javascript", "application/rtf",
        "application/wasm", "font/ttf", "font/otf", "image/bmp",
    ]
}
