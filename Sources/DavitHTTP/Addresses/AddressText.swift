/// Formats IP addresses (RFC 5952) directly into the memory of a string. The caller specifies the capacity of
/// the string, which must suffice for the longest address.
@safe struct AddressText {
    private let room: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    static func string(capacity: Int, _ write: (inout AddressText) -> Void) -> String {
        unsafe String(unsafeUninitializedCapacity: capacity) { room in
            var text = unsafe AddressText(room: room)
            write(&text)
            return text.count
        }
    }

    private init(room: UnsafeMutableBufferPointer<UInt8>) { unsafe self.room = unsafe room }

    mutating func append(_ byte: UInt8) {
        unsafe room[count] = byte
        count += 1
    }

    /// Appends a number without leading zeros.
    mutating func appendNumber(_ value: UInt32, radix: UInt32) {
        var divisor: UInt32 = 1
        while value / divisor >= radix { divisor *= radix }
        while divisor > 0 {
            let digit = UInt8(value / divisor % radix)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            divisor /= radix
        }
    }

    mutating func appendIPv4(_ address: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] {
            if shift != 24 { append(UInt8(ascii: ".")) }
            appendNumber(address >> shift & 255, radix: 10)
        }
    }

    mutating func appendIPv6(_ high: UInt64, _ low: UInt64) {
        func group(_ index: Int) -> UInt32 {
            UInt32((index < 4 ? high : low) >> UInt64((3 - index % 4) * 16) & 0xFFFF)
        }
        // RFC 5952 §5: IPv4-mapped addresses end in dotted decimal notation.
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        let end = isMapped ? 6 : 8
        // §4.2: the first longest run of at least two zero groups is abbreviated.
        var run = 0..<0
        var start = 0
        for index in 0..<end {
            if group(index) != 0 { start = index + 1 }
            if index + 1 - start > max(1, run.count) { run = start..<(index + 1) }
        }
        var index = 0
        while index < end {
            if index == run.lowerBound && !run.isEmpty {
                append(UInt8(ascii: ":"))
                append(UInt8(ascii: ":"))
                index = run.upperBound
                continue
            }
            if index > 0 && (run.isEmpty || index != run.upperBound) { append(UInt8(ascii: ":")) }
            appendNumber(group(index), radix: 16)
            index += 1
        }
        guard isMapped else { return }
        append(UInt8(ascii: ":"))
        appendIPv4(UInt32(truncatingIfNeeded: low))
    }
}
