/// The value of a dead property, as it was set (RFC 4918 §4.3).
public struct PropertyValue: Hashable, Sendable {
    /// The whole property element, serialised, with every namespace it uses declared inside, prefixes,
    /// `xml:lang` in scope, mixed content and comments as they were sent. Well-formed UTF-8 XML without a
    /// declaration; it can be written into any document as it is.
    public let element: [UInt8]

    public init(element: [UInt8]) { self.element = element }
}
