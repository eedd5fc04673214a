internal import DavitXML

/// A search condition (RFC 5323 §5.5): operators on properties and literals.
public indirect enum SearchCondition: Hashable, Sendable {
    /// One or more conditions, all of which must hold.
    case and([SearchCondition])
    /// One or more conditions, at least one of which must hold.
    case or([SearchCondition])
    case not(SearchCondition)
    /// A comparison of a property with a literal (§5.8, §5.9).
    case comparison(Comparison, PropertyName, SearchLiteral, isCaseless: Bool)
    /// A property that matches a pattern (§5.14).
    case like(PropertyName, SearchPattern, isCaseless: Bool)
    /// The resource is a collection (§5.12).
    case isCollection
    /// The property exists (§5.13).
    case isDefined(PropertyName)
    /// The property has a language (§5.15).
    case languageDefined(PropertyName)
    /// The language of the property is in this range (§5.16).
    case languageMatches(PropertyName, String)

    /// The operators of §5.8 and §5.9.
    public enum Comparison: Hashable, Sendable {
        case eq, lt, lte, gt, gte
    }

    /// - Parameter count: the number of operators so far.
    init(_ element: XMLElement, limits: BodyLimits, count: inout Int) throws(BodyError) {
        count += 1
        guard count <= limits.operators, element.namespace == "DAV:" else {
            throw .notThis(line: element.line)
        }
        switch element.local {
        case "and": self = .and(try Self.members(of: element, limits: limits, count: &count))
        case "or": self = .or(try Self.members(of: element, limits: limits, count: &count))
        case "not":
            let members = try Self.members(of: element, limits: limits, count: &count)
            guard members.count == 1 else { throw .malformed(line: element.line) }
            self = .not(members[0])
        case "eq": self = try .comparing(.eq, element, limits)
        case "lt": self = try .comparing(.lt, element, limits)
        case "lte": self = try .comparing(.lte, element, limits)
        case "gt": self = try .comparing(.gt, element, limits)
        case "gte": self = try .comparing(.gte, element, limits)
        case "like":
            guard let pattern = SearchPattern(try Self.literal(of: element, limits)) else {
                throw .notThis(line: element.line)
            }
            self = .like(try element.operand(), pattern, isCaseless: try element.isCaseless())
        case "is-collection": self = .isCollection
        case "is-defined": self = .isDefined(try element.operand())
        case "language-defined": self = .languageDefined(try element.operand())
        case "language-matches":
            self = .languageMatches(try element.operand(), try Self.literal(of: element, limits))
        // §5.5.2: an unsupported operator is refused with 422. This includes `contains`, because content is
        // not searched.
        default: throw .notThis(line: element.line)
        }
    }

    /// Parses the nested conditions. ``XMLLimits/depth`` limits the recursion.
    private static func members(
        of element: XMLElement, limits: BodyLimits, count: inout Int
    ) throws(BodyError) -> [SearchCondition] {
        var members: [SearchCondition] = []
        var child = element.firstChild
        while let current = child {
            members.append(try SearchCondition(current, limits: limits, count: &count))
            child = current.next
        }
        if members.isEmpty { throw .malformed(line: element.line) }
        return members
    }

    private static func comparing(
        _ comparison: Comparison, _ element: XMLElement, _ limits: BodyLimits
    ) throws(BodyError) -> SearchCondition {
        let literal: SearchLiteral
        switch (try element.only("literal"), try element.only("typed-literal")) {
        case (let plain?, nil): literal = SearchLiteral(type: nil, text: plain.text)
        case (nil, let typed?): literal = try SearchLiteral(typed)
        default: throw .malformed(line: element.line)
        }
        try check(literal.text, of: element, limits)
        return .comparison(
            comparison, try element.operand(), literal, isCaseless: try element.isCaseless())
    }

    private static func literal(of element: XMLElement, _ limits: BodyLimits) throws(BodyError) -> String {
        guard let literal = try element.only("literal") else { throw .malformed(line: element.line) }
        let text = literal.text
        try check(text, of: element, limits)
        return text
    }

    private static func check(
        _ literal: String, of element: XMLElement, _ limits: BodyLimits
    ) throws(BodyError) {
        if literal.utf8.count > limits.literalBytes { throw .notThis(line: element.line) }
    }
}

/// The literal that a property is compared with (RFC 5323 §5.10, §5.11).
public struct SearchLiteral: Hashable, Sendable {
    /// The type that determines how texts are compared.
    public enum ValueType: Hashable, Sendable {
        case string, boolean, integer, decimal, dateTime
    }

    /// The declared type; nil if the type of the property applies.
    public var type: ValueType?
    public var text: String

    init(type: ValueType?, text: String) {
        self.type = type
        self.text = text
    }

    /// Parses a `typed-literal`, whose `xsi:type` is a type of XML Schema; without it, the literal is a
    /// string.
    init(_ element: XMLElement) throws(BodyError) {
        text = element.text
        guard let name = element.attribute("type", in: "http://www.w3.org/2001/XMLSchema-instance") else {
            type = .string
            return
        }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        let prefix = parts.count == 2 ? String(parts[0]) : ""
        guard parts.count <= 2, element.namespace(ofPrefix: prefix) == "http://www.w3.org/2001/XMLSchema",
            let type = Self.types[String(parts[parts.count - 1])]
        else { throw .notThis(line: element.line) }
        self.type = type
    }

    private static let types: [String: ValueType] = [
        "string": .string, "normalizedString": .string, "token": .string, "anyURI": .string,
        "language": .string,
        "boolean": .boolean, "dateTime": .dateTime,
        "decimal": .decimal, "float": .decimal, "double": .decimal,
        "integer": .integer, "long": .integer, "int": .integer, "short": .integer, "byte": .integer,
        "nonNegativeInteger": .integer, "positiveInteger": .integer, "nonPositiveInteger": .integer,
        "negativeInteger": .integer, "unsignedLong": .integer, "unsignedInt": .integer,
        "unsignedShort": .integer,
        "unsignedByte": .integer,
    ]
}
