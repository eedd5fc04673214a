/// Helpers that append HTML to a byte buffer.
package enum Markup {
    package static func append(_ markup: StaticString, to buffer: inout [UInt8]) {
        unsafe buffer.append(
            contentsOf: UnsafeBufferPointer(start: markup.utf8Start, count: markup.utf8CodeUnitCount))
    }

    /// Appends `name` as text, escaped for element content and double-quoted attribute values.
    ///
    /// Invalid UTF-8 and control characters, which HTML does not allow, become U+FFFD.
    package static func appendText(_ name: [UInt8], to buffer: inout [UInt8]) {
        for byte in String(decoding: name, as: UTF8.self).utf8 {
            switch byte {
            case UInt8(ascii: "&"): append("&amp;", to: &buffer)
            case UInt8(ascii: "<"): append("&lt;", to: &buffer)
            case UInt8(ascii: ">"): append("&gt;", to: &buffer)
            case UInt8(ascii: "\""): append("&quot;", to: &buffer)
            case UInt8(ascii: "'"): append("&#39;", to: &buffer)
            case 0..<32, 127: append("\u{FFFD}", to: &buffer)
            default: buffer.append(byte)
            }
        }
    }
}
