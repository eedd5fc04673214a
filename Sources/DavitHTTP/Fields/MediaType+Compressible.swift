extension MediaType {
    /// True for a Content-Type whose content gets much shorter by compression: text, and formats that are text or as
    /// loose. False for all others: pictures, archives and the like are compressed already, and who does not say what
    /// it is does not get it changed.
    public static func isCompressible(_ contentType: borrowing Span<UInt8>) -> Bool {
        let essence = contentType.extracting(essenceRange(of: contentType))
        if essence.startsIgnoringCase(with: "text/") { return true }
        for suffix in compressibleSuffixes where hasSuffix(suffix, essence) { return true }
        for known in compressibleTypes where essence.equalsIgnoringCase(known) { return true }
        return false
    }

    /// Where the type is in a Content-Type, without parameters and what may be around it.
    static func essenceRange(of contentType: borrowing Span<UInt8>) -> Range<Int> {
        let end = contentType.firstIndex(of: UInt8(ascii: ";")) ?? contentType.count
        return contentType.extracting(0..<end).trimmedRange
    }

    /// Whether a type has a structured syntax suffix (RFC 6838 §4.2.8), in any case.
    static func hasSuffix(_ suffix: StaticString, _ essence: borrowing Span<UInt8>) -> Bool {
        let start = essence.count - suffix.utf8CodeUnitCount
        return start > 0 && essence.extracting(start..<essence.count).equalsIgnoringCase(suffix)
    }

    /// RFC 6839.
    private static let compressibleSuffixes: [StaticString] = ["+xml", "+json"]

    private static let compressibleTypes: [StaticString] = [
        "application/xml", "application/json", "application/javascript", "application/x-ndjson",
        "application/json-seq", "application/xml-dtd", "application/x-javascript", "application/rtf",
        "application/wasm", "font/ttf", "font/otf", "image/bmp",
    ]
}
