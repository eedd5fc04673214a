internal import DavitHTTP

/// Base64 (RFC 4648 §4) without the `=` at its end, as hashes of passwords are written.
enum UnpaddedBase64 {
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(character(UInt8(bits >> UInt32(bitCount) & 63)))
            }
            bits &= (1 << UInt32(bitCount)) - 1
        }
        if bitCount > 0 { text.append(character(UInt8(bits << UInt32(6 - bitCount) & 63))) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for other characters, for padding, and for bits that no encoder leaves over.
    static func decode(_ text: Substring) -> [UInt8]? {
        var padded = Array(text.utf8)
        guard !padded.contains(UInt8(ascii: "=")) else { return nil }
        while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
        return Base64.decode(padded.span)
    }

    private static func character(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: value + 65
        case 26..<52: value + 71
        case 52..<62: value - 4
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }
}
