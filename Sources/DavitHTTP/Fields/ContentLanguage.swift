/// The value of Content-Language (RFC 9110 §8.5): the language tags of the content's audience.
public struct ContentLanguage: Hashable, Sendable, CustomStringConvertible {
    /// Maximum accepted length in bytes.
    public static let maximumBytes = 256

    /// The tags in the order and spelling sent.
    public let tags: [String]

    /// Parses a list of language tags, ignoring empty elements (RFC 9110 §5.6.1).
    ///
    /// - Returns: nil for a value that is malformed or exceeds ``maximumBytes``; answered with 400.
    public init?(parsing value: borrowing Span<UInt8>) {
        let text = value.extracting(value.trimmedRange)
        guard text.count <= Self.maximumBytes else { return nil }
        var tags: [String] = []
        var areWellFormed = true
        text.forEachElement { element in
            if element.isEmpty { return }
            areWellFormed = areWellFormed && Self.isTag(element)
            var bytes: [UInt8] = []
            bytes.append(copying: element)
            tags.append(String(decoding: bytes, as: UTF8.self))
        }
        guard areWellFormed else { return nil }
        self.tags = tags
    }

    /// The list as a field value; empty without tags.
    public var description: String { tags.joined(separator: ", ") }

    /// Whether the text is well-formed according to RFC 5646 §2.1: hyphen-separated subtags of one to eight
    /// letters or digits, the first consisting of letters. Registration is not checked.
    private static func isTag(_ text: borrowing Span<UInt8>) -> Bool {
        var length = 0
        var isFirst = true
        for index in 0..<text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "-") {
                guard length > 0 else { return false }
                length = 0
                isFirst = false
                continue
            }
            let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte.lowercasedASCII
            guard isLetter || byte.isDigit && !isFirst else { return false }
            length += 1
            guard length <= 8 else { return false }
        }
        return length > 0
    }
}
