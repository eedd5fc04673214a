internal import DavitHTTP
package import DavitSQLite

/// A JSON object of another service, such as metadata or the parts of a token.
package struct JSONObject: Hashable, Sendable {
    private let value: JSONValue

    /// Parses an object; nil for anything else, if a member occurs more than once (RFC 7519 §4), or if a string contains
    /// NUL, at which SQLite would end it.
    package init?(parsing bytes: [UInt8], limitBytes: Int) {
        guard bytes.count <= limitBytes, !Self.containsNUL(bytes), let value = JSONValue(parsing: bytes)
        else {
            return nil
        }
        self.init(value)
    }

    package init?(_ value: JSONValue) {
        guard let members = value.members, Set(members.map(\.name)).count == members.count else { return nil }
        self.value = value
    }

    private static func containsNUL(_ bytes: [UInt8]) -> Bool {
        if bytes.contains(0) { return true }
        // Refuses an escaped backslash before `u0000` as well, which no service sends.
        let text = Array("u0000".utf8)
        var start = 0
        while let index = bytes[start...].firstIndex(of: UInt8(ascii: "\\")) {
            start = index + 1
            if bytes[start...].starts(with: text) { return true }
        }
        return false
    }

    package subscript(name: String) -> JSONValue? { value[name] }

    /// Returns the text of a member; nil if it is missing or not a string.
    package func text(_ name: String) -> String? { value[name]?.text }

    /// Returns the decoded bytes of a member in Base64 for URLs.
    package func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0.utf8) } }

    /// Returns the strings of a member that is an array of strings; nil for anything else.
    package func texts(_ name: String) -> [String]? {
        guard let elements = value[name]?.elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    /// Returns a time in seconds since 1970; nil if the member is missing or not a number of at most 64 bits.
    package func seconds(_ name: String) -> Int64? {
        value[name]?.double.flatMap { Int64(exactly: $0.rounded(.down)) }
    }
}
