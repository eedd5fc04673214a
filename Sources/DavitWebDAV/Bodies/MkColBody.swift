public import DavitHTTP
internal import DavitXML

/// What an extended MKCOL sets on the new collection (RFC 5689 §5.1).
public struct MkColBody: Hashable, Sendable {
    /// In document order; may be empty. One for `DAV:resourcetype` is among them, if the request says what to make.
    public let properties: PropertyUpdate
    /// Whether every `DAV:resourcetype` of the request names a collection, and nothing else besides (§3.3).
    public let isPlainCollection: Bool

    /// One that sets nothing.
    public static let empty = MkColBody(
        properties: PropertyUpdate(instructions: []), isPlainCollection: true)

    /// Parses the content of an extended MKCOL. Unknown elements are ignored (RFC 4918 §17).
    ///
    /// - Parameter charset: the charset parameter of its media type, if there is one.
    /// - Throws: ``BodyError``; `notThis` for a document about something else, which the server answers 415.
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
