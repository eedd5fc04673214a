public import DavitXML

/// Limits on the XML of one request: those of ``XMLLimits``, and limits on its properties and conditions.
public struct BodyLimits: Hashable, Sendable {
    /// Limits on the XML itself; a body that exceeds one of them is malformed. The server responds with 413
    /// to a body that is too long, before it is parsed.
    public var xml = XMLLimits()
    /// The maximum number of properties in one request; a body with more is malformed. Known clients request
    /// a few dozen at most, and neon accepts at most 1024 in a response.
    public var properties = 1024
    /// The maximum size of all values of one PROPPATCH or extended MKCOL in bytes, including the namespace
    /// declarations that are repeated in each value; a body that exceeds it is malformed.
    public var valueBytes = 4 << 20
    /// The maximum number of operators in a search condition, which is evaluated for every resource in the
    /// scopes; more are refused with 422.
    public var operators = 256
    /// The maximum length of a literal or pattern in a search, in UTF-8 bytes; longer ones are refused with
    /// 422.
    public var literalBytes = 8192
    /// The maximum number of properties by which a search orders its results; more are refused with 422.
    public var orders = 16
    /// The maximum number of scopes of a search; more are refused with 422.
    public var scopes = 64

    public init() {}

    /// Creates the default limits, except that XML of `count` bytes is accepted even if the default is lower.
    package init(admittingBytes count: Int) { xml.bytes = max(xml.bytes, count) }
}
