internal import DavitHTTP
internal import DavitStore
internal import Synchronization

/// Parses JSON, and finds values by path, with the JSON functions of SQLite.
package final class JSONParser {
    private let validity: Statement
    private let tree: Statement
    private let value: Statement

    private init() throws(StateError) {
        let connection = try DatabaseConnection(path: ":memory:", busyMilliseconds: 0)
        validity = Statement("SELECT json_valid(?1)", on: connection)
        tree = Statement("SELECT id, parent, key, type, atom FROM json_tree(?1)", on: connection)
        value = Statement("SELECT ?1 -> ?2", on: connection)
    }

    /// Nil until first use.
    private static let shared = Mutex<JSONParser?>(nil)

    private static func withParser<R: Sendable>(
        _ body: (JSONParser) throws(StateError) -> R
    ) -> R? {
        shared.withLock { shared in
            do throws(StateError) {
                let parser = if let shared { shared } else { try JSONParser() }
                shared = parser
                return try body(parser)
            } catch {
                return nil
            }
        }
    }

    /// Parses a JSON text (RFC 8259) of at most 1,000 levels; nil if it is malformed.
    package static func parse(_ text: String) -> JSONValue? {
        withParser { parser throws(StateError) in try parser.parse(text) } ?? nil
    }

    /// Whether a text is JSON (RFC 8259) of at most 1,000 levels. Unlike ``value(at:in:)``, refuses JSON5.
    package static func isValid(_ text: String) -> Bool {
        withParser { parser throws(StateError) in
            var isValid = false
            try parser.validity.forEachRow([.text(text)]) { row in isValid = row.flag(0) }
            return isValid
        } ?? false
    }

    package static func parse(_ bytes: [UInt8]) -> JSONValue? {
        String(validating: bytes, as: UTF8.self).flatMap { parse($0) }
    }

    /// Whether `path` is a JSON path of SQLite, such as `$.items[0].name` or `$.items[#-1]`. SQLite itself
    /// only checks the part of a path that exists in the text.
    package static func isPath(_ path: String) -> Bool {
        guard path.utf8.first == UInt8(ascii: "$"), !path.utf8.contains(0) else { return false }
        var rest = path.utf8.dropFirst()
        while let first = rest.popFirst() {
            switch first {
            case UInt8(ascii: ".") where rest.first == UInt8(ascii: "\""):
                guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { return false }
                rest = rest[end...].dropFirst()
            case UInt8(ascii: "."):
                let end = rest.firstIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }
                guard end != rest.startIndex, !rest.isEmpty else { return false }
                rest = rest[(end ?? rest.endIndex)...]
            case UInt8(ascii: "["):
                guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
                guard isIndex(rest[..<end]) else { return false }
                rest = rest[end...].dropFirst()
            default: return false
            }
        }
        return true
    }

    /// Whether text is `N`, `#` or `#-N`.
    private static func isIndex(_ text: Substring.UTF8View) -> Bool {
        if text.elementsEqual("#".utf8) { return true }
        let digits = text.starts(with: "#-".utf8) ? text.dropFirst(2) : text
        return 1...9 ~= digits.count && digits.allSatisfy(\.isDigit)
    }

    /// Returns the value at a path in a JSON text; nil if there is none, or if one of both is malformed.
    package static func value(at path: String, in text: String) -> JSONValue? {
        let found = withParser { parser throws(StateError) in
            var found: String?
            try parser.value.forEachRow([.text(text), .text(path)]) { row in
                if !row.isNull(0) { found = row.text(0) }
            }
            return found
        }
        return (found ?? nil).flatMap { parse($0) }
    }

    private func parse(_ text: String) throws(StateError) -> JSONValue? {
        var isValid = false
        try validity.forEachRow([.text(text)]) { row in isValid = row.flag(0) }
        guard isValid else { return nil }
        var builder = JSONBuilder()
        try tree.forEachRow([.text(text)]) { row in
            let id = row.integer(0)
            let parent = row.isNull(1) ? nil : row.integer(1)
            let name = row.text(2)
            let value: JSONValue
            switch row.text(3) {
            case "object": value = .object([])
            case "array": value = .array([])
            case "true": value = .bool(true)
            case "false": value = .bool(false)
            case "integer":
                value = Int64(row.text(4)).map { .integer($0) } ?? .number(Double(row.text(4)) ?? 0)
            case "real": value = .number(Double(row.text(4)) ?? 0)
            case "text": value = .string(row.text(4))
            default: value = .null
            }
            builder.add(value, id: id, parent: parent, name: name)
        }
        return builder.finish()
    }
}

/// Builds a value from its nodes in the order of the text, without recursion.
private struct JSONBuilder {
    /// A value to which elements or members can still be added.
    private struct Node {
        let id: Int64
        let name: String
        let value: JSONValue
        var elements: [JSONValue] = []
        var members: [JSONMember] = []

        var complete: JSONValue {
            switch value {
            case .array: .array(elements)
            case .object: .object(members)
            default: value
            }
        }
    }

    private var open: [Node] = []

    mutating func add(_ value: JSONValue, id: Int64, parent: Int64?, name: String) {
        while open.count > 1, open.last?.id != parent { close() }
        open.append(Node(id: id, name: name, value: value))
    }

    mutating func finish() -> JSONValue? {
        while open.count > 1 { close() }
        return open.last?.complete
    }

    /// Moves the last open value into its parent, in place: copies of the siblings would take quadratic time.
    private mutating func close() {
        let last = open.removeLast()
        let parent = open.count - 1
        switch open[parent].value {
        case .array: open[parent].elements.append(last.complete)
        case .object: open[parent].members.append(.init(last.name, last.complete))
        default: break
        }
    }
}
