/// How much of a message the parser takes before it refuses the rest. Every limit has an error of its own.
public struct WireLimits: Sendable {
    /// Longest request line, without its CRLF; over it 414 (RFC 9112 §3).
    public var requestLineBytes: Int
    /// Longest head, from the request line to the empty line, both included; over it 431. At most 65,535,
    /// because fields are kept as 16-bit offsets.
    public var headBytes: Int {
        didSet { headBytes = min(headBytes, Int(UInt16.max)) }
    }
    /// Most field lines in a head, and most in a trailer section; over it 431.
    public var fieldCount: Int
    /// Longest line with the size of a chunk and its extensions, without its CRLF; over it 400.
    public var chunkLineBytes: Int
    /// Longest trailer section; over it 431.
    public var trailerBytes: Int

    /// The default limits, but for those that are given.
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
