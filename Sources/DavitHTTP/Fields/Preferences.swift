/// What a client would like, and can do without (RFC 7240).
public struct Preferences: Hashable, Sendable {
    /// What a successful response should have in it (RFC 7240 §4.2).
    public enum Return: Hashable, Sendable {
        /// As little as possible.
        case minimal
        /// What the resource is now.
        case representation
    }

    /// Nil where the client does not say.
    public var result: Return?
    /// The members are asked for, and not the collection itself (RFC 8144 §4).
    public var excludesRoot = false

    /// None.
    public init() {}

    /// What `Prefer` says, in however many lines. Of two preferences with one name the first counts (RFC 7240 §2); what
    /// is malformed or not known here is ignored. Without the field it costs nothing.
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
        // Parameters of these preferences mean nothing.
        let end = element.firstIndex(of: UInt8(ascii: ";")) ?? element.count
        let equals = element.firstIndex(of: UInt8(ascii: "=")) ?? end
        let name = element.extracting(0..<min(equals, end))
        let word = element.extracting(min(equals + 1, end)..<end)
        let token = name.extracting(name.trimmedRange)
        if token.equalsIgnoringCase("depth-noroot") {
            // An empty value is none.
            if Self.unquoted(word).isEmpty { excludesRoot = true }
        } else if token.equalsIgnoringCase("return"), !hasReturn {
            hasReturn = true
            let value = Self.unquoted(word)
            if value.span.equalsIgnoringCase("minimal") { result = .minimal }
            if value.span.equalsIgnoringCase("representation") { result = .representation }
        }
    }

    /// A word without white space around it and without its quotes.
    private static func unquoted(_ word: borrowing Span<UInt8>) -> [UInt8] {
        let range = word.trimmedRange
        var index = range.lowerBound
        guard index < range.upperBound,
            let value = FieldParameters.takeValue(word.extracting(0..<range.upperBound), &index, .escapes),
            index == range.upperBound
        else { return range.isEmpty ? [] : [UInt8](copying: word.extracting(range)) }
        return value
    }

    /// Where the next comma is that stands in no quoted string.
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
