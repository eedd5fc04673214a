public import DavitHTTP
internal import DavitXML

/// What a PROPPATCH changes (RFC 4918 §14.19).
public struct PropertyUpdate: Hashable, Sendable {
    /// One property; a name may come several times, and the order counts (§9.2).
    public enum Instruction: Hashable, Sendable {
        /// The value is the property element itself, with the `xml:lang` in scope where it stood.
        case set(PropertyName, PropertyValue)
        /// What stands inside the element means nothing (§14.23).
        case remove(PropertyName)

        public var name: PropertyName {
            switch self {
            case .set(let name, _), .remove(let name): name
            }
        }
    }

    /// In document order; never empty after parsing.
    public let instructions: [Instruction]

    public init(instructions: [Instruction]) { self.instructions = instructions }

    /// The properties that are named, each once, in the order of the first mention.
    public var names: [PropertyName] {
        var seen: Set<PropertyName> = []
        return instructions.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Parses the content of a PROPPATCH. Unknown elements are ignored (§17).
    ///
    /// - Parameter charset: the charset parameter of its media type, if there is one.
    /// - Throws: ``BodyError``; `malformed` also if there is nothing to do.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> PropertyUpdate {
        let root = try XMLElement.root(
            named: "propertyupdate", of: bytes, charset: charset, limits: limits.xml)
        let instructions = try Self.instructions(in: root, allowsRemove: true, limits: limits)
        if instructions.isEmpty { throw .malformed(line: root.line) }
        return PropertyUpdate(instructions: instructions)
    }

    /// What the `set` and, if that is allowed, the `remove` elements of `root` say, in document order.
    static func instructions(
        in root: XMLElement, allowsRemove: Bool, limits: BodyLimits
    ) throws(BodyError) -> [Instruction] {
        var instructions: [Instruction] = []
        var valueBytes = 0
        for action in root.children {
            let isSet = action.isDAV("set")
            guard isSet || allowsRemove && action.isDAV("remove") else { continue }
            guard let prop = try action.only("prop") else { throw .malformed(line: action.line) }
            for property in prop.children {
                if isSet {
                    let value = PropertyValue(element: property.serializedSelfContained())
                    valueBytes += value.element.count
                    instructions.append(.set(property.propertyName, value))
                } else {
                    instructions.append(.remove(property.propertyName))
                }
                if instructions.count > limits.properties || valueBytes > limits.valueBytes {
                    throw .malformed(line: property.line)
                }
            }
        }
        return instructions
    }
}
