/// The preferences of a client, which the server may ignore (RFC 7240).
public struct Preferences: Hashable, Sendable {
    /// The preferred content of a successful response (RFC 7240 §4.2).
    public enum Return: Hashable, Sendable {
        /// A minimal response.
        case minimal
        /// The current representation of the resource.
        case representation
    }

    /// The value of the preference `return`; nil if unspecified.
    public var result: Return?
    /// Whether the collection itself is excluded from a listing of its members (RFC 8144 §4).
    public var excludesRoot = false

    /// Creates empty preferences.
    public init() {}

    /// Parses `Prefer`, which may span several lines. If a preference is repeated, the first one applies (RFC
    /// 7240 §2); malformed and unknown preferences are ignored. Does not allocate if the field is missing.
    public init(of request: HTTPRequest) {
        guard let value = request.combinedBytes(of: .prefer) else { return }
        var hasReturn = false
        let bytes = value.span
        var index = 0
        while index < bytes.count {
            let end = Self.endOfElement(bytes, from: index)
            let element = bytes.extracting(index..<end)
            add(element.extracting(element.trimmedRange), &hasReturn)
            index = end + 1
        }
    }

    /// Adds `token [ "=" word ] *( ";" parameter )`.
    private mutating func add(_ element: borrowing Span<UInt8>, _ hasReturn: inout Bool) {
        // Parameters of these preferences are ignored.
        let end = element.firstIndex(of: UInt8(ascii: ";")) ?? element.count
        let equals = element.firstIndex(of: UInt8(ascii: "=")) ?? end
        let name = element.extracting(0..<min(equals, end))
        let word = element.extracting(min(equals + 1, end)..<end)
        let token = name.extracting(name.trimmedRange)
        if token.equalsIgnoringCase("depth-noroot") {
            // An empty value is equivalent to no value.
            if Self.unquoted(word).isEmpty { excludesRoot = true }
        } else if token.equalsIgnoringCase("return"), !hasReturn {
            hasReturn = true
            let value = Self.unquoted(word)
            if value.span.equalsIgnoringCase("minimal") { result = .minimal }
            if value.span.equalsIgnoringCase("representation") { result = .representation }
        }
    }

    /// Returns a word without surrounding white space and quotes.
    private static func unquoted(_ word: borrowing Span<UInt8>) -> [UInt8] {
        let range = word.trimmedRange
        var index = range.lowerBound
        guard index < range.upperBound,
            let value = FieldParameters.takeValue(word.extracting(0..<range.upperBound), &index, .escapes),
            index == range.upperBound
        else { return range.isEmpty ? [] : [UInt8](copying: word.extracting(range)) }
        return value
    }

    /// Returns the position of the next comma outside quoted strings.
    private static func endOfElement(_ bytes: borrowing Span<UInt8>, from start: Int) -> Int {
        var isQuoted = false
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ","): if !isQuoted { return index }
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\"): if isQuoted { index += 1 }
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}
