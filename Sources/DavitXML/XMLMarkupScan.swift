/// Scans the markup of a document before libxml2 does, for constructs that cost libxml2 more than linear
/// time.
///
/// libxml2 compares each attribute of an element with all others, continues after most errors, and copies a
/// comment for each error in it. The scan therefore counts attributes, and refuses documents with errors
/// after which its view of the markup would differ from that of libxml2: a `<` that does not start markup or
/// is inside a tag, and `--` in a comment. It is not a parser: documents that pass can still be malformed.
struct XMLMarkupScan {
    private let text: [UInt8]
    private let attributeLimit: Int
    private var offset = 0

    /// The number of bytes of a document type declaration that are parsed. The document is refused in any
    /// case; parsing determines the error.
    private static let declarationLength = 8192

    init(_ text: [UInt8], attributeLimit: Int) {
        self.text = text
        self.attributeLimit = attributeLimit
    }

    /// Returns how many bytes to pass to libxml2: all of them, unless there is a document type declaration.
    mutating func usefulLength() throws(XMLError) -> Int {
        while let open = text[offset...].firstIndex(of: UInt8(ascii: "<")) {
            offset = open + 1
            switch offset < text.count ? text[offset] : 0 {
            case UInt8(ascii: "!"):
                if text[offset...].starts(with: "!--".utf8) {
                    try skipComment(from: open)
                } else if text[offset...].starts(with: "![CDATA[".utf8) {
                    skip(to: "]]>", from: open + 9)
                } else {
                    return min(text.count, open + Self.declarationLength)
                }
            case UInt8(ascii: "?"):
                if hasPlainTarget() { skip(to: "?>", from: open + 2) }
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"), UInt8(ascii: "/"), 0x80...0xFF:
                try skipTag(from: open)
            default:
                throw malformed(at: open)
            }
        }
        return text.count
    }

    /// Skips to the end of a tag and counts its quoted values. libxml2 reports an unterminated tag.
    private mutating func skipTag(from open: Int) throws(XMLError) {
        var attributeCount = 0
        var quote: UInt8?
        while offset < text.count {
            let byte = text[offset]
            if byte == UInt8(ascii: "<") { throw malformed(at: offset) }
            offset += 1
            if let opening = quote {
                if byte == opening { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                attributeCount += 1
                if attributeCount > attributeLimit {
                    throw .limitExceeded(.attributes, XMLPosition(of: open, in: text))
                }
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    /// Skips a comment. XML 1.0 §2.5: it must not contain `--`.
    private mutating func skipComment(from open: Int) throws(XMLError) {
        skip(to: "--", from: open + 4)
        guard offset < text.count else { return }
        guard text[offset] == UInt8(ascii: ">") else { throw malformed(at: offset - 2) }
        offset += 1
    }

    /// Whether libxml2 is certain to parse this processing instruction to its end, because the instruction
    /// has a short ASCII target and is not the XML declaration. The content of other instructions is scanned
    /// as markup.
    private func hasPlainTarget() -> Bool {
        let target = text[(offset + 1)...].prefix(65).prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard (1...64).contains(target.count), target.endIndex < text.count else { return false }
        if target.elementsEqual("xml".utf8) { return false }
        return [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "?")].contains(text[target.endIndex])
    }

    /// Skips past the first `mark` after `start`, or to the end of the text.
    private mutating func skip(to mark: StaticString, from start: Int) {
        let mark = Array(mark.description.utf8)
        offset = start
        while offset < text.count, let found = text[offset...].firstIndex(of: mark[0]) {
            offset = found + 1
            if text[found...].starts(with: mark) {
                offset = found + mark.count
                return
            }
        }
        offset = text.count
    }

    private func malformed(at offset: Int) -> XMLError { .malformed(XMLPosition(of: offset, in: text)) }
}
