/// A filter or a distinguished name with placeholders, such as `(uid={user})`.
package struct LDAPTemplate: Hashable, Sendable {
    /// How values are escaped, so that they cannot change the meaning of the text around them.
    package enum Syntax: Sendable {
        /// A value in a search filter (RFC 4515 §3).
        case filter
        /// A value in a distinguished name (RFC 4514 §2.4).
        case name
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case placeholder(String)
    }

    private let parts: [Part]
    private let syntax: Syntax

    /// - Parameter placeholders: the names that may occur in braces. Other braces are text.
    package init(_ text: String, _ syntax: Syntax, placeholders: [String]) {
        self.syntax = syntax
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            let after = rest[rest.index(after: open)...]
            guard let close = after.firstIndex(of: "}") else { break }
            let name = String(after[..<close])
            let end = after.index(after: close)
            if placeholders.contains(name) {
                parts += [.text(String(rest[..<open])), .placeholder(name)]
            } else {
                parts.append(.text(String(rest[..<end])))
            }
            rest = rest[end...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// Returns the text with escaped values; values are not searched for placeholders.
    package func filled(_ values: [String: String]) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .text(let part): text += part
            case .placeholder(let name): text += Self.escape(values[name] ?? "", syntax)
            }
        }
        return text
    }

    /// Escapes each byte that has a meaning in either syntax or at some position, as both allow.
    package static func escape(_ value: String, _ syntax: Syntax) -> String {
        var text: [UInt8] = []
        for byte in value.utf8 {
            let isPlain =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "@"):
                    true
                // The value of a filter can be a distinguished name, which is then readable in logs.
                case UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "): syntax == .filter
                default: false
                }
            if isPlain {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "\\"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}
