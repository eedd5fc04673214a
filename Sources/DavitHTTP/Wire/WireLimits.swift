/// Limits for the parts of a message. A message that exceeds a limit is refused with the status documented
/// for the limit.
public struct WireLimits: Sendable {
    /// Maximum length of the request line without its CRLF; 414 if exceeded (RFC 9112 §3).
    public var requestLineBytes: Int
    /// Maximum length of the head, from the request line through the empty line; 431 if exceeded. Larger
    /// values are reduced to 65,535, because field offsets have 16 bits.
    public var headBytes: Int {
        didSet { headBytes = min(headBytes, Int(UInt16.max)) }
    }
    /// Maximum number of field lines in a head, and in a trailer section; 431 if exceeded.
    public var fieldCount: Int
    /// Maximum length of a chunk size line with its extensions, without its CRLF; 400 if exceeded.
    public var chunkLineBytes: Int
    /// Maximum length of the trailer section; 431 if exceeded.
    public var trailerBytes: Int

    /// Creates limits; omitted ones have their default values.
    public init(
        requestLineBytes: Int = 8192, headBytes: Int = 32768, fieldCount: Int = 64,
        chunkLineBytes: Int = 512, trailerBytes: Int = 8192
    ) {
        self.requestLineBytes = requestLineBytes
        self.headBytes = min(headBytes, Int(UInt16.max))
        self.fieldCount = fieldCount
        self.chunkLineBytes = chunkLineBytes
        self.trailerBytes = trailerBytes
    }
}
