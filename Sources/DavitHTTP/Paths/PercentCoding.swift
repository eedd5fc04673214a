/// Percent-encoding and decoding (RFC 3986 §2.1).
public enum PercentCoding {
    /// Decodes every `%XX` once. Returns nil if a `%` is not followed by two hexadecimal digits.
    public static func decode(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        bytes.withSpan { decode($0) }
    }

    /// Decodes every `%XX` in borrowed bytes once. Returns nil if a `%` is not followed by two hexadecimal
    /// digits.
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

    /// Returns the byte encoded by the `%XX` at `index`; nil if it is malformed.
    static func escapedByte(_ bytes: borrowing Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = bytes[index + 1].hexValue,
            let low = bytes[index + 2].hexValue
        else { return nil }
        return high << 4 | low
    }

    /// Appends a segment with all but unreserved characters encoded (§2.3), using upper-case hexadecimal
    /// digits.
    public static func append(_ segment: some Collection<UInt8>, to buffer: inout [UInt8]) {
        segment.withSpan { append($0, to: &buffer) { $0.isUnreserved } }
    }

    /// Writes a segment to `memory`, encoded as by ``append(_:to:)-(Collection<UInt8>,_)``.
    /// - Parameter memory: at least three times as long as the segment.
    /// - Returns: the number of bytes written; 0 if `memory` is too short.
    package static func write(_ segment: [UInt8], to memory: UnsafeMutableRawBufferPointer) -> Int {
        let bytes = segment.span
        guard memory.count >= longest(bytes.count), let start = memory.baseAddress else { return 0 }
        return unsafe write(bytes, to: start) { $0.isUnreserved }
    }

    /// Returns the maximum encoded length of `count` bytes.
    package static func longest(_ count: Int) -> Int { 3 * count }

    /// Appends a path with its leading slash. Segments are encoded; the slashes between them are not.
    public static func append(_ path: ResourcePath, to buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "/"))
        append(path.bytes.span, to: &buffer) { $0.isUnreserved || $0 == UInt8(ascii: "/") }
    }

    @inline(__always)
    private static func append(
        _ bytes: borrowing Span<UInt8>, to buffer: inout [UInt8], keeping stays: (UInt8) -> Bool
    ) {
        unsafe withUnsafeTemporaryAllocation(byteCount: longest(bytes.count), alignment: 1) { memory in
            guard let start = memory.baseAddress else { return }
            let count = unsafe write(bytes, to: start, keeping: stays)
            unsafe buffer.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    /// - Parameter start: memory for ``longest(_:)`` bytes.
    @inline(__always)
    private static func write(
        _ bytes: borrowing Span<UInt8>, to start: UnsafeMutableRawPointer, keeping stays: (UInt8) -> Bool
    ) -> Int {
        var count = 0
        for index in 0..<bytes.count {
            let byte = bytes[index]
            if stays(byte) {
                unsafe start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
                count += 1
            } else {
                unsafe start.storeBytes(of: UInt8(ascii: "%"), toByteOffset: count, as: UInt8.self)
                unsafe start.storeBytes(of: upperHex(byte >> 4), toByteOffset: count + 1, as: UInt8.self)
                unsafe start.storeBytes(of: upperHex(byte & 15), toByteOffset: count + 2, as: UInt8.self)
                count += 3
            }
        }
        return count
    }

    private static func upperHex(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 48 + nibble : 55 + nibble }
}
