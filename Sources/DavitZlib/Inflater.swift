internal import CZlib

/// Decompresses a stream of bytes incrementally (RFC 1950, 1951, 1952).
///
/// Uses about 40 KiB of memory, most of which is allocated with the first bytes; later calls do not allocate.
@safe public struct Inflater: ~Copyable {
    public enum Format: Sendable {
        /// The content coding `gzip`: one or more consecutive members (RFC 1952 §2.2).
        case gzip
        /// The content coding `deflate`: RFC 1950, or RFC 1951 without a wrapper, which some clients send
        /// (RFC 9110 §8.4.1.2).
        case deflate
    }

    private enum Phase { case beginning, inside, ended }

    private let stream: UnsafeMutablePointer<z_stream>
    private let format: Format
    private let limit: ExpansionLimit
    private var phase = Phase.beginning
    private var taken: Int64 = 0
    private var given: Int64 = 0

    public init(_ format: Format, limit: ExpansionLimit) throws(OutOfMemory) {
        let bits: Int32 = format == .gzip ? Self.windowBits + 16 : Self.windowBits
        unsafe stream = try UnsafeMutablePointer.make { unsafe davit_inflate_init($0, bits) }
        self.format = format
        self.limit = limit
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The largest window, so that every sender's window size is accepted.
    private static let windowBits: Int32 = 15

    /// Decompresses as much of `input` as fits into the output.
    ///
    /// If the output is full, more may follow from the consumed input: call it again, even without input,
    /// before reading more input. ``TransformProgress/isAtEnd`` is true at positions where the input may end.
    /// - Throws: ``InflateError``; the stream and the output must not be used afterwards.
    public mutating func transform(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(InflateError) -> TransformProgress {
        var progress = TransformProgress()
        while progress.produced < output.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: input[progress.consumed...])
            if phase != .inside {
                guard let first = unsafe rest.first else { break }
                try begin(with: first)
            }
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output[progress.produced...])
            let (status, consumed, produced) = unsafe stream.step(from: rest, to: room) {
                unsafe inflate($0, Z_NO_FLUSH)
            }
            progress.consumed += consumed
            progress.produced += produced
            try count(consumed, produced)
            try check(status)
            // Free output space means that no output is pending and more input is needed.
            if phase == .inside, produced < room.count, progress.consumed == input.count { break }
        }
        progress.isAtEnd = phase == .ended
        return progress
    }

    /// Checks that the stream is complete. Must be called at the end of the input.
    /// - Throws: ``InflateError/truncated(offset:)`` if it is not complete.
    public func finish() throws(InflateError) {
        guard phase == .ended else { throw .truncated(offset: taken) }
    }

    /// Starts a stream or member with its first byte.
    private mutating func begin(with first: UInt8) throws(InflateError) {
        switch (format, phase) {
        case (.gzip, .ended):
            // The first byte of a gzip member; zlib checks the others.
            guard first == 0x1F else { throw .trailingData(offset: taken) }
            unsafe inflateReset(stream)
        case (.deflate, .ended): throw .trailingData(offset: taken)
        case (.deflate, .beginning):
            // RFC 1950 §2.2: method 8, a window of at most 2^15 bytes. In RFC 1951 this would be a stored
            // block with non-zero padding, which no compressor writes.
            let isWrapped = first & 0x0F == 8 && first >> 4 <= 7
            if !isWrapped { unsafe inflateReset2(stream, -Self.windowBits) }
        default: break
        }
        phase = .inside
    }

    private mutating func count(_ consumed: Int, _ produced: Int) throws(InflateError) {
        taken += Int64(consumed)
        given += Int64(produced)
        if given > limit.bytes { throw .tooLong(limitBytes: limit.bytes) }
        if given > limit.freeBytes, given / limit.ratio > taken { throw .expandsTooMuch(ratio: limit.ratio) }
    }

    private mutating func check(_ status: Int32) throws(InflateError) {
        switch status {
        case Z_OK, Z_BUF_ERROR: break  // Z_BUF_ERROR: there was nothing to do.
        case Z_STREAM_END: phase = .ended
        case Z_MEM_ERROR: throw .outOfMemory
        // This includes Z_NEED_DICT: HTTP does not support preset dictionaries.
        default: throw .malformed(offset: taken)
        }
    }
}
