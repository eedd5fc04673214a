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

/// The caller must ensure sufficient space; excess bytes are discarded.
extension IOBuffer: HeadSink {
    func write(_ text: StaticString) {
        _ = unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
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
