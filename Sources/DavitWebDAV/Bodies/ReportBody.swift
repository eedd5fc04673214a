public import DavitHTTP
internal import DavitXML

/// What a REPORT asks for: its root element says which report it is (RFC 3253 §3.6).
public enum ReportBody: Hashable, Sendable {
    /// RFC 3253 §3.8.
    case expandProperty([ExpandedProperty])
    /// RFC 6578 §3.2.
    case syncCollection(SyncCollectionBody)
    /// What the trash keeps: davit's own, `trash` in ``trashNamespace``.
    case trash
    /// A report that this server does not know, by the name of its root element.
    case unknown(PropertyName)

    /// Of the report about the trash, and of the properties in its answer.
    public static let trashNamespace = "urn:davit:trash"

    /// Parses the content of a REPORT.
    ///
    /// - Parameter charset: the charset parameter of its media type, if there is one.
    /// - Throws: ``BodyError``; `malformed` for no content, and for a known report that lacks something.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> ReportBody {
        let root = try XMLElement.root(of: bytes, charset: charset, limits: limits.xml)
        if root.isDAV("expand-property") {
            var budget = limits.properties
            return .expandProperty(try ExpandedProperty.parse(in: root, budget: &budget))
        }
        if root.isDAV("sync-collection") {
            return .syncCollection(try SyncCollectionBody(root, limits: limits))
        }
        let name = root.propertyName
        return name == PropertyName(namespace: trashNamespace, local: "trash") ? .trash : .unknown(name)
    }
}
