public import DavitHTTP
internal import DavitXML

/// The body of a PROPPATCH request (RFC 4918 §14.19).
public struct PropertyUpdate: Hashable, Sendable {
    /// The change of one property; a name may occur several times, and the order is significant (§9.2).
    public enum Instruction: Hashable, Sendable {
        /// The value is the property element itself, with the `xml:lang` in scope.
        case set(PropertyName, PropertyValue)
        /// The content of the element is ignored (§14.23).
        case remove(PropertyName)

        public var name: PropertyName {
            switch self {
            case .set(let name, _), .remove(let name): name
            }
        }
    }

    /// The instructions in document order; not empty in the result of ``parse(_:charset:limits:)``.
    public let instructions: [Instruction]

    public init(instructions: [Instruction]) { self.instructions = instructions }

    /// The names of the properties, without duplicates, in document order.
    public var names: [PropertyName] {
        var seen: Set<PropertyName> = []
        return instructions.map(\.name).filter { seen.insert($0).inserted }
    }

    /// Parses the body of a PROPPATCH. Unknown elements are ignored (§17).
    ///
    /// - Parameter charset: the charset parameter of the media type, if any.
    /// - Throws: ``BodyError``, including `malformed` if there are no instructions.
    public static func parse(
        _ bytes: [UInt8], charset: Charset? = nil, limits: BodyLimits = BodyLimits()
    ) throws(BodyError) -> PropertyUpdate {
        let root = try XMLElement.root(
            named: "propertyupdate", of: bytes, charset: charset, limits: limits.xml)
        let instructions = try Self.instructions(in: root, allowsRemove: true, limits: limits)
        if instructions.isEmpty { throw .malformed(line: root.line) }
        return PropertyUpdate(instructions: instructions)
    }

    /// Parses the `set` elements of `root` and, if allowed, the `remove` elements, in document order.
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
