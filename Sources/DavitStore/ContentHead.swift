public import DavitHTTP

/// What a response says about content, beside the content itself. Made once for each version of it.
public final class ContentHead: Sendable {
    public let tag: EntityTag
    public let type: StaticString
    /// What goes with all of the content, or with one range.
    public let fields: HTTPFields
    /// What a 304 repeats of them (RFC 9110 §15.4.5).
    public let notModified: HTTPFields

    /// - Parameter name: of the resource as asked for; the media type follows from it.
    public init(_ info: ResourceInfo, name: some Collection<UInt8>) {
        tag = info.entityTag
        type = MediaType.forName(name)
        let encodedTag = tag.encoded
        var fields = Self.common(encodedTag, info, type)
        fields.append(.contentType, type)
        self.fields = fields
        var notModified = HTTPFields()
        notModified.append(.etag, encodedTag)
        self.notModified = notModified
    }

    /// The same without Content-Type, for answers that have one of their own.
    public func fieldsWithoutType(_ info: ResourceInfo) -> HTTPFields {
        Self.common(tag.encoded, info, type)
    }

    private static func common(
        _ encodedTag: [UInt8], _ info: ResourceInfo, _ type: StaticString
    ) -> HTTPFields {
        var fields = HTTPFields()
        fields.append(.etag, encodedTag)
        fields.append(.lastModified, HTTPDate.imf(info.modified))
        fields.append(.acceptRanges, "bytes")
        fields.append(.xContentTypeOptions, "nosniff")
        if MediaType.isActive(type) {
            // Stored HTML and SVG may run, but never with the origin of this server.
            fields.append(.contentSecurityPolicy, "sandbox")
        }
        return fields
    }
}
