package import DavitHTTP
internal import DavitSQLite
internal import DavitServer
internal import DavitStore

/// The members of a JSON object (RFC 8259) whose values are strings or null.
package struct JSONFields {
    /// The maximum length of the text in bytes.
    package static let limitBytes = 64 << 10

    private let values: [String: String?]

    /// Reads the content of a request.
    /// - Throws: 415 for another type, 413 if it is too long, 400 if it is malformed, and 422 for other values.
    init(of request: HTTPRequest) async throws(HTTPError) {
        guard request.contentType?.essence == "application/json" else {
            throw HTTPError(.unsupportedMediaType, "The content must be JSON.")
        }
        try self.init(parsing: try await request.content(limitBytes: Self.limitBytes))
    }

    /// Parses a text with the JSON functions of SQLite.
    package init(parsing bytes: [UInt8]) throws(HTTPError) {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw HTTPError(.badRequest, "The content is not valid JSON in UTF-8.")
        }
        var kind = ""
        var values: [String: String?] = [:]
        var isFlat = true
        do throws(StateError) {
            let connection = try DatabaseConnection(path: ":memory:", busyMilliseconds: 0)
            let type = Statement(
                "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) ELSE '' END", on: connection)
            try type.forEachRow([.text(text)]) { row in kind = row.text(0) }
            if kind == "object" {
                let members = Statement("SELECT key, type, atom FROM json_each(?1)", on: connection)
                try members.forEachRow([.text(text)]) { row in
                    let (name, isText) = (row.text(0), row.text(1) == "text")
                    if !isText, row.text(1) != "null" { isFlat = false }
                    // Programs disagree on which of several members with one name applies.
                    if values.updateValue(isText ? row.text(2) : nil, forKey: name) != nil { isFlat = false }
                }
            }
        } catch {
            throw HTTPError(.serviceUnavailable, "The content could not be parsed.")
        }
        if kind.isEmpty { throw HTTPError(.badRequest, "The content is not valid JSON in UTF-8.") }
        guard kind == "object", isFlat else {
            throw HTTPError(
                .unprocessableContent,
                "The content must be an object whose members have unique names and are strings or null.")
        }
        self.values = values
    }

    /// The value of a member; nil if it is null or missing.
    package subscript(name: String) -> String? { values[name] ?? nil }

    /// Whether there is a member with this name, even if it is null.
    package func contains(_ name: String) -> Bool { values[name] != nil }

    /// Returns the value of a member.
    /// - Throws: 422 if it is missing.
    func required(_ name: String) throws(HTTPError) -> String {
        guard let value = self[name] else {
            throw HTTPError(.unprocessableContent, "A required member is missing.")
        }
        return value
    }
}
