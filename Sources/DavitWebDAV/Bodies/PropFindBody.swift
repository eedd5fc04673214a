public import DavitHTTP
internal import DavitXML

/// The body of a PROPFIND request (RFC 4918 §14.20).
public enum PropFindBody: Hashable, Sendable {
    /// All dead properties, the live properties of RFC 4918 §15, and those in `include`.
    case allprop(include: [PropertyName])
    /// The names of all properties.
    case propname
    /// The given properties, without duplicates, in document order.
    case prop([PropertyName])

    /// Parses the body of a PROPFIND. An empty body means allprop (§9.1).
    ///
    /// Unknown elements are ignored (§17).
    /// - Parameter charset: the charset parameter of the media type, if any.
    /// - Throws: ``BodyError``, including `malformed` if the body does not contain exactly one of the three
    ///   alternatives.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> PropFindBody {
        if bytes.isEmpty { return .allprop(include: []) }
        let root = try XMLElement.root(named: "propfind", of: bytes, charset: charset, limits: limits.xml)
        let all = try root.only("allprop")
        let names = try root.only("propname")
        let some = try root.only("prop")
        let include = try root.only("include")
        switch (all, names, some) {
        case (.some, nil, nil):
            return .allprop(include: try propertyNames(in: include, limit: limits.properties))
        case (nil, .some, nil) where include == nil:
            return .propname
        case (nil, nil, .some) where include == nil:
            return .prop(try propertyNames(in: some, limit: limits.properties))
        default:
            throw .malformed(line: root.line)
        }
    }

    /// Parses the `select` element of a search (RFC 5323 §5.3): `allprop` or `prop`.
    init(selecting element: XMLElement, limits: BodyLimits) throws(BodyError) {
        switch (try element.only("allprop"), try element.only("prop")) {
        case (.some, nil): self = .allprop(include: [])
        case (nil, let some?): self = .prop(try Self.propertyNames(in: some, limit: limits.properties))
        default: throw .malformed(line: element.line)
        }
    }

    /// Returns the names of the children of a `prop` or `include` element, without duplicates; empty for nil.
    static func propertyNames(
        in element: XMLElement?, limit: Int
    ) throws(BodyError) -> [PropertyName] {
        var names: [PropertyName] = []
        var seen: Set<PropertyName> = []
        for child in element?.children ?? [] {
            let name = child.propertyName
            if seen.insert(name).inserted { names.append(name) }
            if names.count > limit { throw .malformed(line: child.line) }
        }
        return names
    }
}
