internal import DavitSQLite

/// A test of one value.
enum ValueTest: Sendable {
    case equals(JSONValue)
    case differs(JSONValue)
    case oneOf([JSONValue])
    case contains(String)
    case startsWith(String)
    case endsWith(String)
    case matches(TextPattern, text: String)
    case format(ValueFormat)
    case minimum(Double)
    case maximum(Double)
    case minLength(Int64)
    case maxLength(Int64)
    case schema(JSONSchema)

    /// The names of the tests in JSON, except `schema`.
    static let names = [
        "is", "isNot", "oneOf", "contains", "startsWith", "endsWith", "matches", "format", "minimum",
        "maximum",
        "minLength", "maxLength",
    ]

    /// - Throws: ``RuleError`` for a value that the test cannot have.
    init(_ name: String, _ value: JSONValue, column: String) throws(RuleError) {
        func text() throws(RuleError) -> String {
            guard let text = value.text else {
                throw RuleError(column: column, "must be a string, not \(value.kind)")
            }
            return text
        }
        func number() throws(RuleError) -> Double {
            guard let number = value.double else {
                throw RuleError(column: column, "must be a number, not \(value.kind)")
            }
            return number
        }
        func count() throws(RuleError) -> Int64 {
            guard case .integer(let count) = value, count >= 0 else {
                throw RuleError(column: column, "must be an integer from 0 on")
            }
            return count
        }
        switch name {
        case "is": self = .equals(value)
        case "isNot": self = .differs(value)
        case "oneOf":
            guard let values = value.elements, !values.isEmpty else {
                throw RuleError(column: column, "must be an array of values")
            }
            self = .oneOf(values)
        case "contains": self = .contains(try text())
        case "startsWith": self = .startsWith(try text())
        case "endsWith": self = .endsWith(try text())
        case "matches":
            guard let pattern = TextPattern(try text()) else {
                throw RuleError(column: column, "invalid regular expression")
            }
            self = .matches(pattern, text: try text())
        case "format":
            guard let format = ValueFormat(rawValue: try text()) else {
                let all = ValueFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw RuleError(column: column, "unknown format; the formats are \(all)")
            }
            self = .format(format)
        case "minimum": self = .minimum(try number())
        case "maximum": self = .maximum(try number())
        case "minLength": self = .minLength(try count())
        case "maxLength": self = .maxLength(try count())
        default: self = .schema(try JSONSchema(value, column: column))
        }
    }

    /// Returns what is wrong with a value; nil if the test succeeds.
    ///
    /// Values of other kinds than JSON are strings: they are compared with numbers and with true and false by
    /// their text.
    func problem(_ value: JSONValue) -> String? {
        let text = Self.text(of: value)
        switch self {
        case .equals(let wanted): return Self.isEqual(value, wanted) ? nil : "is not \(wanted)"
        case .differs(let other): return Self.isEqual(value, other) ? "is \(other)" : nil
        case .oneOf(let values):
            return values.contains { Self.isEqual(value, $0) } ? nil : "is none of \(JSONValue.array(values))"
        case .contains(let part): return text.contains(part) ? nil : "does not contain '\(part)'"
        case .startsWith(let part): return text.hasPrefix(part) ? nil : "does not begin with '\(part)'"
        case .endsWith(let part): return text.hasSuffix(part) ? nil : "does not end with '\(part)'"
        case .matches(let pattern, let expression):
            if text.utf8.count > TextPattern.limitBytes { return "is longer than 64 KiB" }
            return pattern.matches(text) ? nil : "does not match \(expression)"
        case .format(let format): return format.problem(text)
        case .minimum(let limit):
            guard let number = Self.number(value) else { return "is not a number" }
            return number >= limit ? nil : "is less than \(Self.text(limit))"
        case .maximum(let limit):
            guard let number = Self.number(value) else { return "is not a number" }
            return number <= limit ? nil : "is greater than \(Self.text(limit))"
        case .minLength(let limit):
            return Int64(text.count) >= limit ? nil : "is shorter than \(limit) characters"
        case .maxLength(let limit):
            return Int64(text.count) <= limit ? nil : "is longer than \(limit) characters"
        case .schema(let schema): return schema.problem(of: value)
        }
    }

    private static func isEqual(_ value: JSONValue, _ wanted: JSONValue) -> Bool {
        if value == wanted { return true }
        if let a = value.double, let b = wanted.double { return a == b }
        // The value of a field or of an item of a query has no type.
        guard let text = value.text else { return false }
        switch wanted {
        case .integer, .number: return Double(text) == wanted.double
        case .bool(let flag): return text == (flag ? "true" : "false")
        default: return false
        }
    }

    private static func number(_ value: JSONValue) -> Double? {
        if let number = value.double { return number }
        guard let text = value.text, ValueFormat.number.problem(text) == nil else { return nil }
        return Double(text)
    }

    static func text(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    /// The text of a string, and the JSON text of other values.
    static func text(of value: JSONValue) -> String { value.text ?? value.description }
}
