/// The name of a property: a namespace name and a local name (RFC 4918 §4.2, §17).
public struct PropertyName: Hashable, Sendable {
    /// The namespace name; "" for an element in no namespace.
    public let namespace: String
    public let local: String

    public init(namespace: String, local: String) {
        self.namespace = namespace
        self.local = local
    }

    /// `DAV:getcontentlanguage` (RFC 4918 §15.3).
    public static let contentLanguage = dav("getcontentlanguage")

    /// Returns a name in the `DAV:` namespace.
    public static func dav(_ local: String) -> PropertyName { PropertyName(namespace: "DAV:", local: local) }
}
