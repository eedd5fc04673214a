/// The parameters of a field value: `; name=value` (RFC 9110 §5.6.6).
///
/// Names are converted to lower case. Values are bytes, because their encoding varies.
public struct FieldParameters: Hashable, Sendable {
    /// A parameter, `name=value`.
    public struct Parameter: Hashable, Sendable {
        /// The name in lower case.
        public var name: String
        /// The value without quotes and escaping backslashes.
        public var value: [UInt8]
    }

    /// How a backslash in a quoted value is interpreted.
    package enum Backslash: Sendable {
        /// As an escape for the next character (RFC 9110 §5.6.4).
        case escapes
        /// As an escape only before a quote or another backslash, otherwise literally. In
        /// `multipart/form-data`, browsers do not escape backslashes, as in `C:\a.txt`, while other clients
        /// send `\"`.
        case escapesQuotes
    }

    /// Maximum number of parameters; a value with more is malformed. No known field needs as many, and a
    /// parsed parameter uses more memory than its text.
    package static let limit = 64

    /// The parameters in the order sent.
    public private(set) var all: [Parameter] = []

    /// Returns the value of the first parameter with this name; `name` must be in lower case.
    public subscript(name: String) -> [UInt8]? { all.first { $0.name == name }?.value }

    /// Parses `*( OWS ";" OWS [ parameter ] )` to the end of `bytes`; returns nil for anything else.
    package init?(parsing bytes: borrowing Span<UInt8>, from start: Int, backslash: Backslash = .escapes) {
        var index = start
        while true {
            Self.skipWhitespace(bytes, &index)
            if index == bytes.count { return }
            guard bytes[index] == UInt8(ascii: ";") else { return nil }
            index += 1
            Self.skipWhitespace(bytes, &index)
            if index == bytes.count || bytes[index] == UInt8(ascii: ";") { continue }
            guard let name = Self.takeToken(bytes, &index), index < bytes.count,
                bytes[index] == UInt8(ascii: "=")
            else { return nil }
            index += 1
            guard let value = Self.takeValue(bytes, &index, backslash), all.count < Self.limit else {
                return nil
            }
            all.append(
                Parameter(name: String(decoding: name.map(\.lowercasedASCII), as: UTF8.self), value: value))
        }
    }

    private static func skipWhitespace(_ bytes: borrowing Span<UInt8>, _ index: inout Int) {
        while index < bytes.count, bytes[index].isWhitespace { index += 1 }
    }

    /// Takes a token of at least one `tchar`.
    package static func takeToken(_ bytes: borrowing Span<UInt8>, _ index: inout Int) -> [UInt8]? {
        let start = index
        while index < bytes.count, bytes[index].isTokenCharacter { index += 1 }
        return index == start ? nil : [UInt8](copying: bytes.extracting(start..<index))
    }

    /// Takes a token, or a quoted string without its quotes.
    package static func takeValue(
        _ bytes: borrowing Span<UInt8>, _ index: inout Int, _ backslash: Backslash
    ) -> [UInt8]? {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return takeToken(bytes, &index) }
        var value: [UInt8] = []
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard index < bytes.count else { return nil }
                let next = bytes[index]
                let isEscaped = backslash == .escapes || next == UInt8(ascii: "\"") || next == byte
                value.append(isEscaped ? next : byte)
                if isEscaped { index += 1 }
            default: value.append(byte)
            }
        }
        return nil
    }
}
