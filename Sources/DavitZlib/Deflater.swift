internal import CZlib

/// Compresses one stream of bytes, piece by piece (RFC 1950, 1951, 1952).
///
/// All memory is taken when it is made, eight times the window: 256 KiB, or less where less is expected. A call allocates
/// nothing.
@safe public struct Deflater: ~Copyable {
    public enum Format: Sendable {
        /// RFC 1952, without name and time: the coding `gzip`.
        case gzip
        /// RFC 1950: the coding `deflate`.
        case zlib
        /// RFC 1951 alone.
        case raw
    }

    /// What has to be out when the input is taken.
    public enum Flush: Sendable {
        /// Whatever compresses best.
        case none
        /// All of the input, so that the peer can use it. Costs some five bytes.
        case sync
        /// All of the input and the end of the stream.
        case finish
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private var hasEnded = false

    /// - Parameters:
    ///   - level: 1, the fastest, to 9. A multistatus becomes 9 times smaller with 1, at 300 MB/s, and 10.6 times with 6,
    ///     at 200 MB/s.
    ///   - expectedBytes: how long the input will be, if known; more may come. Short input needs as little as 10 KiB of
    ///     memory.
    ///   - windowBits: at most so large is the window, 2 to this power, from 9 to 15. A multistatus gets no longer with 13.
    public init(
        _ format: Format, level: Int = 1, expectedBytes: Int? = nil, windowBits: Int32 = 15
    ) throws(OutOfMemory) {
        let bits = min(Self.windowBits(for: expectedBytes), max(windowBits, 9))
        let signedBits =
            switch format {
            case .gzip: bits + 16
            case .zlib: bits
            case .raw: -bits
            }
        let level = Int32(min(max(level, 1), 9))
        // zlib takes 2^(bits + 2) bytes for the window, and as many for the symbols at this memory level.
        unsafe stream = try UnsafeMutablePointer.make {
            unsafe davit_deflate_init($0, level, signedBits, bits - 7)
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses as much of `input` as the output has room for.
    ///
    /// Call it again with the rest of the input, and the same `flush`, until all is taken. A flush is complete when less
    /// was produced than there was room for; give it more than six bytes of room, or zlib begins a new one each time.
    /// Nothing happens after the end.
    public mutating func transform(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ flush: Flush
    ) -> Progress {
        if hasEnded || output.count == 0 { return Progress(isAtEnd: hasEnded) }
        // zlib counts in 32 bits, and must not take the end of what it sees for the end of the input.
        let value = input.count > Int(uInt.max) ? Z_NO_FLUSH : flush.value
        let (status, consumed, produced) = unsafe stream.step(from: input, to: output) {
            unsafe deflate($0, value)
        }
        // Z_BUF_ERROR says that there was nothing to do. Any other status means that the stream was overwritten.
        precondition(
            status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END, "zlib lost its stream")
        hasEnded = status == Z_STREAM_END
        return Progress(consumed: consumed, produced: produced, isAtEnd: hasEnded)
    }

    /// No more than so many bytes come out of `count` bytes and a finish, without other flushes.
    public borrowing func boundBytes(for count: Int) -> Int {
        Int(clamping: unsafe deflateBound(stream, uLong(clamping: count)))
    }

    /// The smallest window that has the whole input in it, with the 262 bytes that zlib looks ahead. 8 bits would do for
    /// the shortest, but zlib makes them 9, and tells the reader the wrong number.
    private static func windowBits(for expectedBytes: Int?) -> Int32 {
        guard let expectedBytes else { return 15 }
        var bits: Int32 = 9
        while expectedBytes > (1 << Int(bits)) - 262, bits < 15 { bits += 1 }
        return bits
    }
}

extension Deflater.Flush {
    fileprivate var value: Int32 {
        switch self {
        case .none: Z_NO_FLUSH
        case .sync: Z_SYNC_FLUSH
        case .finish: Z_FINISH
        }
    }
}
