/// Character classes from the grammars of RFC 9110 and RFC 3986. Independent of the locale.
extension UInt8 {
    /// `tchar` (RFC 9110 §5.6.2): the characters of methods, field names and other tokens.
    package var isTokenCharacter: Bool { isMember(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

    /// `unreserved` (RFC 3986 §2.3): letters, digits and `-._~`.
    package var isUnreserved: Bool { isMember(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

    /// `sub-delims` (RFC 3986 §2.2): `!$&'()*+,;=`.
    package var isSubDelimiter: Bool { isMember(low: 0x2800_1FD2_0000_0000, high: 0) }

    package var isDigit: Bool { self &- 48 < 10 }

    /// OWS (RFC 9110 §5.6.3): space or tab.
    package var isWhitespace: Bool { self == 32 || self == 9 }

    /// Control characters, including DEL.
    package var isControl: Bool { self < 32 || self == 127 }

    /// The value of a hexadecimal digit; nil for other bytes.
    package var hexValue: UInt8? {
        if isDigit { return self - 48 }
        let letter = lowercasedASCII
        return letter >= 97 && letter <= 102 ? letter - 87 : nil
    }

    /// Tests membership in a set of ASCII characters: bit n of `low` is character n, bit n of `high` is
    /// character 64 + n.
    private func isMember(low: UInt64, high: UInt64) -> Bool {
        if self >= 128 { return false }
        return ((self < 64 ? low : high) >> UInt64(self & 63)) & 1 == 1
    }
}

extension Span<UInt8> {
    /// The range without leading and trailing spaces and tabs.
    package var trimmedRange: Range<Int> {
        var start = 0
        var end = count
        while start < end, self[start].isWhitespace { start += 1 }
        while end > start, self[end - 1].isWhitespace { end -= 1 }
        return start..<end
    }

    package func hasSameBytes(as bytes: [UInt8]) -> Bool {
        guard count == bytes.count else { return false }
        return unsafe withUnsafeBytes { own in
            unsafe bytes.withUnsafeBytes { other in
                var index = 0
                while index + 8 <= own.count {
                    let (left, right) = unsafe (
                        own.loadUnaligned(fromByteOffset: index, as: UInt64.self),
                        other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    )
                    if left != right { return false }
                    index += 8
                }
                while index < own.count {
                    if unsafe own[index] != other[index] { return false }
                    index += 1
                }
                return true
            }
        }
    }

    package func firstIndex(of byte: UInt8) -> Int? {
        for index in 0..<count where self[index] == byte { return index }
        return nil
    }

    /// Whether the bytes equal a text, ignoring ASCII case. The text must be in lower case.
    package func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
        startsIgnoringCase(with: lowercase) && count == lowercase.utf8CodeUnitCount
    }

    /// Whether the bytes begin with a text, ignoring ASCII case. The text must be in lower case.
    package func startsIgnoringCase(with lowercase: StaticString) -> Bool {
        guard count >= lowercase.utf8CodeUnitCount else { return false }
        for index in 0..<lowercase.utf8CodeUnitCount {
            if unsafe self[index].lowercasedASCII != lowercase.utf8Start[index] { return false }
        }
        return true
    }

    /// Calls `body` for each trimmed element of a comma-separated list (RFC 9110 §5.6.1), including empty
    /// elements. Does not support lists with quoted strings.
    package func forEachElement<E: Error>(_ body: (borrowing Span<UInt8>) throws(E) -> Void) throws(E) {
        var start = 0
        for index in 0...count where index == count || self[index] == UInt8(ascii: ",") {
            let element = extracting(start..<index)
            try body(element.extracting(element.trimmedRange))
            start = index + 1
        }
    }

    /// The value of a text that consists only of digits; nil for anything else, including empty text and
    /// overflow.
    package var decimalValue: Int64? {
        if isEmpty { return nil }
        var value: Int64 = 0
        for index in 0..<count {
            guard self[index].isDigit else { return nil }
            let (shifted, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = shifted.addingReportingOverflow(Int64(self[index] - 48))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }
}

extension Collection<UInt8> {
    /// Calls `body` with the bytes in contiguous memory, copying them if necessary.
    package func withSpan<R>(_ body: (borrowing Span<UInt8>) -> R) -> R {
        let result: R? = withContiguousStorageIfAvailable { bytes in unsafe body(bytes.span) }
        if let result { return result }
        let copy = Array(self)
        return body(copy.span)
    }
}

extension [UInt8] {
    /// Whether the bytes are equal. Compares eight bytes at a time, while `==` compares them one by one.
    package func hasSameBytes(as other: [UInt8]) -> Bool { other.span.hasSameBytes(as: self) }

    package init(copying span: borrowing Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
    }

    package mutating func append(copying span: borrowing Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    package mutating func append(_ text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension UInt8 {
    /// The lower-case form of an ASCII letter; other bytes unchanged.
    package var lowercasedASCII: UInt8 { self >= 65 && self <= 90 ? self + 32 : self }
}

extension [UInt8] {
    /// Appends the decimal digits of `value`.
    package mutating func appendDecimal(_ value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        // An Int64 has at most 19 digits.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = value.magnitude
            repeat {
                start -= 1
                unsafe digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            unsafe append(contentsOf: digits[start...])
        }
    }
}
