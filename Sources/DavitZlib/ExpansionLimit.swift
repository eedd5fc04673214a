/// Limits the expansion of compressed data.
public struct ExpansionLimit: Hashable, Sendable {
    /// The maximum number of output bytes.
    public var bytes: Int64
    /// The maximum number of output bytes per input byte, enforced after ``freeBytes``. Text is typically
    /// compressed by a factor of 3 to 50; the maximum of deflate is 1,032.
    public var ratio: Int64
    /// The number of output bytes that are allowed regardless of the ratio.
    public var freeBytes: Int64

    public init(bytes: Int64, ratio: Int64 = 200, freeBytes: Int64 = 1 << 20) {
        self.bytes = bytes
        self.ratio = max(ratio, 1)
        self.freeBytes = freeBytes
    }
}

/// The reason why compressed data is rejected. An offset is the position at which zlib stopped, in bytes from
/// the start of the compressed input.
public enum InflateError: Error, Hashable, Sendable {
    /// The data is malformed, or a checksum does not match.
    case malformed(offset: Int64)
    /// The input ends before the end of the stream.
    case truncated(offset: Int64)
    /// Data follows the end of the stream.
    case trailingData(offset: Int64)
    /// The output would exceed ``ExpansionLimit/bytes``.
    case tooLong(limitBytes: Int64)
    /// The expansion would exceed ``ExpansionLimit/ratio``.
    case expandsTooMuch(ratio: Int64)
    case outOfMemory
}
