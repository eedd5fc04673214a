internal import DavitHTTP
internal import DavitWebDAV

/// The content of a request that is to be parsed as XML.
struct XMLBody: Sendable {
    let bytes: [UInt8]
    /// What the media type says of the encoding; nil if it says nothing.
    let charset: Charset?

    var isEmpty: Bool { bytes.isEmpty }
}

extension HTTPRequest {
    /// The charset parameter of a media type that is XML (RFC 7303 §3); nil without one. Content of another type is
    /// parsed, too, but its parameters say nothing about XML.
    ///
    /// - Throws: 415 for an encoding that is not supported.
    var xmlCharset: Charset? {
        get throws(WebDAVError) {
            guard let isUTF8 = withValue(of: .contentType, { Self.isUTF8($0) }) ?? nil else { return nil }
            if isUTF8 { return .utf8 }
            guard let type = contentType, type.isXML else { return nil }
            do { return try type.charset() } catch { throw WebDAVError(.unsupportedMediaType) }
        }
    }

    /// Whether a media type is XML in UTF-8, as nearly all that name an encoding are; nil for one without parameters.
    /// Allocates nothing.
    private static func isUTF8(_ value: borrowing Span<UInt8>) -> Bool? {
        guard let semicolon = value.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let type = value.extracting(0..<semicolon)
        var rest = value.extracting((semicolon + 1)..<value.count)
        rest = rest.extracting(rest.trimmedRange)
        return (type.equalsIgnoringCase("application/xml") || type.equalsIgnoringCase("text/xml"))
            && (rest.equalsIgnoringCase("charset=utf-8") || rest.equalsIgnoringCase(#"charset="utf-8""#))
    }
}

extension ContentType {
    /// `application/xml`, `text/xml` and types made from XML (RFC 7303 §9).
    fileprivate var isXML: Bool {
        essence == "application/xml" || essence == "text/xml"
            || essence.utf8.suffix(4).elementsEqual("+xml".utf8)
    }
}
