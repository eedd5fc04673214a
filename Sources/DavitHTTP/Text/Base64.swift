/// Base64 (RFC 4648 §4).
package enum Base64 {
    /// Encodes bytes with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
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
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes padded text. Returns nil for invalid characters, missing padding, or nonzero unused bits.
    package static func decode(_ text: borrowing Span<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var length = text.count
        while length > 0, text.count - length < 2, text[length - 1] == UInt8(ascii: "=") { length -= 1 }

        var isValid = true
        var bits: UInt32 = 0
        var bitCount = 0
        let decoded = [UInt8](capacity: text.count / 4 * 3) { output in
            for index in 0..<length {
                guard let value = value(of: text[index]) else {
                    isValid = false
                    return
                }
                bits = bits << 6 | UInt32(value)
                bitCount += 6
                if bitCount >= 8 {
                    bitCount -= 8
                    output.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                    bits &= (1 << UInt32(bitCount)) - 1
                }
            }
        }
        return isValid && bits == 0 && bitCount < 6 ? decoded : nil
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 65...90: character - 65
        case 97...122: character - 71
        case 48...57: character + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
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

/// Base64 for URLs, without padding (RFC 4648 §5, RFC 7515 §2).
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).utf8.prefix { $0 != UInt8(ascii: "=") }
        return String(
            decoding: text.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            }, as: UTF8.self)
    }

    /// Decodes text. Returns nil for other characters, padding, and nonzero unused bits.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var padded: [UInt8] = []
        padded.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): padded.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): padded.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: padded.append(byte)
            }
        }
        while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
        return Base64.decode(padded.span)
    }
}
