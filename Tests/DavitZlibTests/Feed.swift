import DavitZlib

/// Feeds pieces to a transform and collects the output.
enum Feed {
    /// - Parameter room: the maximum output of each call.
    static func deflate(
        _ pieces: [[UInt8]], _ format: Deflater.Format = .gzip, level: Int = 1, expectedBytes: Int? = nil,
        flush: Deflater.Flush = .none, room: Int = 1000
    ) throws -> [[UInt8]] {
        var deflater = try Deflater(format, level: level, expectedBytes: expectedBytes)
        var outputs: [[UInt8]] = []
        for (piece, flush) in pieces.map({ ($0, flush) }) + [([], .finish)] {
            var rest = piece[...]
            var made: [UInt8] = []
            var output = [UInt8](repeating: 0, count: room)
            while true {
                let progress = unsafe rest.withUnsafeBytes { input in
                    unsafe output.withUnsafeMutableBytes { unsafe deflater.transform(input, into: $0, flush) }
                }
                rest = rest.dropFirst(progress.consumed)
                made += output.prefix(progress.produced)
                if rest.isEmpty, progress.produced < room { break }
            }
            outputs.append(made)
        }
        return outputs
    }

    static func deflate(_ bytes: [UInt8], _ format: Deflater.Format = .gzip, level: Int = 6) throws -> [UInt8]
    {
        try deflate([bytes], format, level: level).flatMap { $0 }
    }

    /// Returns all output for these pieces, and requires that the stream is complete.
    static func inflate(
        _ pieces: [[UInt8]], _ format: Inflater.Format = .gzip,
        limit: ExpansionLimit = ExpansionLimit(bytes: 1 << 30), room: Int = 1000
    ) throws -> [UInt8] {
        var inflater = try Inflater(format, limit: limit)
        var bytes: [UInt8] = []
        for piece in pieces { bytes += try expand(piece, &inflater, room: room) }
        try inflater.finish()
        return bytes
    }

    static func step(
        _ input: ArraySlice<UInt8>, _ inflater: inout Inflater, _ output: inout [UInt8]
    ) throws(InflateError) -> TransformProgress {
        // Uses spans, because the closures of arrays do not support typed errors.
        let input = input.span
        var output = output.mutableSpan
        return try unsafe input.withUnsafeBytes { input throws(InflateError) in
            try unsafe output.withUnsafeMutableBytes { room throws(InflateError) in
                try unsafe inflater.transform(input, into: room)
            }
        }
    }

    /// Returns all output for one more piece.
    static func expand(
        _ piece: [UInt8], _ inflater: inout Inflater, room: Int = 1000
    ) throws(InflateError) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = piece[...]
        var output = [UInt8](repeating: 0, count: room)
        while true {
            let progress = try step(rest, &inflater, &output)
            rest = rest.dropFirst(progress.consumed)
            bytes += output.prefix(progress.produced)
            if progress.produced < room { return bytes }
        }
    }

    static func bytes(hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns deterministic text with repetitions, as in a listing.
    static func listing(members: Int) -> [UInt8] {
        (0..<members).flatMap { Array("<href>/folder/\($0 &* 2_654_435_761 % 1_000_003).txt</href>\n".utf8) }
    }

    /// Returns deterministic bytes that cannot be compressed.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }
}
