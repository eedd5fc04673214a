internal import DavitServer

/// The text of `davit config schema`: a JSON Schema (draft 2020-12) of configuration files, for editors.
enum ConfigurationSchema {
    static let text = String(decoding: JSONLines.indented(render()), as: UTF8.self) + "\n"

    private static func render() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.member("title", "davit configuration")
            json.member("type", "object")
            json.member("additionalProperties", false)
            json.object("properties") { json in
                for option in options(of: nil) { add(option, to: &json) }
                for key in FileKey.allCases { add(key, to: &json) }
            }
        }
        return json.bytes
    }

    /// The options that a file can have, at its top or in a share.
    private static func options(of scope: OptionScope?) -> [ServeOption] {
        ServeOption.allCases.filter {
            $0.entry.scope != .commandLine && (scope == nil || $0.entry.scope == scope)
                && $0.entry.kind.hasPlainForm
        }
    }

    private static func add(_ option: ServeOption, to json: inout JSONWriter) {
        let entry = option.entry
        let isWords = if case .words = entry.kind { true } else { false }
        json.object(option.key) { json in
            json.member("description", OptionHelp.description(of: entry))
            if entry.isRepeatable || isWords {
                json.member("oneOf", [false, true]) { json, isList in
                    guard isList else { return addType(entry.kind, to: &json) }
                    json.member("type", "array")
                    if isWords { json.member("minItems", Int64(1)) }
                    json.object("items") { addType(entry.kind, to: &$0) }
                }
            } else {
                addType(entry.kind, to: &json)
            }
        }
    }

    /// Texts that look like a number or a truth value are valid too, because the reader knows the type of a key.
    private static func addType(_ kind: OptionKind, to json: inout JSONWriter) {
        switch kind {
        case .flag: json.member("type", "boolean")
        case .number(let range):
            json.member("type", "integer")
            json.member("minimum", Int64(range.lowerBound))
            json.member("maximum", Int64(range.upperBound))
        case .size: addText(pattern: "^[0-9]+[KMGTkmgt]?$", to: &json)
        case .age: addText(pattern: "^[0-9]+[dh]?$", to: &json)
        case .mode: addText(pattern: "^[0-7]{3,4}$", to: &json)
        case .choice(let choices): json.member("enum", choices.map(\.value))
        case .words, .text, .account, .mount:
            json.member("type", ["string", "number", "boolean"])
            json.member("minLength", Int64(1))
        case .optionalText: json.member("type", ["string", "number", "boolean"])
        }
    }

    private static func addText(pattern: String, to json: inout JSONWriter) {
        json.member("type", ["string", "integer"])
        json.member("pattern", pattern)
        json.member("minimum", Int64(0))
    }

    private static func add(_ key: FileKey, to json: inout JSONWriter) {
        json.object(key.rawValue) { json in
            json.member("description", key.help)
            if let fields = key.fields {
                json.member("type", "array")
                if key == .shares { json.member("minItems", Int64(1)) }
                json.object("items") { addItem(of: key, fields, to: &$0) }
            } else if key == .groups {
                json.member("type", "object")
                json.object("additionalProperties") { json in
                    json.member("type", "array")
                    json.object("items") { addType(.text, to: &$0) }
                }
            } else {
                addType(.text, to: &json)
            }
        }
    }

    private static func addItem(of key: FileKey, _ fields: [FileField], to json: inout JSONWriter) {
        json.member("type", "object")
        json.member("additionalProperties", false)
        json.member("required", fields.filter(\.isRequired).map(\.name))
        json.object("properties") { json in
            for field in fields {
                json.object(field.name) { json in
                    json.member("description", field.help)
                    addType(.text, to: &json)
                }
            }
            guard key == .shares else { return }
            for option in options(of: .share) { add(option, to: &json) }
            for key in FileKey.allCases where key.isPerShare { add(key, to: &json) }
        }
        if key == .users {
            json.member("oneOf", ["password", "hash", "password-file"]) { $0.member("required", [$1]) }
        }
    }
}

/// JSON on several lines, so that changes of a file can be reviewed.
private enum JSONLines {
    static func indented(_ json: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var depth = 0
        var isText = false
        var isEscaped = false
        func newLine() {
            text += [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: 2 * depth)
        }
        for byte in json {
            if isText {
                text.append(byte)
                if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                text.append(byte)
                depth += 1
                newLine()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                newLine()
                text.append(byte)
            case UInt8(ascii: ","):
                text.append(byte)
                newLine()
            case UInt8(ascii: ":"): text += Array(": ".utf8)
            default:
                isText = byte == UInt8(ascii: "\"")
                text.append(byte)
            }
        }
        return text
    }
}
