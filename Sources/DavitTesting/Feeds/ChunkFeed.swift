package import DavitHTTP

/// Decodes chunked content piece by piece, as a connection does.
package struct ChunkFeed: Sendable {
    package struct Outcome: Equatable {
        package var data: [UInt8] = []
        package var isEnded = false
        /// The bytes after the end, as far as they have been fed.
        package var rest: [UInt8] = []
        package var error: HTTPError?

        package init(data: [UInt8] = [], isEnded: Bool = false, rest: [UInt8] = []) {
            self.data = data
            self.isEnded = isEnded
            self.rest = rest
        }
    }

    private let limits: WireLimits

    package init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// - Parameter pieces: the bytes as they arrive; data is consumed in portions of at most `portion` bytes.
    package func decode(_ pieces: [[UInt8]], portion: Int = .max) -> Outcome {
        var decoder = ChunkedDecoder(limits: limits)
        var outcome = Outcome()
        for piece in pieces {
            var unread = piece[...]
            if outcome.isEnded {
                outcome.rest += piece
                continue
            }
            var needsMore = false
            while !needsMore, !outcome.isEnded {
                let bytes = Array(unread)
                let result = unsafe bytes.withUnsafeBytes { input in
                    Result { () throws(HTTPError) in try unsafe decoder.decode(input) }
                }
                guard case .success(let (consumed, step)) = result else {
                    if case .failure(let error) = result { outcome.error = error }
                    return outcome
                }
                unread = unread.dropFirst(consumed)
                switch step {
                case .needMore: needsMore = true
                case .end:
                    outcome.isEnded = true
                    outcome.rest += unread
                case .data(let remaining):
                    let count = min(Int(clamping: remaining), unread.count, portion)
                    outcome.data += unread.prefix(count)
                    unread = unread.dropFirst(count)
                    decoder.didTake(count)
                    needsMore = count == 0
                }
            }
        }
        return outcome
    }

    /// Decodes each piece in place, as if it had been received into the destination buffer.
    package func decodeInPlace(_ pieces: [[UInt8]]) -> Outcome {
        var decoder = ChunkedDecoder(limits: limits)
        var outcome = Outcome()
        for piece in pieces {
            if outcome.isEnded {
                outcome.rest += piece
                continue
            }
            var memory = piece
            let result = unsafe memory.withUnsafeMutableBytes { bytes in
                Result { () throws(HTTPError) in try unsafe decoder.decodeInPlace(bytes) }
            }
            guard case .success(let (dataCount, behindEnd)) = result else {
                if case .failure(let error) = result { outcome.error = error }
                return outcome
            }
            outcome.data += memory.prefix(dataCount)
            if let behindEnd {
                outcome.isEnded = true
                outcome.rest += memory.suffix(behindEnd)
            }
        }
        return outcome
    }

    package func byteByByte(_ bytes: [UInt8]) -> Outcome { decode(bytes.map { [$0] }) }
}
