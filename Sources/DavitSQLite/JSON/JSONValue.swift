/// A JSON value (RFC 8259). Members of objects keep their order.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with a fraction or an exponent, or an integer that exceeds 64 bits.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// Parses a JSON text in UTF-8 of at most 1,000 levels; nil if it is malformed.
    public init?(parsing bytes: [UInt8]) {
        guard let value = JSONParser.parse(bytes) else { return nil }
        self = value
    }

    /// The value of the first member with this name; nil if there is none, or if this is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a string; nil for other values.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The value of a number, with or without a fraction; nil for other values.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The members of an object; nil for other values.
    public var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array; nil for other values.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The kind of value, as in error texts: `string`, `number`, `true or false`, `null`, `array` or `object`.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { JSONMember($0.0, $0.1) })
    }
}

/// A member of a JSON object.
public struct JSONMember: Hashable, Sendable {
    public var name: String
    public var value: JSONValue

    public init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}
