/// Finds the encoding declaration (XML 1.0 §4.3.3) in the undecoded bytes of a document: all encodings that
/// require a declaration represent it in ASCII.
enum XMLEncodingDeclaration {
    /// Returns the name of the encoding as sent; nil if there is no XML declaration, if it does not specify
    /// an encoding, or if it is malformed, which the parser reports.
    static func label(in text: [UInt8]) -> ArraySlice<UInt8>? {
        let opening: StaticString = "<?xml"
        guard text.count > opening.utf8CodeUnitCount, text.starts(with: opening.description.utf8),
            isSpace(text[opening.utf8CodeUnitCount])
        else { return nil }
        var offset = opening.utf8CodeUnitCount
        while let (name, value) = attribute(in: text, &offset) {
            if name.elementsEqual("encoding".utf8) { return value }
        }
        return nil
    }

    /// Parses `Name Eq AttValue` with preceding white space; returns nil for anything else.
    private static func attribute(
        in text: [UInt8], _ offset: inout Int
    ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        skipSpaces(in: text, &offset)
        let name = text[offset...].prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        offset = name.endIndex
        skipSpaces(in: text, &offset)
        guard !name.isEmpty, offset < text.count, text[offset] == UInt8(ascii: "=") else { return nil }
        offset += 1
        skipSpaces(in: text, &offset)
        guard offset < text.count, text[offset] == UInt8(ascii: "\"") || text[offset] == UInt8(ascii: "'")
        else {
            return nil
        }
        let quote = text[offset]
        let value = text[(offset + 1)...].prefix { $0 != quote }
        guard value.endIndex < text.count, text[value.endIndex] == quote else { return nil }
        offset = value.endIndex + 1
        return (name, value)
    }

    private static func skipSpaces(in text: [UInt8], _ offset: inout Int) {
        while offset < text.count, isSpace(text[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
