public import DavitHTTP
internal import DavitXML

/// The properties that an extended MKCOL sets on the new collection (RFC 5689 §5.1).
public struct MkColBody: Hashable, Sendable {
    /// The properties in document order; may be empty. Includes `DAV:resourcetype` if the request specifies
    /// it.
    public let properties: PropertyUpdate
    /// Whether every `DAV:resourcetype` in the request specifies a collection and nothing else (§3.3).
    public let isPlainCollection: Bool

    /// A body that sets no properties.
    public static let empty = MkColBody(
        properties: PropertyUpdate(instructions: []), isPlainCollection: true)

    /// Parses the body of an extended MKCOL. Unknown elements are ignored (RFC 4918 §17).
    ///
    /// - Parameter charset: the charset parameter of the media type, if any.
    /// - Throws: ``BodyError``; `notThis` for any other document, to which the server responds with 415.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> MkColBody {
        let root = try XMLElement.root(named: "mkcol", of: bytes, charset: charset, limits: limits.xml)
        let instructions = try PropertyUpdate.instructions(
            in: root, allowsRemove: false, limits: limits)
        var isPlain = true
        for action in root.children where action.isDAV("set") {
            for property in try action.only("prop")?.children ?? [] where property.isDAV("resourcetype") {
                let types = property.children
                isPlain = isPlain && !types.isEmpty && types.allSatisfy { $0.isDAV("collection") }
            }
        }
        return MkColBody(
            properties: PropertyUpdate(instructions: instructions), isPlainCollection: isPlain)
    }
}
