internal import Synchronization

/// The response fields for stored content. Formatted once when the content is opened, for all responses that
/// send it.
public final class ContentHead: Sendable {
    /// The entity tag of the content as sent.
    public let tag: EntityTag
    /// When the content was last modified.
    public let modified: Timestamp
    /// The fields sent with the complete content or a single range.
    public let fields: HTTPFields
    /// The subset of `fields` sent with a 304 response (RFC 9110 §15.4.5).
    public let notModified: HTTPFields
    /// Whether the representation that a client receives depends on Accept-Encoding; `fields` then includes
    /// `Vary`.
    public let negotiatesCoding: Bool
    /// The entity tag of the unencoded representation, if this is the head of one with a content coding; else
    /// nil.
    private let plainTag: EntityTag?
    /// The result of the first call of ``asForm(of:)``, if any.
    private let form = AtomicLazyReference<ContentHead>()

    /// - Parameter name: the name of the requested resource, from which the media type is derived.
    public init(
        tag: EntityTag, modified: Timestamp, name: some Collection<UInt8>,
        rules: borrowing ContentResponseSettings
    ) {
        self.tag = tag
        self.modified = modified
        plainTag = nil
        let encodedTag = tag.encoded
        var fields = HTTPFields()
        fields.append(.etag, encodedTag)
        fields.append(.lastModified, modified)
        fields.append(.acceptRanges, "bytes")
        fields.append(.xContentTypeOptions, "nosniff")
        let kind = rules.appendType(of: name, to: &fields)
        if kind.isActive, rules.sandboxesActiveContent {
            // Stored HTML and SVG may run scripts, but not in the origin of this server.
            fields.append(.contentSecurityPolicy, "sandbox")
        }
        negotiatesCoding = kind.isCompressible && rules.negotiatesCoding
        var notModified = HTTPFields()
        notModified.append(.etag, encodedTag)
        if negotiatesCoding {
            fields.append(.vary, FieldName.acceptEncoding.text)
            notModified.append(.vary, FieldName.acceptEncoding.text)
        }
        if let seconds = rules.cacheAgeSeconds {
            fields.appendCacheAge(seconds)
            notModified.appendCacheAge(seconds)
        }
        self.fields = fields
        self.notModified = notModified
    }

    /// Returns the head for responses that send this content as the gzip-coded representation of `plain`.
    ///
    /// The entity tag includes the tag of this content, because compressing the same content again may
    /// produce different bytes. The result of the first call is cached; later calls return it if the entity
    /// tag of `plain` is the same.
    public func asForm(of plain: ContentHead) -> ContentHead {
        let known = form.load() ?? form.storeIfNil(ContentHead(plain, gzip: self))
        return known.plainTag == plain.tag ? known : ContentHead(plain, gzip: self)
    }

    private init(_ plain: ContentHead, gzip coded: ContentHead) {
        tag = plain.tag.coded(as: coded.tag)
        plainTag = plain.tag
        modified = plain.modified
        negotiatesCoding = plain.negotiatesCoding
        let encodedTag = tag.encoded
        var fields = plain.fields
        fields.remove(.etag)
        fields.append(.etag, encodedTag)
        fields.append(.contentEncoding, "gzip")
        self.fields = fields
        var notModified = plain.notModified
        notModified.remove(.etag)
        notModified.append(.etag, encodedTag)
        self.notModified = notModified
    }

    /// Whether this is the head of a gzip-coded representation, created by ``asForm(of:)``.
    public var isCoded: Bool { plainTag != nil }

    /// The fields without the content type, for responses with different content.
    var fieldsWithoutType: HTTPFields {
        var fields = fields
        fields.remove(.contentType)
        return fields
    }

    /// The value of Content-Type. O(size of the fields).
    package var type: [UInt8] {
        var type: [UInt8] = []
        fields.forEachValue(of: .contentType) { type.append(copying: $0) }
        return type
    }
}
