internal import DavitSQLite

/// A subset of JSON Schema (draft 2020-12): values, objects, arrays, strings, numbers and combinations, without
/// references.
final class JSONSchema: Sendable {
    private enum Kind: String, CaseIterable { case null, boolean, integer, number, string, array, object }

    /// Schemas and values are nested at most this deep.
    private static let depthLimit = 100
    /// Keywords that do not restrict values.
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly",
        "writeOnly",
    ]

    private let types: [Kind]
    private let values: [JSONValue]?
    private let tests: [ValueTest]
    private let pattern: (TextPattern, text: String)?
    private let exclusiveMinimum: Double?, exclusiveMaximum: Double?, multipleOf: Double?
    private let properties: [String: JSONSchema]
    private let required: [String]
    /// Nil to allow all; a schema that is always false to allow none.
    private let additional: JSONSchema?
    private let items: JSONSchema?
    private let minItems: Int64?, maxItems: Int64?, minProperties: Int64?, maxProperties: Int64?
    private let hasUniqueItems: Bool
    private let all: [JSONSchema], any: [JSONSchema]?, one: [JSONSchema]?
    private let negated: JSONSchema?
    /// Whether no value is valid.
    private let isFalse: Bool

    /// - Throws: ``RuleError`` for a keyword that is not supported or has the wrong form.
    convenience init(_ json: JSONValue, column: String) throws(RuleError) {
        try self.init(json, column: column, depth: 0)
    }

    private init(_ json: JSONValue, column: String, depth: Int) throws(RuleError) {
        guard depth < Self.depthLimit else {
            throw RuleError(column: column, "the schema is nested too deep")
        }
        isFalse = json == false
        let members: [JSONMember]
        if case .bool = json {
            members = []
        } else if let found = json.members {
            members = found
        } else {
            throw RuleError(column: column, "a schema is an object, true or false")
        }
        var reader = RuleReader(
            members: members.filter { !Self.annotations.contains($0.name) }, column: column)
        func schema(_ value: JSONValue, _ name: String) throws(RuleError) -> JSONSchema {
            try JSONSchema(value, column: "\(column).\(name)", depth: depth + 1)
        }
        func schemas(_ name: String) throws(RuleError) -> [JSONSchema]? {
            guard let value = reader.take(name) else { return nil }
            guard let elements = value.elements, !elements.isEmpty else {
                throw RuleError(column: "\(column).\(name)", "must be an array of schemas")
            }
            var found: [JSONSchema] = []
            for (index, element) in elements.enumerated() {
                found.append(try schema(element, "\(name)[\(index)]"))
            }
            return found
        }
        func number(_ name: String) throws(RuleError) -> Double? {
            guard let value = reader.take(name) else { return nil }
            guard let number = value.double else {
                throw RuleError(column: "\(column).\(name)", "must be a number, not \(value.kind)")
            }
            return number
        }
        var types: [Kind] = []
        if let value = reader.take("type") {
            for element in value.elements ?? [value] {
                guard let text = element.text, let kind = Kind(rawValue: text) else {
                    let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw RuleError(column: "\(column).type", "not one of \(names)")
                }
                types.append(kind)
            }
        }
        self.types = types
        var values: [JSONValue]?
        if let value = reader.taking("enum") {
            guard let elements = value.elements else {
                throw RuleError(column: "\(column).enum", "must be an array")
            }
            values = elements
        }
        if let value = reader.taking("const") { values = [value] }
        self.values = values
        var tests: [ValueTest] = []
        for name in ["minLength", "maxLength", "format", "minimum", "maximum"] {
            guard let value = reader.take(name) else { continue }
            tests.append(try ValueTest(name, value, column: "\(column).\(name)"))
        }
        self.tests = tests
        if let text = try reader.text("pattern") {
            guard let compiled = TextPattern(text) else {
                throw RuleError(column: "\(column).pattern", "invalid regular expression")
            }
            pattern = (compiled, text)
        } else {
            pattern = nil
        }
        exclusiveMinimum = try number("exclusiveMinimum")
        exclusiveMaximum = try number("exclusiveMaximum")
        multipleOf = try number("multipleOf")
        if let multipleOf, multipleOf <= 0 {
            throw RuleError(column: "\(column).multipleOf", "must be greater than 0")
        }
        var properties: [String: JSONSchema] = [:]
        if let value = reader.take("properties") {
            guard let members = value.members else {
                throw RuleError(column: "\(column).properties", "must be an object of schemas")
            }
            for member in members {
                properties[member.name] = try schema(member.value, "properties.\(member.name)")
            }
        }
        self.properties = properties
        var required: [String] = []
        for (index, value) in try reader.array("required").enumerated() {
            guard let name = value.text else {
                throw RuleError(column: "\(column).required[\(index)]", "must be a string")
            }
            required.append(name)
        }
        self.required = required
        additional = try reader.take("additionalProperties").map { value throws(RuleError) in
            try schema(value, "additionalProperties")
        }
        items = try reader.take("items").map { value throws(RuleError) in try schema(value, "items") }
        minItems = try reader.integer("minItems", 0...Int64.max)
        maxItems = try reader.integer("maxItems", 0...Int64.max)
        minProperties = try reader.integer("minProperties", 0...Int64.max)
        maxProperties = try reader.integer("maxProperties", 0...Int64.max)
        hasUniqueItems = try reader.flag("uniqueItems") ?? false
        all = try schemas("allOf") ?? []
        any = try schemas("anyOf")
        one = try schemas("oneOf")
        negated = try reader.take("not").map { value throws(RuleError) in try schema(value, "not") }
        try reader.finish()
    }

    /// Returns the first problem of a value, with its place; nil if the value is valid.
    func problem(of value: JSONValue) -> String? { problem(of: value, at: "", depth: 0) }

    private func problem(of value: JSONValue, at path: String, depth: Int) -> String? {
        guard depth < Self.depthLimit else { return "\(path): is nested too deep" }
        let place = path.isEmpty ? "" : "\(path): "
        if isFalse { return "\(place)is not allowed" }
        if !types.isEmpty, !types.contains(where: { Self.has(value, $0) }) {
            return "\(place)is not of type \(types.map(\.rawValue).joined(separator: " or "))"
        }
        if let values,
            !values.contains(where: { ValueTest.equals($0).problem(value) == nil && $0.kind == value.kind })
        {
            return "\(place)is none of \(JSONValue.array(values))"
        }
        if let found = stringOrNumberProblem(value) { return place + found }
        if let elements = value.elements, let found = problem(ofElements: elements, place, path, depth) {
            return found
        }
        if let members = value.members, let found = problem(ofMembers: members, place, path, depth) {
            return found
        }
        for schema in all {
            if let found = schema.problem(of: value, at: path, depth: depth + 1) { return found }
        }
        func matches(_ schema: JSONSchema) -> Bool {
            schema.problem(of: value, at: path, depth: depth + 1) == nil
        }
        if let any, !any.contains(where: matches) { return "\(place)matches none of the schemas of anyOf" }
        if let one {
            let count = one.count(where: matches)
            if count != 1 { return "\(place)matches \(count) schemas of oneOf instead of one" }
        }
        if let negated, matches(negated) { return "\(place)matches the schema of not" }
        return nil
    }

    private func stringOrNumberProblem(_ value: JSONValue) -> String? {
        for test in tests {
            let applies =
                switch test {
                case .minimum, .maximum: value.double != nil
                default: value.text != nil
                }
            if applies, let found = test.problem(value) { return found }
        }
        if let text = value.text, let pattern, !pattern.0.matches(text) {
            return "does not match \(pattern.text)"
        }
        guard let number = value.double else { return nil }
        if let exclusiveMinimum, number <= exclusiveMinimum {
            return "is not greater than \(ValueTest.text(exclusiveMinimum))"
        }
        if let exclusiveMaximum, number >= exclusiveMaximum {
            return "is not less than \(ValueTest.text(exclusiveMaximum))"
        }
        if let multipleOf {
            let quotient = number / multipleOf
            if quotient != quotient.rounded() { return "is not a multiple of \(ValueTest.text(multipleOf))" }
        }
        return nil
    }

    private func problem(
        ofElements elements: [JSONValue], _ place: String, _ path: String, _ depth: Int
    ) -> String? {
        if let minItems, Int64(elements.count) < minItems {
            return "\(place)has fewer than \(minItems) elements"
        }
        if let maxItems, Int64(elements.count) > maxItems {
            return "\(place)has more than \(maxItems) elements"
        }
        if hasUniqueItems, Set(elements).count != elements.count { return "\(place)has equal elements" }
        guard let items else { return nil }
        for (index, element) in elements.enumerated() {
            if let found = items.problem(of: element, at: "\(path)[\(index)]", depth: depth + 1) {
                return found
            }
        }
        return nil
    }

    private func problem(
        ofMembers members: [JSONMember], _ place: String, _ path: String, _ depth: Int
    ) -> String? {
        for name in required where !members.contains(where: { $0.name == name }) {
            return "\(place)the member '\(name)' is missing"
        }
        if let minProperties, Int64(members.count) < minProperties {
            return "\(place)has fewer than \(minProperties) members"
        }
        if let maxProperties, Int64(members.count) > maxProperties {
            return "\(place)has more than \(maxProperties) members"
        }
        for member in members {
            guard let schema = properties[member.name] ?? additional else { continue }
            if let found = schema.problem(of: member.value, at: "\(path).\(member.name)", depth: depth + 1) {
                return found
            }
        }
        return nil
    }

    private static func has(_ value: JSONValue, _ kind: Kind) -> Bool {
        switch (kind, value) {
        case (.null, .null), (.boolean, .bool), (.string, .string), (.array, .array), (.object, .object),
            (.integer, .integer), (.number, .integer), (.number, .number):
            true
        // 1.0 is an integer.
        case (.integer, .number(let number)): number == number.rounded()
        default: false
        }
    }
}
