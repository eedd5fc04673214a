/// The disposition of content and its file name (RFC 6266, RFC 7578 §4.2).
public struct ContentDisposition: Hashable, Sendable {
    /// The disposition type in lower case, such as `form-data`, `file` or `attachment`.
    public let type: String
    /// The name of a form part.
    public let name: String?
    /// The file name without any path; empty if no file was selected, nil if the part is not a file.
    public let fileName: String?

    /// Parses the field of a `multipart/form-data` part (RFC 7578 §4.2). Names are in UTF-8, with quotes, CR
    /// and LF encoded as `%22`, `%0D` and `%0A`. As that section requires, `filename*` is ignored.
    /// - Returns: nil if the field is malformed.
    public init?(formData bytes: borrowing Span<UInt8>) {
        var index = 0
        guard let type = FieldParameters.takeToken(bytes, &index),
            let parameters = FieldParameters(parsing: bytes, from: index, backslash: .escapesQuotes)
        else { return nil }
        self.type = String(decoding: type.map(\.lowercasedASCII), as: UTF8.self)
        name = parameters["name"].map { String(decoding: Self.unescaped($0), as: UTF8.self) }
        fileName = parameters["filename"].map { Self.lastComponent(Self.unescaped($0)) }
    }

    /// Decodes only the three escapes that browsers produce; any other `%` is part of the name.
    private static func unescaped(_ name: [UInt8]) -> [UInt8] {
        guard name.contains(UInt8(ascii: "%")) else { return name }
        var result: [UInt8] = []
        var index = 0
        while index < name.count {
            let escaped =
                name[index] == UInt8(ascii: "%") ? PercentCoding.escapedByte(name.span, at: index) : nil
            if let escaped, escaped == UInt8(ascii: "\"") || escaped == 13 || escaped == 10 {
                result.append(escaped)
                index += 3
            } else {
                result.append(name[index])
                index += 1
            }
        }
        return result
    }

    /// Returns the part after the last slash or backslash, without control characters. Returns empty text for
    /// `.` and `..`, to prevent path traversal.
    private static func lastComponent(_ name: [UInt8]) -> String {
        let isSeparator = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let start = name.lastIndex(where: isSeparator).map { $0 + 1 } ?? 0
        let text = String(decoding: name[start...].filter { !$0.isControl }, as: UTF8.self)
        return text == "." || text == ".." ? "" : text
    }

    /// Returns the value that makes clients save content as `name` instead of displaying it (RFC 6266 §4).
    ///
    /// `filename`, for old clients, contains `_` in place of characters that clients interpret differently
    /// (appendix D). If this changes the name, `filename*` contains the original in UTF-8 (RFC 8187 §3.2).
    public static func attachment(named name: String) -> [UInt8] {
        let name = lastComponent(Array(name.utf8))
        if name.isEmpty { return Array("attachment".utf8) }
        var value = Array("attachment; filename=\"".utf8)
        var isPlain = true
        for character in name.unicodeScalars {
            let isSafe = character.isASCII && character != "\"" && character != "%"
            if !isSafe { isPlain = false }
            value.append(isSafe ? UInt8(truncatingIfNeeded: character.value) : UInt8(ascii: "_"))
        }
        value.append(UInt8(ascii: "\""))
        if !isPlain {
            value.append("; filename*=UTF-8''")
            PercentCoding.append(name.utf8, to: &value)
        }
        return value
    }
}
