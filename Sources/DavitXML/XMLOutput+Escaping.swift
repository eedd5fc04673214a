internal import CXML2

extension XMLOutput {
    /// Writes character data. Bytes that are not UTF-8 and characters that XML 1.0 §2.2 forbids become U+FFFD.
    public func escaped(_ text: ArraySlice<UInt8>) {
        if text.allSatisfy(Self.isPlain) { return bytes(text) }
        writeEscaped(Self.permitted(text))
    }

    public func escaped(_ text: [UInt8]) { escaped(text[...]) }

    public func escaped(_ text: String) { escaped(Array(text.utf8)) }

    /// Writes a complete element with ``escaped(_:)-(ArraySlice<UInt8>)`` text.
    public func element(_ prefix: StaticString, _ local: StaticString, escaped text: [UInt8]) {
        if text.allSatisfy(Self.isPlain) { return element(prefix, local, bytes: text) }
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
        if text.allSatisfy({ Self.isPlain($0) && $0 != UInt8(ascii: "\"") }) { return bytes(text) }
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

    /// Whether a byte is printable ASCII that needs no escaping in character data.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">")
            && byte != UInt8(ascii: "&")
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
