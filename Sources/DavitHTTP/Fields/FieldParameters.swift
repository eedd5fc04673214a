/// The parameters behind a field value: `; name=value` (RFC 9110 §5.6.6).
///
/// Values are bytes: a parameter can hold text of any encoding. Names are in lower case, in the order sent.
public struct FieldParameters: Hashable, Sendable {
    /// One `name=value`.
    public struct Parameter: Hashable, Sendable {
        /// In lower case.
        public var name: String
        /// Without quotes and backslashes.
        public var value: [UInt8]
    }

    /// What a backslash in a quoted value means.
    package enum Backslash: Sendable {
        /// It escapes the character behind it (RFC 9110 §5.6.4).
        case escapes
        /// Only before a quote or another backslash; else it stands for itself. Browsers do not escape it in
        /// `multipart/form-data`, where `C:\a.txt` is a name, while other clients write `\"` there.
        case escapesQuotes
    }

    /// More parameters of one value are malformed: nothing has so many, and each costs more memory than its bytes.
    package static let limit = 64

    /// In the order sent.
    public private(set) var all: [Parameter] = []

    /// The value of the first parameter with this name, which is in lower case.
    public subscript(name: String) -> [UInt8]? { all.first { $0.name == name }?.value }

    /// Parses `*( OWS ";" OWS [ parameter ] )` up to the end of `bytes`; nil if it is anything else.
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

    /// At least one `tchar`.
    package static func takeToken(_ bytes: borrowing Span<UInt8>, _ index: inout Int) -> [UInt8]? {
        let start = index
        while index < bytes.count, bytes[index].isTokenCharacter { index += 1 }
        return index == start ? nil : [UInt8](copying: bytes.extracting(start..<index))
    }

    /// A token, or a quoted string without its quotes.
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
