/// The value of a dead property, as it was set (RFC 4918 §4.3).
public struct PropertyValue: Hashable, Sendable {
    /// The complete property element, serialized. It declares every namespace that it uses, and preserves
    /// prefixes, the `xml:lang` in scope, mixed content and comments as sent. Well-formed UTF-8 XML without
    /// an XML declaration, which can be inserted into any document unchanged.
    public let element: [UInt8]

    public init(element: [UInt8]) { self.element = element }
}
