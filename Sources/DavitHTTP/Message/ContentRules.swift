/// What is said about stored content, whoever asks for it.
public struct ContentRules: Sendable {
    /// The media types by the ends of names.
    public var types = MediaTypes()
    /// The type of all content, whatever its name; nil for that of the name.
    public var onlyType: String?
    /// How long caches may keep the content without asking again; 0 has them ask each time, nil says nothing, which has
    /// browsers guess (RFC 9111 §4.2.2).
    public var cacheAgeSeconds: Int?
    /// Whether HTML and SVG may run, but not with the origin of this server. Off for content that the owner of the server
    /// has put there, as that of a website.
    public var sandboxesActiveContent = true
    /// Whether clients may get content of types that get shorter in the coding gzip. Says `Vary: Accept-Encoding` on it.
    public var negotiatesCoding = false

    /// Types by name, nothing about caches, active content in a sandbox.
    public init() {}

    /// What matters about a media type here.
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
    /// Has caches keep the response for so many seconds; 0 and less has them ask each time (RFC 9111 §5.2.2).
    package mutating func appendCacheAge(_ seconds: Int) {
        guard seconds > 0 else { return append(.cacheControl, "no-cache") }
        append(.cacheControl, "max-age=\(seconds)")
    }
}
