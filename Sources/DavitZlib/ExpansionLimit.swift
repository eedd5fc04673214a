/// How much compressed bytes may become.
public struct ExpansionLimit: Hashable, Sendable {
    /// At most so many bytes come out.
    public var bytes: Int64
    /// At most so many bytes come out for each that goes in, once more than ``freeBytes`` have. Text is compressed 3 to 50
    /// times; deflate can do 1,032.
    public var ratio: Int64
    /// So many bytes may come out whatever the ratio.
    public var freeBytes: Int64

    public init(bytes: Int64, ratio: Int64 = 200, freeBytes: Int64 = 1 << 20) {
        self.bytes = bytes
        self.ratio = max(ratio, 1)
        self.freeBytes = freeBytes
    }
}

/// Why compressed bytes are refused; offsets are in bytes from the start of the compressed input, where zlib stopped.
public enum InflateError: Error, Hashable, Sendable {
    /// Not the format, or a check sum that is wrong.
    case malformed(offset: Int64)
    /// The input ends in the middle.
    case truncated(offset: Int64)
    /// Something follows the end.
    case trailingData(offset: Int64)
    /// More than ``ExpansionLimit/bytes`` would come out.
    case tooLong(limitBytes: Int64)
    /// More than ``ExpansionLimit/ratio`` bytes would come out for each that went in.
    case expandsTooMuch(ratio: Int64)
    case outOfMemory
}
