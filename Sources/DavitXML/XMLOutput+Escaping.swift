internal import CXML2

extension XMLOutput {
    /// Writes character data. Bytes that are not UTF-8 and characters that XML 1.0 §2.2 forbids become U+FFFD.
    public func escaped(_ text: ArraySlice<UInt8>) {
        if isPlain(text.span) { return bytes(text) }
        writeEscaped(Self.permitted(text))
    }

    public func escaped(_ text: [UInt8]) { escaped(text[...]) }

    public func escaped(_ text: String) { escaped(Array(text.utf8)) }

    /// Writes a complete element with ``escaped(_:)-(ArraySlice<UInt8>)`` text.
    @inlinable @inline(__always)
    public func element(_ prefix: StaticString, _ local: StaticString, escaped text: [UInt8]) {
        if isPlain(text.span) {
            element(prefix, local, bytes: text)
        } else {
            elementWithEscapes(prefix, local, text)
        }
    }

    @inline(never) @usableFromInline
    func elementWithEscapes(_ prefix: StaticString, _ local: StaticString, _ text: [UInt8]) {
        markup("<")
        markup(prefix)
        markup(local)
        markup(">")
        writeEscaped(Self.permitted(text[...]))
        markup("</")
        markup(prefix)
        markup(local)
        markup(">")
    }

    /// Writes the value of an attribute, without the enclosing double quotes, so that a parser restores the
    /// same characters. Invalid bytes are treated as in ``escaped(_:)-(ArraySlice<UInt8>)``.
    public func attributeValue(_ text: String) {
        let text = Array(text.utf8)
        if isPlain(text.span), !text.contains(UInt8(ascii: "\"")) { return bytes(text) }
        guard let buffer = unsafe xmlBufferCreate() else { fatalError("libxml2 is out of memory") }
        defer { unsafe xmlBufferFree(buffer) }
        unsafe Self.permitted(text[...]).withUnsafeBufferPointer {
            unsafe xmlAttrSerializeTxtContent(buffer, nil, nil, $0.baseAddress)
        }
        guard let content = unsafe xmlBufferContent(buffer) else { return }
        unsafe withHandle {
            unsafe xmlOutputBufferWriteString(
                $0, UnsafeRawPointer(content).assumingMemoryBound(to: CChar.self))
        }
    }

    /// Whether all bytes are printable ASCII that needs no escaping in character data.
    // Not static: a method is inlined into other modules only if it calls no static method that is not inlined itself.
    @usableFromInline
    func isPlain(_ text: borrowing Span<UInt8>) -> Bool {
        let bytes = unsafe text.bytes
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            let eight = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard Self.isPlain(eight) else { return false }
            offset += 8
        }
        // The remaining bytes, after letters.
        var rest = Self.ones &* UInt64(UInt8(ascii: "a"))
        while offset < bytes.byteCount {
            rest = rest << 8 | UInt64(text[offset])
            offset += 1
        }
        return Self.isPlain(rest)
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits = 0x80 &* ones

    /// Same as ``isPlain(_:)-(Span<UInt8>)``, for 8 bytes together. `below` sets the high bit of each byte that is below the
    /// limit. It may also set that of higher bytes, but only if it sets at least one correctly.
    @inline(__always)
    private static func isPlain(_ eight: UInt64) -> Bool {
        func below(_ bytes: UInt64, _ limit: UInt8) -> UInt64 { (bytes &- ones &* UInt64(limit)) & ~bytes }
        func equal(_ byte: UInt8) -> UInt64 { below(eight ^ ones &* UInt64(byte), 1) }
        let unsuitable =
            eight | below(eight, 0x20) | equal(0x7F) | equal(UInt8(ascii: "<")) | equal(UInt8(ascii: ">"))
            | equal(UInt8(ascii: "&"))
        return unsuitable & highBits == 0
    }

    /// Returns the text as valid UTF-8 with only characters that XML permits, followed by a NUL.
    private static func permitted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var permitted: [UInt8] = []
        permitted.reserveCapacity(text.count + 1)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            let encoded = isPermitted(scalar) ? UTF8.encode(scalar) : nil
            permitted.append(contentsOf: encoded ?? UTF8.encodedReplacementCharacter)
        }
        permitted.append(0)
        return permitted
    }

    /// Whether a scalar is a `Char` of XML 1.0 §2.2; surrogates are not Unicode scalars.
    private static func isPermitted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0..<0x20, 0xFFFE, 0xFFFF: false
        default: true
        }
    }

    /// - Parameter text: NUL-terminated and not empty.
    private func writeEscaped(_ text: [UInt8]) {
        unsafe text.withUnsafeBufferPointer { text in
            unsafe withHandle { unsafe xmlOutputBufferWriteEscape($0, text.baseAddress, nil) }
        }
    }
}
