/// The parameters of an authentication scheme: `#auth-param` (RFC 9110 §11.2).
package struct AuthParameters: Hashable, Sendable {
    /// Maximum number of parameters; Digest credentials (RFC 7616 §3.4) have about a dozen.
    package static let limit = 32

    /// The parameters in the order sent, with names in lower case.
    package private(set) var all: [FieldParameters.Parameter] = []

    /// Returns the unquoted value of a parameter; `name` must be in lower case.
    package subscript(name: String) -> [UInt8]? { all.first { $0.name == name }?.value }

    /// Parses the list that extends from `start` to the end of `bytes`. Returns nil if it is malformed, if a
    /// name occurs twice (§11.2), or if there are more than ``limit`` parameters. Empty list elements are
    /// ignored (§5.6.1).
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

    /// Parses `token BWS "=" BWS ( token / quoted-string )`.
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
