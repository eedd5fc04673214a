/// The Lock-Token field (RFC 4918 §10.5): `Coded-URL`, a URI in angle brackets.
public enum LockTokenHeader {
    /// - Returns: nil if the value is not a Coded-URL; the server responds with 400.
    public static func parse(_ value: Span<UInt8>) -> LockToken? {
        let bytes = FieldText.array(value)
        let text = FieldText.trimmed(bytes[...])
        guard text.count > 2, text.first == UInt8(ascii: "<"), text.last == UInt8(ascii: ">") else {
            return nil
        }
        let uri = text.dropFirst().dropLast()
        guard uri.allSatisfy(IfHeader.isURIByte) else { return nil }
        return LockToken(uri: String(decoding: uri, as: UTF8.self))
    }
}

extension LockToken {
    /// The token in the form of a Lock-Token field.
    public var codedURL: [UInt8] { [UInt8(ascii: "<")] + Array(uri.utf8) + [UInt8(ascii: ">")] }
}
