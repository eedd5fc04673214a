internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A comparable value.
enum SearchValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case decimal(Double)
    case boolean(Bool)
    case instant(Timestamp)

    /// Maximum UTF-8 bytes, including white space, of a text that can be converted to another type.
    private static let convertibleBytes = 1024

    /// Converts a text to a type; nil if it is not valid for that type (RFC 5323 §5.11).
    init?(_ text: String, as type: SearchLiteral.ValueType) {
        if type != .string, text.utf8.count > Self.convertibleBytes { return nil }
        // XML Schema collapses white space in all types but strings.
        let trimmed = type == .string ? [] : Array(text.utf8).trimmed
        switch type {
        case .string: self = .text(text)
        case .integer:
            guard let number = Int64(String(decoding: trimmed, as: UTF8.self)) else { return nil }
            self = .integer(number)
        case .decimal:
            guard let number = Double(String(decoding: trimmed, as: UTF8.self)), !number.isNaN else {
                return nil
            }
            self = .decimal(number)
        case .boolean:
            switch String(decoding: trimmed, as: UTF8.self) {
            case "true", "1": self = .boolean(true)
            case "false", "0": self = .boolean(false)
            default: return nil
            }
        case .dateTime:
            // Accept the formats of creationdate and of getlastmodified, because users copy both from
            // responses.
            let instant =
                HTTPDate.parseISO8601(trimmed.span)
                ?? HTTPDate.parse(trimmed.span, now: Timestamp(seconds: 0))
            guard let instant else { return nil }
            self = .instant(instant)
        }
    }

    /// Returns the value converted to another type; nil if that is not possible.
    func converted(to type: SearchLiteral.ValueType) -> SearchValue? {
        switch (self, type) {
        case (.text, .string), (.integer, .integer), (.decimal, .decimal), (.boolean, .boolean),
            (.instant, .dateTime):
            self
        case (.text(let text), _): SearchValue(text, as: type)
        case (.integer(let number), .decimal): .decimal(Double(number))
        case (.integer(let number), .string): .text(String(number))
        default: nil
        }
    }

    /// Returns the first scalars of a text; any other value unchanged.
    func prefix(_ scalarCount: Int) -> SearchValue {
        guard case .text(let text) = self, text.utf8.count > scalarCount else { return self }
        return .text(String(text.unicodeScalars.prefix(scalarCount)))
    }

    /// The value in lowercase; values other than text are unchanged.
    var lowercased: SearchValue {
        if case .text(let text) = self { return .text(text.lowercased()) }
        return self
    }

    /// Returns -1, 0 or 1; nil for values of different types. Texts are compared by the normalized form of
    /// their characters.
    func compared(to other: SearchValue) -> Int? {
        func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
        return switch (self, other) {
        case (.text(let a), .text(let b)): order(a, b)
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.decimal(let a), .decimal(let b)): order(a, b)
        case (.boolean(let a), .boolean(let b)): order(a ? 1 : 0, b ? 1 : 0)
        case (.instant(let a), .instant(let b)): order(a, b)
        default: nil
        }
    }
}

extension [UInt8] {
    /// The bytes without surrounding white space.
    fileprivate var trimmed: [UInt8] {
        guard let start = firstIndex(where: { $0 > 0x20 }), let end = lastIndex(where: { $0 > 0x20 }) else {
            return []
        }
        return Array(self[start...end])
    }
}
