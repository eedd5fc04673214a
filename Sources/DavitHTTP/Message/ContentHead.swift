internal import Synchronization

/// What a response says about stored content, beside the content itself. Made once for each version of it.
public final class ContentHead: Sendable {
    /// Of the content as it is sent.
    public let tag: EntityTag
    /// When the content changed last.
    public let modified: Timestamp
    /// What goes with all of the content, or with one range.
    public let fields: HTTPFields
    /// What a 304 repeats of them (RFC 9110 §15.4.5).
    public let notModified: HTTPFields
    /// Whether a client may get the content in a coding instead; then `Vary` says so already.
    public let negotiatesCoding: Bool
    /// The tag of the content as it is, where this is the head of a coded form.
    private let plainTag: EntityTag?
    /// The last head that ``asForm(of:)`` has made.
    private let form = AtomicLazyReference<ContentHead>()

    /// - Parameter name: of the resource as asked for; the media type follows from it.
    public init(
        tag: EntityTag, modified: Timestamp, name: some Collection<UInt8>, rules: borrowing ContentRules
    ) {
        self.tag = tag
        self.modified = modified
        plainTag = nil
        let encodedTag = tag.encoded
        var fields = HTTPFields()
        fields.append(.etag, encodedTag)
        fields.append(.lastModified, HTTPDate.imf(modified))
        fields.append(.acceptRanges, "bytes")
        fields.append(.xContentTypeOptions, "nosniff")
        let kind = rules.appendType(of: name, to: &fields)
        if kind.isActive, rules.sandboxesActiveContent {
            // Stored HTML and SVG may run, but never with the origin of this server.
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

    /// The head of another resource whose content, in the coding gzip, is the content of this one.
    ///
    /// Its tag has the tag of this one as a part: who compresses the content anew makes other bytes out of it. Made once,
    /// as long as the other does not change.
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

    /// The content is that of another resource, in a coding.
    public var isCoded: Bool { plainTag != nil }

    /// The fields without those that speak of the content itself, for answers whose content is another.
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
