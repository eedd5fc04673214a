/// The parameters behind the name of an authentication scheme: `#auth-param` (RFC 9110 §11.2).
package struct AuthParameters: Hashable, Sendable {
    /// The most parameters; no scheme has half as many.
    package static let limit = 32

    /// In the order sent, names in lower case.
    package private(set) var all: [FieldParameters.Parameter] = []

    /// The value of a parameter, whose name is in lower case; without the quotes it may have been sent in.
    package subscript(name: String) -> [UInt8]? { all.first { $0.name == name }?.value }

    /// Parses up to the end of `bytes`; nil if it is anything else, if a name comes twice (§11.2), and over
    /// ``limit``. Empty elements of the list do not count (§5.6.1).
    package init?(parsing bytes: borrowing Span<UInt8>, from start: Int) {
        var index = start
        while true {
            Self.skipWhitespace(bytes, &index)
            if index == bytes.count { return }
            if bytes[index] != UInt8(ascii: ",") {
                guard let parameter = Self.takeParameter(bytes, &index), all.count < Self.limit,
                    self[parameter.name] == nil
                else { return nil }
                all.append(parameter)
                Self.skipWhitespace(bytes, &index)
                if index == bytes.count { return }
            }
            guard bytes[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
    }

    /// `token BWS "=" BWS ( token / quoted-string )`.
    private static func takeParameter(
        _ bytes: borrowing Span<UInt8>, _ index: inout Int
    ) -> FieldParameters.Parameter? {
        guard let name = FieldParameters.takeToken(bytes, &index) else { return nil }
        skipWhitespace(bytes, &index)
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return nil }
        index += 1
        skipWhitespace(bytes, &index)
        guard let value = FieldParameters.takeValue(bytes, &index, .escapes) else { return nil }
        return .init(name: String(decoding: name.map(\.lowercasedASCII), as: UTF8.self), value: value)
    }

    private static func skipWhitespace(_ bytes: borrowing Span<UInt8>, _ index: inout Int) {
        while index < bytes.count, bytes[index].isWhitespace { index += 1 }
    }
}
