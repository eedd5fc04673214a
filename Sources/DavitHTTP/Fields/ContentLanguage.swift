/// The value of Content-Language (RFC 9110 §8.5): the tags of the languages that content is for.
public struct ContentLanguage: Hashable, Sendable, CustomStringConvertible {
    /// The longest value that is accepted, in bytes.
    public static let maximumBytes = 256

    /// In their order, as they were sent.
    public let tags: [String]

    /// Parses a list of language tags, in which empty elements are ignored (RFC 9110 §5.6.1).
    ///
    /// - Returns: nil for a malformed value and for one over ``maximumBytes``; the server answers 400.
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

    /// The list as a field value; empty for no language.
    public var description: String { tags.joined(separator: ", ") }

    /// Whether it has the form of all tags of RFC 5646 §2.1: subtags of one to eight letters or digits with a hyphen
    /// between them, the first one of letters. Whether they are registered does not matter.
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
