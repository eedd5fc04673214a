extension MediaType {
    /// Whether browsers run scripts in content of this type. Such content must not run in the origin of the
    /// server.
    public static func isActive(_ type: StaticString) -> Bool {
        type.withUTF8Buffer { unsafe isActive($0.span) }
    }

    /// Whether browsers run scripts in content with this Content-Type value, ignoring case.
    public static func isActive(_ type: borrowing Span<UInt8>) -> Bool {
        for active in activeTypes where type.startsIgnoringCase(with: active) { return true }
        return hasSuffix("+xml", type.extracting(essenceRange(of: type)))
    }

    /// The active types without the suffix `+xml`. Types with that suffix are always active, because browsers
    /// that render them as XML run scripts in embedded XHTML elements (RFC 7303 §4.2).
    private static let activeTypes: [StaticString] = [
        "text/html", "text/xml", "application/xml", "text/xsl",
    ]
}
