/// How content is meant to be shown, and the name it should have (RFC 6266, RFC 7578 §4.2).
public struct ContentDisposition: Hashable, Sendable {
    /// `form-data`, `file`, `attachment`, in lower case.
    public let type: String
    /// `name` of a form's part.
    public let name: String?
    /// Without any path; empty where no file was chosen, nil where the part is no file.
    public let fileName: String?

    /// Parses the field of a part of `multipart/form-data` (RFC 7578 §4.2): names in UTF-8, with quotes and
    /// line ends as `%22`, `%0D` and `%0A`; `filename*` is not looked at, as that section says.
    /// - Returns: nil if it is malformed.
    public init?(formData bytes: borrowing Span<UInt8>) {
        var index = 0
        guard let type = FieldParameters.takeToken(bytes, &index),
            let parameters = FieldParameters(parsing: bytes, from: index, backslash: .escapesQuotes)
        else { return nil }
        self.type = String(decoding: type.map(\.lowercasedASCII), as: UTF8.self)
        name = parameters["name"].map { String(decoding: Self.unescaped($0), as: UTF8.self) }
        fileName = parameters["filename"].map { Self.lastComponent(Self.unescaped($0)) }
    }

    /// Only what browsers escape; any other `%` is a part of the name.
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

    /// What follows the last slash or backslash, without control characters; empty for `.` and `..`, so that no
    /// name leads anywhere.
    private static func lastComponent(_ name: [UInt8]) -> String {
        let isSeparator = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let start = name.lastIndex(where: isSeparator).map { $0 + 1 } ?? 0
        let text = String(decoding: name[start...].filter { !$0.isControl }, as: UTF8.self)
        return text == "." || text == ".." ? "" : text
    }

    /// The value that has content saved under `name` instead of shown (RFC 6266 §4).
    ///
    /// `filename` is for old readers and holds `_` for everything that some of them read in their own way
    /// (appendix D); where that changes the name, `filename*` has it in UTF-8 (RFC 8187 §3.2).
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
