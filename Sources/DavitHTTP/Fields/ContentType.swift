/// The value of Content-Type: a media type with parameters (RFC 9110 §8.3.1).
public struct ContentType: Hashable, Sendable {
    /// `type/subtype` in lower case.
    public let essence: String
    /// The parameters, such as `charset` and `boundary`.
    public let parameters: FieldParameters

    /// Parses `type "/" subtype parameters`; returns nil for anything else.
    public init?(parsing bytes: borrowing Span<UInt8>) {
        var index = 0
        guard let type = FieldParameters.takeToken(bytes, &index), index < bytes.count,
            bytes[index] == UInt8(ascii: "/")
        else { return nil }
        index += 1
        guard let subtype = FieldParameters.takeToken(bytes, &index),
            let parameters = FieldParameters(parsing: bytes, from: index)
        else { return nil }
        let text = type + [UInt8(ascii: "/")] + subtype
        essence = String(decoding: text.map(\.lowercasedASCII), as: UTF8.self)
        self.parameters = parameters
    }

    /// Returns the charset parameter; nil if there is none.
    /// - Throws: ``Charset/Unsupported``; answered with 415.
    public func charset() throws(Charset.Unsupported) -> Charset? {
        guard let label = parameters["charset"] else { return nil }
        return try Charset(label: label)
    }
}

extension HTTPRequest {
    /// The value of Content-Type; nil if the field is missing, repeated or malformed.
    public var contentType: ContentType? {
        guard count(of: .contentType) == 1 else { return nil }
        return withValue(of: .contentType) { ContentType(parsing: $0) } ?? nil
    }
}
