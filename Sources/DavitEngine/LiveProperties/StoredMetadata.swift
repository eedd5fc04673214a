internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// Metadata that the file system cannot store, or that the volume cannot store with the content. It is stored in the row of
/// the property that exposes it.
///
/// These rows behave like dead properties: they are moved by MOVE and removed by DELETE. With PROPPATCH, clients can
/// set `displayname` and `getcontentlanguage`; `checksums` and `creationdate` are protected, so only the server
/// writes them.
extension StoredProperty {
    /// Digests of the content with this entity tag, verified while the content was received.
    init(_ digests: [ContentDigest], of tag: EntityTag) {
        let text = String(decoding: tag.opaque, as: UTF8.self) + " " + ChecksumList.encode(digests)
        self.init(.checksums, text: text)
    }

    /// The creation date of the content according to the client.
    init(created: Timestamp) { self.init(.creationdate, text: "\(created.seconds)") }

    /// The language of the content, from the `Content-Language` of a PUT.
    init(_ language: ContentLanguage) { self.init(.contentLanguage, text: language.description) }

    private init(_ property: LiveProperty, text: String) { self.init(property.name, text: text) }

    /// - Parameter text: must not contain characters that require escaping in XML.
    private init(_ name: PropertyName, text: String) {
        let element = #"<N:\#(name.local) xmlns:N="\#(name.namespace)">\#(text)</N:\#(name.local)>"#
        self.init(name: name, value: PropertyValue(element: Array(element.utf8)))
    }
}

extension [StoredProperty] {
    /// Returns the digests of the current content, which a store has recorded or which are in these rows; digests of earlier
    /// versions are ignored. May block.
    func digests(
        of info: ResourceInfo, at location: ResourceLocation, in resources: any ResourceStore
    ) -> [ContentDigest] {
        let recorded = resources.recordedDigests(of: info, at: location)
        return recorded.isEmpty ? digests(of: info) : recorded
    }

    private func digests(of info: ResourceInfo) -> [ContentDigest] {
        guard let text = text(of: .checksums) else { return [] }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].utf8.elementsEqual(info.entityTag.opaque) else { return [] }
        return (try? ChecksumList.parse([UInt8](words[1].utf8).span)) ?? []
    }

    /// The creation date that a client has set, if any.
    var created: Timestamp? {
        text(of: .creationdate).flatMap { Int64($0) }.flatMap(Timestamp.init(checking:))
    }

    /// The value of `displayname` that a client has set (RFC 4918 §15.2), unmodified.
    var displayName: PropertyValue? { value(of: LiveProperty.displayname.name) }

    /// The `Content-Language` that GET returns (§15.3).
    var contentLanguage: ContentLanguage? { value(of: .contentLanguage)?.contentLanguage }

    private func text(of property: LiveProperty) -> String? { value(of: property.name)?.trimmedText }

    private func value(of name: PropertyName) -> PropertyValue? {
        if isEmpty { return nil }
        return first { $0.name == name }?.value
    }
}

extension PropertyValue {
    /// The value of `getcontentlanguage` as a header field; nil if it is invalid.
    var contentLanguage: ContentLanguage? {
        guard let (text, _) = simpleText else { return nil }
        let bytes = Array(text.utf8)
        return ContentLanguage(parsing: bytes.span)
    }
}

extension Timestamp {
    /// Creates a timestamp from seconds; nil if it is out of range.
    init?(checking seconds: Int64) {
        // Reserve one second at both ends for a fraction that is added later.
        let limit = Int64.max / 1_000_000_000 - 1
        guard (-limit...limit).contains(seconds) else { return nil }
        self.init(seconds: seconds)
    }
}

extension LiveProperty {
    static let ownCloudNamespace = "http://owncloud.org/ns"

    /// Returns the value of `checksums` in the format of ownCloud clients.
    static func checksumsElement(_ digests: [ContentDigest]) -> PropertyValue {
        let element =
            #"<N:checksums xmlns:N="\#(ownCloudNamespace)"><N:checksum>\#(ChecksumList.encode(digests))</N:checksum></N:checksums>"#
        return PropertyValue(element: Array(element.utf8))
    }
}
