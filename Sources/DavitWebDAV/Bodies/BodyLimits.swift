public import DavitXML

/// What the XML of one request may cost beside ``XMLLimits``.
public struct BodyLimits: Hashable, Sendable {
    /// Read no more than `xml.bytes`; longer content is 413.
    public var xml = XMLLimits()
    /// Properties named in one request; over it the body is malformed. No client is known to ask for more than
    /// some dozens, and neon gives up at 1024 in an answer.
    public var properties = 1024
    /// Bytes of all values of one PROPPATCH with their namespace declarations, which every value repeats.
    public var valueBytes = 4 << 20
    /// Operators of one search condition, each of which every resource in the scopes is asked.
    public var operators = 256
    /// UTF-8 bytes of a literal of one search, patterns included; longer ones are 422.
    public var literalBytes = 8192
    /// Properties by which the results of one search are ordered; more are 422.
    public var orders = 16
    /// Scopes of one search.
    public var scopes = 64

    public init() {}
}
