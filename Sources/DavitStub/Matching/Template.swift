internal import DavitHTTP
internal import DavitSQLite

/// The text of a reply with placeholders in double braces.
///
/// | placeholder | value |
/// |---|---|
/// | `{{method}}`, `{{path}}`, `{{content}}` | of the request |
/// | `{{path.NAME}}` | the parameter of the path |
/// | `{{query.NAME}}`, `{{field.NAME}}`, `{{form.NAME}}` | of the request |
/// | `{{json $.PATH}}`, `{{xml //XPATH}}` | a value in the content |
/// | `{{counter NAME}}` | 1, 2, 3 … with each use |
/// | `{{now}}`, `{{now +1h}}`, `{{now unix}}`, `{{now http}}` | the time |
/// | `{{random uuid}}`, `{{random 1 100}}` | random, from the seed |
/// | `{{session}}` | the token of the session that the rule starts, or of the request |
/// | `{{number}}` | the number of the request among those that the rule matched |
///
/// Values that do not exist are empty. They are escaped for JSON, XML or HTML if that is the type of the reply.
struct Template: Sendable {
    enum Part: Sendable {
        case text(String)
        case value(Placeholder)
    }

    enum Placeholder: Hashable, Sendable {
        enum TimeForm: Hashable, Sendable { case iso8601, unix, http }

        case method, path, content, session, number
        case parameter(String)
        case query(String)
        case field(String)
        case subject(JSONValue)
        case counter(String)
        case now(offsetSeconds: Int64, TimeForm)
        case uuid
        case random(ClosedRange<Int64>)
    }

    private let parts: [Part]
    /// The conditions that find the values of placeholders of the kind `subject`.
    let subjects: [JSONValue: RequestCondition]

    /// - Throws: ``RuleError`` for a placeholder that is unknown or not closed.
    init(_ text: String, column: String) throws(RuleError) {
        var parts: [Part] = []
        var subjects: [JSONValue: RequestCondition] = [:]
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            if start.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<start.lowerBound]))) }
            let after = rest[start.upperBound...]
            guard let end = after.firstRange(of: "}}") else {
                throw RuleError(column: column, "a placeholder is not closed: {{\(after.prefix(20))")
            }
            let words = after[..<end.lowerBound].split(separator: " ").map(String.init)
            guard let placeholder = Self.placeholder(words) else {
                throw RuleError(column: column, "unknown placeholder {{\(after[..<end.lowerBound])}}")
            }
            if case .subject(let json) = placeholder {
                subjects[json] = try RequestCondition(json, column: column, folder: "")
            }
            parts.append(.value(placeholder))
            rest = after[end.upperBound...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
        self.subjects = subjects
    }

    private static func placeholder(_ words: [String]) -> Placeholder? {
        guard let first = words.first else { return nil }
        if words.count == 1 {
            switch first {
            case "method": return .method
            case "path": return .path
            case "content": return .content
            case "session": return .session
            case "number": return .number
            case "now": return .now(offsetSeconds: 0, .iso8601)
            default: break
            }
            let parts = first.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "path": return .parameter(parts[1])
            case "query": return .query(parts[1])
            case "field": return .field(parts[1])
            case "form": return .subject(["form": .string(parts[1])])
            default: return nil
            }
        }
        let rest = words.dropFirst().joined(separator: " ")
        switch first {
        case "json": return JSONParser.isPath(rest) ? .subject(["json": .string(rest)]) : nil
        case "xml": return .subject(["xml": .string(rest)])
        case "counter": return words.count == 2 ? .counter(words[1]) : nil
        case "now": return now(words.dropFirst())
        case "random":
            if words.count == 2, words[1] == "uuid" { return .uuid }
            guard words.count == 3, let low = Int64(words[1]), let high = Int64(words[2]), low <= high,
                high.subtractingReportingOverflow(low).overflow == false
            else { return nil }
            return .random(low...high)
        default: return nil
        }
    }

    /// Parses an offset such as `+90s`, `-5m`, `+1h` or `+7d`, and the form of the time, both optional.
    private static func now(_ words: ArraySlice<String>) -> Placeholder? {
        var offset: Int64 = 0
        var form = Placeholder.TimeForm.iso8601
        for word in words {
            switch word {
            case "unix": form = .unix
            case "http": form = .http
            default:
                let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
                guard let unit = word.last.flatMap({ units[$0] }), word.hasPrefix("+") || word.hasPrefix("-"),
                    let count = Int64(word.dropLast()), abs(count) <= 1_000_000
                else { return nil }
                offset = count * unit
            }
        }
        return .now(offsetSeconds: offset, form)
    }

    /// How values are escaped.
    enum Escaping { case none, json, markup }

    /// Returns the text with the values of the placeholders.
    func text(_ escaping: Escaping, value: (Placeholder) -> String) -> [UInt8] {
        var text: [UInt8] = []
        for part in parts {
            switch part {
            case .text(let literal): text.append(contentsOf: literal.utf8)
            case .value(let placeholder):
                let value = value(placeholder)
                switch escaping {
                case .none: text.append(contentsOf: value.utf8)
                case .json: JSONValue.append(escaping: value, to: &text)
                case .markup: Self.append(escapingMarkup: value, to: &text)
                }
            }
        }
        return text
    }

    private static func append(escapingMarkup value: String, to text: inout [UInt8]) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "&"): text.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): text.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): text.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\""): text.append(contentsOf: "&quot;".utf8)
            case UInt8(ascii: "'"): text.append(contentsOf: "&#39;".utf8)
            default: text.append(byte)
            }
        }
    }
}
