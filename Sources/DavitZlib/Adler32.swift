internal import CZlib

/// The checksum of zlib (RFC 1950 §8.2): a few bits flipped by accident are found, and nothing else is promised.
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

    /// Of everything so far, the most significant byte first.
    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt($0))) } }
}
