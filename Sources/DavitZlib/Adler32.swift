internal import CZlib

/// The Adler-32 checksum of zlib (RFC 1950 §8.2). It detects accidental bit errors, but not tampering.
package struct Adler32: Sendable {
    private var sum: UInt = 1

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            sum = unsafe adler32(
                sum, piece.baseAddress?.assumingMemoryBound(to: Bytef.self), uInt(piece.count))
            unsafe rest = rest.dropFirst(piece.count)
        }
    }

    /// The checksum of all bytes so far, most significant byte first.
    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt($0))) } }
}
