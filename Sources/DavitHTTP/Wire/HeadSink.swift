/// A destination for ``HeadEncoder``.
protocol HeadSink {
    mutating func write(_ text: StaticString)
    mutating func write(_ bytes: [UInt8])
    mutating func writeDecimal(_ value: Int64)
}

extension [UInt8]: HeadSink {
    mutating func write(_ text: StaticString) { append(text) }
    mutating func write(_ bytes: [UInt8]) { append(contentsOf: bytes) }
    mutating func writeDecimal(_ value: Int64) { appendDecimal(value) }
}

/// The caller must ensure sufficient space; what exceeds it is discarded.
extension IOBuffer: HeadSink {
    // Inlined, so that the compiler writes a literal with a few stores instead of a call of memcpy.
    @inline(__always)
    func write(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        guard freeCount >= count else { return }
        unsafe (storage + filled).copyMemory(from: text.utf8Start, byteCount: count)
        filled += count
    }

    func write(_ bytes: [UInt8]) { _ = append(bytes) }

    func writeDecimal(_ value: Int64) {
        var (digits, rest) = (value < 0 ? 2 : 1, value.magnitude)
        while rest >= 10 {
            digits += 1
            rest /= 10
        }
        guard freeCount >= digits else { return }
        _ = unsafe fill { room in
            rest = value.magnitude
            if value < 0 { unsafe room[0] = UInt8(ascii: "-") }
            for place in stride(from: digits - 1, through: value < 0 ? 1 : 0, by: -1) {
                unsafe room[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return digits
        }
    }
}
