/// Credentials in an Authorization field.
public enum Credentials {
    /// Name and password of `Basic` credentials (RFC 7617).
    ///
    /// - Returns: nil for every other scheme and for anything malformed, which means 401: no colon, broken
    ///   Base64, control characters, bytes that are not UTF-8.
    public static func basic(
        from value: borrowing Span<UInt8>
    ) -> (user: [UInt8], password: [UInt8])? {
        guard value.startsIgnoringCase(with: "basic ") else { return nil }
        var start = 6
        while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
        guard let pair = Base64.decode(value.extracting(start..<value.count)) else { return nil }
        // §2: a user-id has no colon, a password can.
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        guard !pair.contains(where: \.isControl), String(validating: pair, as: UTF8.self) != nil else {
            return nil
        }
        return (Array(pair[..<colon]), Array(pair[(colon + 1)...]))
    }
}

/// Base64 (RFC 4648 §4).
package enum Base64 {
    /// Decodes a padded text. Nil for other characters, missing padding, or bits that no encoder leaves over.
    package static func decode(_ text: borrowing Span<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var length = text.count
        while length > 0, text.count - length < 2, text[length - 1] == UInt8(ascii: "=") { length -= 1 }

        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for index in 0..<length {
            guard let value = value(of: text[index]) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= (1 << UInt32(bitCount)) - 1
            }
        }
        return bits == 0 && bitCount < 6 ? decoded : nil
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
}
