extension JSONValue: CustomStringConvertible {
    /// The value as JSON text without spaces. A number that is not finite is written as null.
    public var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The value as JSON text without spaces.
    public var bytes: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    /// Appends the value as JSON text. Values are nested at most as deep as SQLite parses them: 1,000 levels.
    func append(to text: inout [UInt8]) {
        switch self {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): text.append(contentsOf: "\(value)".utf8)
        case .number(let value): text.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
        case .string(let value): Self.append(quoting: value, to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.append(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.append(quoting: member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.append(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func append(quoting value: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        append(escaping: value, to: &text)
        text.append(UInt8(ascii: "\""))
    }

    /// Appends text as it occurs between the quotation marks of a JSON string.
    package static func append(escaping value: String, to text: inout [UInt8]) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 8: text.append(contentsOf: "\\b".utf8)
            case 9: text.append(contentsOf: "\\t".utf8)
            case 10: text.append(contentsOf: "\\n".utf8)
            case 12: text.append(contentsOf: "\\f".utf8)
            case 13: text.append(contentsOf: "\\r".utf8)
            case 0..<32:
                let digits = String(byte, radix: 16)
                text.append(contentsOf: "\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
            default: text.append(byte)
            }
        }
    }
}
