public import DavitZlib

/// Compresses and decompresses content in memory.
public enum Gzip {
    public static func encode(
        _ bytes: [UInt8], _ format: Deflater.Format = .gzip, level: Int = 1
    ) throws -> [UInt8] {
        var deflater = try Deflater(format, level: level, expectedBytes: bytes.count)
        var output = [UInt8](repeating: 0, count: deflater.boundBytes(for: bytes.count))
        let progress = unsafe bytes.withUnsafeBytes { input in
            unsafe output.withUnsafeMutableBytes { unsafe deflater.transform(input, into: $0, .finish) }
        }
        return Array(output.prefix(progress.produced))
    }

    /// Decompresses a complete stream.
    public static func decode(_ bytes: [UInt8]) throws -> [UInt8] {
        var inflater = try Inflater(.gzip, limit: ExpansionLimit(bytes: 1 << 30, ratio: 2000))
        let decoded = try decode(bytes, &inflater)
        try inflater.finish()
        return decoded
    }

    /// Decompresses the next bytes of a stream.
    public static func decode(_ bytes: [UInt8], _ inflater: inout Inflater) throws -> [UInt8] {
        var rest = bytes[...]
        var decoded: [UInt8] = []
        var output = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let progress = try unsafe rest.withUnsafeBytes { input in
                try unsafe output.withUnsafeMutableBytes { try unsafe inflater.transform(input, into: $0) }
            }
            rest = rest.dropFirst(progress.consumed)
            decoded += output.prefix(progress.produced)
            if progress.produced < output.count { return decoded }
        }
    }
}
