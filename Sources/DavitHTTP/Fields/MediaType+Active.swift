extension MediaType {
    /// True for the types in which a browser runs scripts: they must not get the origin of the server.
    public static func isActive(_ type: StaticString) -> Bool {
        type.withUTF8Buffer { unsafe isActive($0.span) }
    }

    /// The same for a value of Content-Type, in any case.
    public static func isActive(_ type: borrowing Span<UInt8>) -> Bool {
        for active in activeTypes where type.startsIgnoringCase(with: active) { return true }
        return hasSuffix("+xml", type.extracting(essenceRange(of: type)))
    }

    /// Formats in XML need not stand here: an element of XHTML is one in each of them, with its scripts, in browsers that show
    /// them as the XML that they are (RFC 7303 §4.2).
    private static let activeTypes: [StaticString] = [
        "text/html", "text/xml", "application/xml", "text/xsl",
    ]
}
