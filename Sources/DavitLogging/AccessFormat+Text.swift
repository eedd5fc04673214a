internal import DavitHTTP

/// Building blocks of an access log line.
extension [UInt8] {
    /// Appends text for a quoted field: printable ASCII unchanged; quotes, backslashes and all other bytes as
    /// `\xHH`.
    mutating func appendQuotable(_ bytes: borrowing Span<UInt8>) {
        var start = 0
        for index in 0..<bytes.count where !bytes[index].isPlain {
            append(copying: bytes.extracting(start..<index))
            appendQuotable(bytes[index])
            start = index + 1
        }
        append(copying: bytes.extracting(start..<bytes.count))
    }

    /// Appends text for a field delimited by spaces, or `-` if it is empty. Escapes spaces in addition to the
    /// bytes that are escaped in a quoted field.
    mutating func appendWord(_ text: String) {
        if text.isEmpty { return append(UInt8(ascii: "-")) }
        for byte in text.utf8 {
            if byte == UInt8(ascii: " ") { append("\\x20") } else { appendQuotable(byte) }
        }
    }

    private mutating func appendQuotable(_ byte: UInt8) {
        if byte.isPlain { return append(byte) }
        append("\\x")
        append(HexText.digit(byte >> 4))
        append(HexText.digit(byte & 15))
    }

    /// Appends a quoted JSON string (RFC 8259 §7). Keeps valid UTF-8 readable but escapes control characters,
    /// including U+0080 to U+009F (ISO 6429), which terminals interpret.
    mutating func appendJSON(_ bytes: borrowing Span<UInt8>) {
        append(UInt8(ascii: "\""))
        var start = 0
        var index = 0
        while index < bytes.count, bytes[index] < 0x80 {
            if !bytes[index].isPlain {
                append(copying: bytes.extracting(start..<index))
                appendJSON(UInt32(bytes[index]))
                start = index + 1
            }
            index += 1
        }
        append(copying: bytes.extracting(start..<index))
        if index < bytes.count {
            appendJSON(notASCII: [UInt8](copying: bytes.extracting(index..<bytes.count)))
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendJSON(notASCII bytes: [UInt8]) {
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.value < 0xA0 {
                appendJSON(scalar.value)
            } else {
                append(contentsOf: String(scalar).utf8)
            }
        }
    }

    mutating func appendJSON(_ text: String) { text.utf8.withSpan { appendJSON($0) } }

    /// - Parameter scalar: a scalar below U+00A0.
    private mutating func appendJSON(_ scalar: UInt32) {
        let byte = UInt8(truncatingIfNeeded: scalar)
        switch byte {
        case UInt8(ascii: "\""): append(#"\""#)
        case UInt8(ascii: "\\"): append(#"\\"#)
        case 0x20..<0x7F: append(byte)
        default:
            append("\\u00")
            append(HexText.digit(byte >> 4))
            append(HexText.digit(byte & 15))
        }
    }

    /// Appends a duration in milliseconds with three decimals.
    mutating func appendMilliseconds(_ duration: Duration) {
        // Clamp to about 146,000 years, so that the number of microseconds does not overflow.
        let limit = Duration.seconds(Int64.max / 2_000_000)
        let (seconds, attoseconds) = Swift.min(limit, Swift.max(.zero, duration)).components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        appendDecimal(microseconds / 1000)
        append(UInt8(ascii: "."))
        for divisor in [100, 10, 1] as [Int64] {
            append(UInt8(ascii: "0") + UInt8(microseconds % 1000 / divisor % 10))
        }
    }
}

extension UInt8 {
    /// Whether the byte is printable ASCII other than a quote or a backslash.
    fileprivate var isPlain: Bool {
        self &- 32 < 95 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
    }
}
