public import DavitHTTP
internal import DavitXML

/// What a PROPFIND wants to know (RFC 4918 §14.20).
public enum PropFindBody: Hashable, Sendable {
    /// The dead properties and the live ones of §15, and those of `include` as well.
    case allprop(include: [PropertyName])
    /// The names of all properties.
    case propname
    /// These; each name once, in the order of the first mention.
    case prop([PropertyName])

    /// Parses the content of a PROPFIND. No content means allprop (§9.1).
    ///
    /// Unknown elements are ignored (§17).
    /// - Parameter charset: the charset parameter of its media type, if there is one.
    /// - Throws: ``BodyError``; `malformed` also for none or several of the three alternatives.
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

    /// What `select` of a search asks for (RFC 5323 §5.3): `allprop` or `prop`.
    init(selecting element: XMLElement, limits: BodyLimits) throws(BodyError) {
        switch (try element.only("allprop"), try element.only("prop")) {
        case (.some, nil): self = .allprop(include: [])
        case (nil, let some?): self = .prop(try Self.propertyNames(in: some, limit: limits.properties))
        default: throw .malformed(line: element.line)
        }
    }

    /// The children of a `prop` or `include` element, each name once.
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
