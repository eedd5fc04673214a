internal import DavitHTTP

/// Brings a document into the one form libxml2 gets to see: UTF-8 without a byte order mark and without a
/// character that XML forbids.
///
/// libxml2 itself would hand other encodings to converters that are loaded from disk, and would take a NUL for the
/// end of the document.
enum XMLInput {
    /// - Parameter charset: the encoding as far as it is known from outside the document.
    /// - Throws: ``XMLError``; also where ``XMLMarkupScan`` finds something that libxml2 must not see.
    static func prepare(
        _ bytes: [UInt8], charset: Charset? = nil, limits: XMLLimits
    ) throws(XMLError) -> [UInt8] {
        guard bytes.count <= min(limits.bytes, Int(Int32.max)) else {
            throw .limitExceeded(.bytes, XMLPosition(line: 0, column: 0))
        }
        // The limit is about what was received; in UTF-8 it can be three times as much.
        let text = try utf8(bytes, charset: charset)
        guard text.count <= Int(Int32.max) else {
            throw .limitExceeded(.bytes, XMLPosition(line: 0, column: 0))
        }
        // A name that means nothing is an error wherever the encoding is known from (XML 1.0 §4.3.3).
        if let label = XMLEncodingDeclaration.label(in: text) { _ = try self.charset(label) }
        if let offset = forbiddenCharacter(in: text) { throw .malformed(XMLPosition(of: offset, in: text)) }
        var scan = XMLMarkupScan(text, attributeLimit: limits.attributes)
        return Array(text[..<(try scan.usefulLength())])
    }

    /// The text without its byte order mark. RFC 7303 §3: a mark decides, then `charset`, then the document itself; XML 1.0
    /// appendix F: UTF-16 without a mark is known by its first `<`, and everything else by its declaration.
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
        // Its declaration could be read, so that it cannot be UTF-16: some programs write that name whatever the encoding.
        case nil, .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian: return try decode(bytes, as: .utf8)
        }
    }

    private static func charset(_ label: ArraySlice<UInt8>) throws(XMLError) -> Charset {
        // By far the most frequent one.
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

    /// Where a character stands that is no `Char` (XML 1.0 §2.2).
    private static func forbiddenCharacter(in text: [UInt8]) -> Int? {
        for offset in text.indices {
            switch text[offset] {
            case 0x09, 0x0A, 0x0D: break
            case 0..<0x20: return offset
            // U+FFFE and U+FFFF; the text is known to be UTF-8.
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
