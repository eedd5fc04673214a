/// Settings for the response fields of stored content.
public struct ContentResponseSettings: Sendable {
    /// The media types by file name extension.
    public var types = MediaTypes()
    /// The media type of all content regardless of its name; nil to derive it from the name.
    public var onlyType: String?
    /// How long caches may use the content without revalidation, in seconds. With 0, they must revalidate it
    /// each time; with nil, no Cache-Control is sent and browsers use heuristics (RFC 9111 §4.2.2).
    public var cacheAgeSeconds: Int?
    /// Whether stored HTML and SVG are sandboxed, so that they cannot run in the origin of this server.
    /// Disable this for content controlled by the server's owner, such as a website.
    public var sandboxesActiveContent = true
    /// Whether clients may receive compressible content with the content coding gzip. Adds
    /// `Vary: Accept-Encoding` to such content.
    public var negotiatesCoding = false

    /// Creates the default settings: types by name, no Cache-Control, active content sandboxed.
    public init() {}

    /// The relevant properties of a media type.
    struct Kind {
        var isActive: Bool
        var isCompressible: Bool
    }

    func appendType(of name: some Collection<UInt8>, to fields: inout HTTPFields) -> Kind {
        if let type = onlyType.map({ Array($0.utf8) }) ?? types.override(forName: name) {
            fields.append(.contentType, type)
            return Kind(
                isActive: MediaType.isActive(type.span), isCompressible: MediaType.isCompressible(type.span))
        }
        let type = MediaType.forName(name)
        fields.append(.contentType, type)
        return Kind(
            isActive: MediaType.isActive(type),
            isCompressible: negotiatesCoding
                && MediaType.isCompressible(Array(type.description.utf8).span))
    }
}

extension HTTPFields {
    /// Appends a Cache-Control max-age in seconds; with 0 or less, caches must revalidate each time (RFC 9111
    /// §5.2.2).
    package mutating func appendCacheAge(_ seconds: Int) {
        guard seconds > 0 else { return append(.cacheControl, "no-cache") }
        append(.cacheControl, "max-age=\(seconds)")
    }
}
