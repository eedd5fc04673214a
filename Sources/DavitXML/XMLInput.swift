/// Brings a document into the one form libxml2 gets to see: UTF-8 without a byte order mark and without a
/// character that XML forbids.
///
/// libxml2 itself would hand other encodings to converters that are loaded from disk, and would take a NUL for the
/// end of the document.
enum XMLInput {
    /// - Throws: ``XMLError``; also where ``XMLMarkupScan`` finds something that libxml2 must not see.
    static func prepare(_ bytes: [UInt8], limits: XMLLimits) throws(XMLError) -> [UInt8] {
        guard bytes.count <= min(limits.bytes, Int(Int32.max)) else {
            throw .limitExceeded(.bytes, XMLPosition(line: 0, column: 0))
        }
        let text = try utf8(bytes)
        if let offset = forbiddenCharacter(in: text) { throw .malformed(XMLPosition(of: offset, in: text)) }
        var scan = XMLMarkupScan(text, attributeLimit: limits.attributes)
        return Array(text[..<(try scan.usefulLength())])
    }

    /// XML 1.0 appendix F: UTF-16 is known by its mark or by its first `<`; everything else must be UTF-8.
    /// Other encodings need not be understood (XML 1.0 §4.3.3), and no client is known to use one.
    private static func utf8(_ bytes: [UInt8]) throws(XMLError) -> [UInt8] {
        let start = bytes.prefix(4)
        if start.starts(with: [0xFE, 0xFF]) { return try utf8(fromUTF16: bytes[2...], isBigEndian: true) }
        if start.starts(with: [0xFF, 0xFE]) { return try utf8(fromUTF16: bytes[2...], isBigEndian: false) }
        if start.starts(with: [0, 0x3C]) { return try utf8(fromUTF16: bytes[...], isBigEndian: true) }
        if start.starts(with: [0x3C, 0]) { return try utf8(fromUTF16: bytes[...], isBigEndian: false) }
        let text = start.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes[3...]) : bytes
        guard String(validating: text, as: UTF8.self) != nil else {
            throw .malformed(XMLPosition(line: 0, column: 0))
        }
        return text
    }

    private static func utf8(
        fromUTF16 bytes: ArraySlice<UInt8>, isBigEndian: Bool
    ) throws(XMLError) -> [UInt8] {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
            throw .malformed(XMLPosition(line: 0, column: 0))
        }
        return Array(text.utf8)
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
