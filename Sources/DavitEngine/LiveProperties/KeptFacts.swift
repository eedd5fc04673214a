internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What is known of a resource besides what the file system says, kept as the row of the live property that shows it.
///
/// Such rows go the way of dead properties: with a MOVE, and away with a DELETE. Nobody but this server writes them,
/// because the property is protected; `displayname` and `getcontentlanguage` are not, and are the client's.
extension StoredProperty {
    /// Digests of content that had this entity tag, compared with its bytes as they came in.
    init(_ digests: [ContentDigest], of tag: EntityTag) {
        let text = String(decoding: tag.opaque, as: UTF8.self) + " " + ChecksumList.encode(digests)
        self.init(.checksums, text: text)
    }

    /// When a client says that content was made.
    init(created: Timestamp) { self.init(.creationdate, text: "\(created.seconds)") }

    /// The `Content-Language` of a PUT.
    init(_ language: ContentLanguage) { self.init(.contentLanguage, text: language.description) }

    private init(_ property: LiveProperty, text: String) { self.init(property.name, text: text) }

    /// - Parameter text: nothing that has a meaning in XML.
    private init(_ name: PropertyName, text: String) {
        let element = #"<N:\#(name.local) xmlns:N="\#(name.namespace)">\#(text)</N:\#(name.local)>"#
        self.init(name: name, value: PropertyValue(element: Array(element.utf8)))
    }
}

extension [StoredProperty] {
    /// The digests of the content as it is now; those of an earlier version count for nothing.
    func digests(of info: ResourceInfo) -> [ContentDigest] {
        guard let text = text(of: .checksums) else { return [] }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].utf8.elementsEqual(info.entityTag.opaque) else { return [] }
        return (try? ChecksumList.parse([UInt8](words[1].utf8).span)) ?? []
    }

    /// When the resource was made, if a client has said so.
    var created: Timestamp? {
        text(of: .creationdate).flatMap { Int64($0) }.flatMap(Timestamp.init(checking:))
    }

    /// What a client has set as `displayname` (RFC 4918 §15.2), as it was sent.
    var displayName: PropertyValue? { value(of: LiveProperty.displayname.name) }

    /// What GET says in `Content-Language` (§15.3).
    var contentLanguage: ContentLanguage? { value(of: .contentLanguage)?.contentLanguage }

    private func text(of property: LiveProperty) -> String? { value(of: property.name)?.trimmedText }

    private func value(of name: PropertyName) -> PropertyValue? {
        if isEmpty { return nil }
        return first { $0.name == name }?.value
    }
}

extension PropertyValue {
    /// The value of `getcontentlanguage` as a field; nil if it is not one.
    var contentLanguage: ContentLanguage? {
        guard let (text, _) = simpleText else { return nil }
        let bytes = Array(text.utf8)
        return ContentLanguage(parsing: bytes.span)
    }
}

extension Timestamp {
    /// Nil for what cannot be one.
    init?(checking seconds: Int64) {
        // A second less at both ends: the time within it is added later.
        let limit = Int64.max / 1_000_000_000 - 1
        guard (-limit...limit).contains(seconds) else { return nil }
        self.init(seconds: seconds)
    }
}

extension LiveProperty {
    static let ownCloudNamespace = "http://owncloud.org/ns"

    /// The value of `checksums`, as clients of ownCloud read it.
    static func checksumsElement(_ digests: [ContentDigest]) -> PropertyValue {
        let element =
            #"<N:checksums xmlns:N="\#(ownCloudNamespace)"><N:checksum>\#(ChecksumList.encode(digests))</N:checksum></N:checksums>"#
        return PropertyValue(element: Array(element.utf8))
    }
}

extension Share {
    /// Keeps what a client has said of content that is in place now. A fault changes nothing about the content, and is
    /// reported, not answered.
    /// - Returns: whether it is kept.
    func keep(_ facts: [StoredProperty], at path: ResourcePath, of info: ResourceInfo) -> Bool {
        let bound = StateChange.bind(path, current: info.identity, pending: nil)
        do throws(StoreError) {
            try record([bound] + facts.map { .setProperty(path, $0) })
            return true
        } catch {
            report("what a client said of new content could not be kept: \(error)")
            return false
        }
    }
}
