/// The one percent-coder (RFC 3986 §2.1).
public enum PercentCoding {
    /// The bytes with every `%XX` decoded, once. Nil if a `%` is not followed by two hexadecimal digits.
    public static func decode(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        bytes.withSpan { decode($0) }
    }

    public static func decode(_ bytes: borrowing Span<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard let byte = escapedByte(bytes, at: index) else { return nil }
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// The byte that the `%XX` at `index` means; nil if it is not one.
    static func escapedByte(_ bytes: borrowing Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = bytes[index + 1].hexValue,
            let low = bytes[index + 2].hexValue
        else { return nil }
        return high << 4 | low
    }

    /// Appends one segment, encoding all but unreserved characters (§2.3); hexadecimal digits in upper case.
    public static func append(_ segment: some Collection<UInt8>, to buffer: inout [UInt8]) {
        segment.withSpan { bytes in
            for index in 0..<bytes.count { append(bytes[index], to: &buffer) }
        }
    }

    /// Appends a path with its leading slash: every segment encoded, the slashes between them not.
    public static func append(_ path: ResourcePath, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "/"))
        for byte in path.bytes {
            if byte == UInt8(ascii: "/") {
                buffer.append(byte)
            } else {
                append(byte, to: &buffer)
            }
        }
    }

    private static func append(_ byte: UInt8, to buffer: inout [UInt8]) {
        if byte.isUnreserved {
            buffer.append(byte)
        } else {
            buffer.append(UInt8(ascii: "%"))
            buffer.append(upperHex(byte >> 4))
            buffer.append(upperHex(byte & 15))
        }
    }

    private static func upperHex(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 48 + nibble : 55 + nibble }
}
