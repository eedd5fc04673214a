/// Random bytes for salts, keys and nonces, from the operating system's generator.
package enum RandomBytes {
    package static func make(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            var word = generator.next()
            for _ in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
