internal import DavitHTTP
internal import DavitWebDAV

/// The content of a request, to be parsed as XML.
struct XMLBody: Sendable {
    let bytes: [UInt8]
    /// The encoding specified by the media type; nil if it does not specify one.
    let charset: Charset?

    var isEmpty: Bool { bytes.isEmpty }

    /// The limits for parsing. The length was checked when the body was received, against
    /// ``ShareConfiguration/bodyLimitBytes``, which may exceed the default limit of the parser.
    var limits: BodyLimits { BodyLimits(admittingBytes: bytes.count) }
}

extension HTTPRequest {
    /// The charset parameter of an XML media type (RFC 7303 §3); nil without one. Content of other media
    /// types is parsed too, but their parameters are ignored.
    ///
    /// - Throws: 415 for an unsupported encoding.
    var xmlCharset: Charset? {
        get throws(WebDAVError) {
            guard let isUTF8 = withValue(of: .contentType, { Self.isUTF8($0) }) ?? nil else { return nil }
            if isUTF8 { return .utf8 }
            guard let type = contentType, type.isXML else { return nil }
            do { return try type.charset() } catch { throw WebDAVError(.unsupportedMediaType) }
        }
    }

    /// Whether a Content-Type value is an XML media type with `charset=utf-8`, the usual parameter; nil for a
    /// value without parameters. Does not allocate.
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
    /// Whether this is `application/xml`, `text/xml` or a type with the suffix `+xml` (RFC 7303 §9).
    fileprivate var isXML: Bool {
        essence == "application/xml" || essence == "text/xml"
            || essence.utf8.suffix(4).elementsEqual("+xml".utf8)
    }
}
