/// Parses the framing of chunked content (RFC 9112 §7.1). Stores no data: it consumes the framing between the
/// chunks and returns how much data follows, so that data can be received directly into its destination.
///
/// ```
/// loop: step = decode(buffered) → drop `consumed` bytes →
///   .data(n): take up to n bytes, from the buffer or the socket, then didTake(count)
///   .needMore: receive more, then call again
///   .end: done; the remaining bytes belong to the next request
/// ```
/// If many chunks arrive together, ``decodeInPlace(_:)`` performs the entire loop.
///
/// Strict where other implementations might interpret the input differently: lines end in CRLF, and sizes
/// consist only of hexadecimal digits. Extensions and trailers are validated and discarded.
package struct ChunkedDecoder: Sendable {
    package enum Step: Hashable, Sendable {
        /// The next bytes are data: at most `remaining`, which is at least 1.
        case data(remaining: Int64)
        /// All input has been consumed.
        case needMore
        /// The content and its trailers are complete.
        case end
    }

    private enum Phase {
        case size(digits: Int)
        /// White space after the size; only `;` or more white space may follow.
        case beforeExtension
        case chunkExtension
        case sizeLineFeed
        case data
        case dataCarriageReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed
        case endLineFeed
        case end
    }

    private let limits: WireLimits
    private var phase = Phase.size(digits: 0)
    /// The partially parsed chunk size, then the remaining data bytes of the chunk.
    private var remaining: Int64 = 0
    /// Length of the current size line or of the trailer section in bytes.
    private var lineBytes = 0
    private var trailerCount = 0

    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// Parses framing up to the next data or the end.
    ///
    /// - Parameter input: the bytes received and neither consumed nor taken yet.
    /// - Returns: the number of framing bytes at the start of `input`, and the next step.
    /// - Throws: 400 for malformed framing, 431 for trailers over the limits. The connection is then
    ///   unusable.
    package mutating func decode(
        _ input: UnsafeRawBufferPointer
    ) throws(HTTPError) -> (consumed: Int, step: Step) {
        let bytes = unsafe input.bindMemory(to: UInt8.self).span
        var index = 0
        while true {
            if case .data = phase { return (index, .data(remaining: remaining)) }
            if case .end = phase { return (index, .end) }
            guard index < bytes.count else { return (index, .needMore) }
            phase = try next(bytes[index])
            index += 1
        }
    }

    /// Records that the caller has taken `count` bytes of data after ``Step/data(remaining:)``; a count above
    /// `remaining` is clamped.
    package mutating func didTake(_ count: Int) {
        guard case .data = phase else { return }
        remaining -= min(remaining, Int64(count))
        if remaining == 0 { phase = .dataCarriageReturn }
    }

    /// The remaining data bytes of the current chunk; 0 between chunks.
    package var dataRemaining: Int64 {
        if case .data = phase { remaining } else { 0 }
    }

    /// Decodes received bytes in place, moving the data to the start of the buffer.
    ///
    /// - Parameter received: the bytes that follow those already consumed or taken.
    /// - Returns: the number of data bytes now at the start of the buffer, and the number of bytes at its
    ///   end, left in place, that follow the content and belong to the next request; nil if the content has
    ///   not ended.
    /// - Throws: the errors that ``decode(_:)`` throws.
    package mutating func decodeInPlace(
        _ received: UnsafeMutableRawBufferPointer
    ) throws(HTTPError) -> (dataCount: Int, behindEnd: Int?) {
        guard let start = received.baseAddress else { return (0, nil) }
        var (used, dataCount) = (0, 0)
        while true {
            let (consumed, step) = try unsafe decode(UnsafeRawBufferPointer(rebasing: received[used...]))
            used += consumed
            let left = received.count - used
            switch step {
            case .needMore:
                return (dataCount, nil)
            case .end:
                return (dataCount, left)
            case .data(let remaining):
                guard left > 0 else { return (dataCount, nil) }
                let count = Int(min(remaining, Int64(left)))
                if used > dataCount {
                    unsafe (start + dataCount).copyMemory(from: start + used, byteCount: count)
                }
                didTake(count)
                used += count
                dataCount += count
            }
        }
    }

    private mutating func next(_ byte: UInt8) throws(HTTPError) -> Phase {
        switch phase {
        case .size, .beforeExtension, .chunkExtension, .sizeLineFeed:
            return try nextOfSizeLine(byte)
        case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed, .endLineFeed:
            return try nextOfTrailers(byte)
        case .dataCarriageReturn where byte == 13:
            return .dataLineFeed
        case .dataLineFeed where byte == 10:
            return .size(digits: 0)
        case .dataCarriageReturn, .dataLineFeed:
            throw HTTPError(.badRequest, "Missing CRLF after a chunk.")
        case .data, .end:
            return phase
        }
    }

    /// Parses `chunk-size [ chunk-ext ] CRLF`.
    private mutating func nextOfSizeLine(_ byte: UInt8) throws(HTTPError) -> Phase {
        lineBytes += 1
        guard lineBytes <= limits.chunkLineBytes + 2 else {
            throw HTTPError(.badRequest, "The chunk size line is too long.")
        }
        switch (phase, byte) {
        case (.size(let digits), _) where byte.hexValue != nil:
            // Limits the size to 15 digits, below 2⁶⁰.
            guard digits < 15 else { throw HTTPError(.badRequest, "The chunk size is too large.") }
            remaining = remaining << 4 | Int64(byte.hexValue ?? 0)
            return .size(digits: digits + 1)
        case (.size(let digits), 13) where digits > 0, (.size(let digits), 59) where digits > 0,
            (.size(let digits), 32) where digits > 0, (.size(let digits), 9) where digits > 0:
            return byte == 13 ? .sizeLineFeed : byte == 59 ? .chunkExtension : .beforeExtension
        case (.beforeExtension, 32), (.beforeExtension, 9):
            return .beforeExtension
        case (.beforeExtension, 59):
            return .chunkExtension
        case (.chunkExtension, 13):
            return .sizeLineFeed
        case (.chunkExtension, _) where !byte.isControl || byte == 9:
            return .chunkExtension
        case (.sizeLineFeed, 10):
            lineBytes = 0
            return remaining == 0 ? .trailerStart : .data
        default:
            throw HTTPError(.badRequest, "Malformed chunk size.")
        }
    }

    /// Parses `trailer-section CRLF`.
    private mutating func nextOfTrailers(_ byte: UInt8) throws(HTTPError) -> Phase {
        lineBytes += 1
        guard lineBytes <= limits.trailerBytes + 2 else {
            throw HTTPError(.fieldsTooLarge, "The trailers are too large.")
        }
        switch (phase, byte) {
        case (.trailerStart, 13):
            return .endLineFeed
        case (.endLineFeed, 10):
            return .end
        case (.trailerStart, _) where byte.isTokenCharacter:
            trailerCount += 1
            guard trailerCount <= limits.fieldCount else {
                throw HTTPError(.fieldsTooLarge, "Too many trailers.")
            }
            return .trailerName
        case (.trailerName, 58):
            return .trailerValue
        case (.trailerName, _) where byte.isTokenCharacter:
            return .trailerName
        case (.trailerValue, 13):
            return .trailerLineFeed
        case (.trailerValue, _) where !byte.isControl || byte == 9:
            return .trailerValue
        case (.trailerLineFeed, 10):
            return .trailerStart
        default:
            throw HTTPError(.badRequest, "Malformed trailer.")
        }
    }
}
