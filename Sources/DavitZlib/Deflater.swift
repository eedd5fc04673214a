internal import CZlib

/// Compresses a stream of bytes incrementally (RFC 1950, 1951, 1952).
///
/// The initializer allocates all memory, eight times the window size: 256 KiB with the largest window, and
/// less if a smaller window is specified or suffices for the expected input. Calls do not allocate.
@safe public struct Deflater: ~Copyable {
    public enum Format: Sendable {
        /// RFC 1952, without file name and time: the content coding `gzip`.
        case gzip
        /// RFC 1950: the content coding `deflate`.
        case zlib
        /// RFC 1951 without a wrapper.
        case raw
    }

    /// How much output to produce once the input is consumed.
    public enum Flush: Sendable {
        /// Buffers input for the best compression.
        case none
        /// Outputs everything, so that the receiver can decode it. Costs about five bytes.
        case sync
        /// Outputs everything and ends the stream.
        case finish
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private var hasEnded = false

    /// - Parameters:
    ///   - level: from 1, the fastest, to 9. Level 1 compresses a multistatus by a factor of 9 at 300 MB/s,
    ///     level 6 by a factor of 10.6 at 200 MB/s.
    ///   - expectedBytes: the expected length of the input, if known; it may be exceeded. Short input needs
    ///     as little as 10 KiB of memory.
    ///   - windowBits: the binary logarithm of the maximum window size in bytes, from 9 to 15. A multistatus
    ///     compresses as well with 13 as with 15.
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
        // zlib allocates 2^(bits + 2) bytes for the window, and as many for the symbols at this memory level.
        unsafe stream = try UnsafeMutablePointer.make {
            unsafe davit_deflate_init($0, level, signedBits, bits - 7)
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses as much of `input` as fits into the output.
    ///
    /// Call it again with the remaining input and the same `flush` until all input is consumed. A flush is
    /// complete when there is free space left in the output. Provide more than six bytes of space for the
    /// output; with less, zlib starts a new flush in each call. Calls after the end have no effect.
    public mutating func transform(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ flush: Flush
    ) -> TransformProgress {
        if hasEnded || output.count == 0 { return TransformProgress(isAtEnd: hasEnded) }
        // zlib uses 32-bit counts, and must not mistake the end of a part for the end of the input.
        let value = input.count > Int(uInt.max) ? Z_NO_FLUSH : flush.value
        let (status, consumed, produced) = unsafe stream.step(from: input, to: output) {
            unsafe deflate($0, value)
        }
        // Z_BUF_ERROR means that there was nothing to do. Any other status means that the stream was
        // corrupted.
        precondition(
            status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END, "zlib stream corrupted")
        hasEnded = status == Z_STREAM_END
        return TransformProgress(consumed: consumed, produced: produced, isAtEnd: hasEnded)
    }

    /// Returns the maximum output size for `count` bytes of input and a finish, without other flushes.
    public borrowing func boundBytes(for count: Int) -> Int {
        Int(clamping: unsafe deflateBound(stream, uLong(clamping: count)))
    }

    /// Returns the bits of the smallest window that holds the input and 262 bytes of zlib's lookahead.
    /// Although 8 bits would suffice for the shortest input, zlib changes them to 9 and writes a wrong value
    /// to the header.
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
