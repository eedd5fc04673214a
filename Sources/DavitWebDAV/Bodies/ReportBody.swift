public import DavitHTTP
internal import DavitXML

/// The body of a REPORT request; its root element identifies the report (RFC 3253 §3.6).
public enum ReportBody: Hashable, Sendable {
    /// `expand-property` (RFC 3253 §3.8).
    case expandProperty([ExpandedProperty])
    /// `sync-collection` (RFC 6578 §3.2).
    case syncCollection(SyncCollectionBody)
    /// The contents of the trash: a report that davit defines, `trash` in ``trashNamespace``.
    case trash
    /// An unsupported report, with the name of its root element.
    case unknown(PropertyName)

    /// The namespace of the trash report and of the properties in its response.
    public static let trashNamespace = "urn:davit:trash"

    /// Parses the body of a REPORT.
    ///
    /// - Parameter charset: the charset parameter of the media type, if any.
    /// - Throws: ``BodyError``; `malformed` for an empty body, or a supported report that lacks a required
    ///   element.
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
