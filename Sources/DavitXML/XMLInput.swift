internal import DavitHTTP

/// Converts a document to the only form that is passed to libxml2: UTF-8 without a byte order mark and
/// without characters that XML forbids.
///
/// libxml2 itself would load converters for other encodings from disk, and would treat a NUL as the end of
/// the document.
enum XMLInput {
    /// - Parameter charset: the externally specified encoding, if any.
    /// - Throws: ``XMLError``, including when ``XMLMarkupScan`` finds something that must not be passed to
    ///   libxml2.
    static func prepare(
        _ bytes: [UInt8], charset: Charset? = nil, limits: XMLLimits
    ) throws(XMLError) -> [UInt8] {
        guard bytes.count <= min(limits.bytes, Int(Int32.max)) else {
            throw .limitExceeded(.bytes, XMLPosition(line: 0, column: 0))
        }
        // The limit applies to the received bytes; the UTF-8 form can be three times as long.
        let text = try utf8(bytes, charset: charset)
        guard text.count <= Int(Int32.max) else {
            throw .limitExceeded(.bytes, XMLPosition(line: 0, column: 0))
        }
        // An unknown encoding name is an error even if the encoding is specified externally (XML 1.0 §4.3.3).
        if let label = XMLEncodingDeclaration.label(in: text) { _ = try self.charset(label) }
        if let offset = forbiddenCharacter(in: text) { throw .malformed(XMLPosition(of: offset, in: text)) }
        var scan = XMLMarkupScan(text, attributeLimit: limits.attributes)
        return Array(text[..<(try scan.usefulLength())])
    }

    /// Decodes the text and removes its byte order mark. RFC 7303 §3: the mark takes precedence, then
    /// `charset`, then the document itself. XML 1.0 appendix F: UTF-16 without a mark is detected by its
    /// first `<`, every other encoding by its declaration.
    private static func utf8(_ bytes: [UInt8], charset: Charset?) throws(XMLError) -> [UInt8] {
        let start = bytes.prefix(4)
        if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            return try decode(bytes, as: .utf16)
        }
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return try decode(Array(bytes[3...]), as: .utf8) }
        if let charset, charset != .utf16 { return try decode(bytes, as: charset) }
        if start.starts(with: [0, 0x3C]) { return try decode(bytes, as: .utf16BigEndian) }
        if start.starts(with: [0x3C, 0]) { return try decode(bytes, as: .utf16LittleEndian) }
        if let charset { return try decode(bytes, as: charset) }
        let declared = try XMLEncodingDeclaration.label(in: bytes).map { (label) throws(XMLError) in
            try self.charset(label)
        }
        switch declared {
        case .usASCII, .latin1, .windows1252: return try decode(bytes, as: declared ?? .utf8)
        // The declaration was readable as bytes, so the encoding cannot be UTF-16, even though some programs
        // always declare it.
        case nil, .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian: return try decode(bytes, as: .utf8)
        }
    }

    private static func charset(_ label: ArraySlice<UInt8>) throws(XMLError) -> Charset {
        // UTF-8 is by far the most common encoding.
        if label.elementsEqual("utf-8".utf8) || label.elementsEqual("UTF-8".utf8) { return .utf8 }
        do { return try Charset(label: Array(label)) } catch {
            throw .malformed(XMLPosition(line: 1, column: 0))
        }
    }

    private static func decode(_ bytes: [UInt8], as charset: Charset) throws(XMLError) -> [UInt8] {
        if charset == .utf8, String(validating: bytes, as: UTF8.self) != nil { return bytes }
        do {
            let text = try charset.decode(bytes)
            return Array(text.utf8)
        } catch {
            throw .malformed(XMLPosition(line: 0, column: 0))
        }
    }

    /// Returns the offset of the first character that is not a `Char` (XML 1.0 §2.2).
    private static func forbiddenCharacter(in text: [UInt8]) -> Int? {
        for offset in text.indices {
            switch text[offset] {
            case 0x09, 0x0A, 0x0D: break
            case 0..<0x20: return offset
            // U+FFFE and U+FFFF; the text is known to be valid UTF-8.
            case 0xEF where text[offset + 1] == 0xBF && text[offset + 2] >= 0xBE: return offset
            default: break
            }
        }
        return nil
    }
}

extension XMLPosition {
    init(of offset: Int, in text: [UInt8]) {
        let before = text[..<offset]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        self.init(line: line, column: offset - lineStart + 1)
    }
}
