extension MediaType {
    /// True for a Content-Type whose content gets much shorter by compression: text, and formats that are text or as
    /// loose. False for all others: pictures, archives and the like are compressed already, and who does not say what
    /// it is does not get it changed.
    public static func isCompressible(_ contentType: borrowing Span<UInt8>) -> Bool {
        let end = contentType.firstIndex(of: UInt8(ascii: ";")) ?? contentType.count
        let type = contentType.extracting(0..<end)
        let essence = type.extracting(type.trimmedRange)
        if essence.startsIgnoringCase(with: "text/") { return true }
        for suffix in compressibleSuffixes where essence.count > suffix.utf8CodeUnitCount {
            let start = essence.count - suffix.utf8CodeUnitCount
            if essence.extracting(start..<essence.count).equalsIgnoringCase(suffix) { return true }
        }
        for known in compressibleTypes where essence.equalsIgnoringCase(known) { return true }
        return false
    }

    /// RFC 6839.
    private static let compressibleSuffixes: [StaticString] = ["+xml", "+json"]

    private static let compressibleTypes: [StaticString] = [
        "application/xml", "application/json", "application/javascript", "application/x-ndjson",
        "application/json-seq", "application/xml-dtd", "application/x-javascript", "application/rtf",
        "application/wasm", "font/ttf", "font/otf", "image/bmp",
    ]
}
