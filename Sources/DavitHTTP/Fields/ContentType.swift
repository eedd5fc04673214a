/// A media type with its parameters: the value of Content-Type (RFC 9110 §8.3.1).
public struct ContentType: Hashable, Sendable {
    /// `type/subtype` in lower case.
    public let essence: String
    /// What follows the type, such as `charset` and `boundary`.
    public let parameters: FieldParameters

    /// Nil if it is not `type "/" subtype parameters`.
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

    /// The charset that is named; nil if none is.
    /// - Throws: ``Charset/Unsupported``; the server answers 415.
    public func charset() throws(Charset.Unsupported) -> Charset? {
        guard let label = parameters["charset"] else { return nil }
        return try Charset(label: label)
    }
}

extension HTTPRequest {
    /// Content-Type; nil where there is none, more than one, or a malformed one.
    public var contentType: ContentType? {
        guard count(of: .contentType) == 1 else { return nil }
        return withValue(of: .contentType) { ContentType(parsing: $0) } ?? nil
    }
}
