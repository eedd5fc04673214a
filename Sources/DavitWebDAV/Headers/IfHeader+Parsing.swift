internal import DavitHTTP

extension IfHeader {
    /// The reason why a field value is refused; offsets are in bytes from the start of the value.
    public enum ParseError: Error, Hashable, Sendable {
        case unexpectedByte(UInt8, offset: Int)
        /// The value ends without the bracket or quote that closes `opening`.
        case unterminated(opening: UInt8, offset: Int)
        /// A required element is missing.
        case empty(offset: Int)
    }

    /// Parses `1*No-tag-list | 1*Tagged-list` (RFC 4918 §10.4.2) in one pass.
    ///
    /// - Parameter bytes: the field value, whose length the head parser has already limited.
    /// - Throws: ``ParseError``; the server responds with 400 without evaluating any condition.
    public init(parsing bytes: Span<UInt8>) throws(ParseError) {
        self.init(lists: [])
        var offset = Self.skipSpaces(bytes, from: 0)
        let isTagged = offset < bytes.count && bytes[offset] == UInt8(ascii: "<")
        var resourceTag: String?
        var tagNeedsList = true

        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "<") where isTagged && (resourceTag == nil || !tagNeedsList):
                resourceTag = try Self.takeURI(in: bytes, at: &offset)
                tagNeedsList = true
            case UInt8(ascii: "("):
                let conditions = try Self.takeConditions(in: bytes, at: &offset)
                lists.append(List(resourceTag: resourceTag, conditions))
                tagNeedsList = false
            case let byte:
                throw .unexpectedByte(byte, offset: offset)
            }
            offset = Self.skipSpaces(bytes, from: offset)
        }
        if tagNeedsList { throw .empty(offset: offset) }
    }

    /// Parses `List = "(" 1*Condition ")"`, `Condition = ["Not"] (State-token | "[" entity-tag "]")`.
    private static func takeConditions(
        in bytes: Span<UInt8>, at offset: inout Int
    ) throws(ParseError) -> [Condition] {
        let opening = offset
        var conditions: [Condition] = []
        var isNegated = false
        offset = skipSpaces(bytes, from: offset + 1)
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "<"):
                let token = try takeURI(in: bytes, at: &offset)
                conditions.append(Condition(.stateToken(token), isNegated: isNegated))
                isNegated = false
            case UInt8(ascii: "["):
                let tag = try takeEntityTag(in: bytes, at: &offset)
                conditions.append(Condition(.entityTag(tag), isNegated: isNegated))
                isNegated = false
            case UInt8(ascii: "N") where !isNegated, UInt8(ascii: "n") where !isNegated:
                try takeNot(in: bytes, at: &offset)
                isNegated = true
            case UInt8(ascii: ")") where !isNegated:
                if conditions.isEmpty { throw .empty(offset: opening) }
                offset += 1
                return conditions
            case let byte:
                throw .unexpectedByte(byte, offset: offset)
            }
            offset = skipSpaces(bytes, from: offset)
        }
        throw .unterminated(opening: UInt8(ascii: "("), offset: opening)
    }

    private static func takeNot(in bytes: Span<UInt8>, at offset: inout Int) throws(ParseError) {
        for letter in ["n", "o", "t"] as [Unicode.Scalar] {
            guard offset < bytes.count else { throw .empty(offset: offset) }
            guard bytes[offset].lowercasedASCII == UInt8(ascii: letter) else {
                throw .unexpectedByte(bytes[offset], offset: offset)
            }
            offset += 1
        }
    }

    /// Parses the text between `<` and `>`. Does not check that the text is a URI, because an invalid URI
    /// matches nothing.
    private static func takeURI(in bytes: Span<UInt8>, at offset: inout Int) throws(ParseError) -> String {
        let opening = offset
        offset += 1
        while offset < bytes.count, isURIByte(bytes[offset]) { offset += 1 }
        guard offset < bytes.count else { throw .unterminated(opening: UInt8(ascii: "<"), offset: opening) }
        guard bytes[offset] == UInt8(ascii: ">") else {
            throw .unexpectedByte(bytes[offset], offset: offset)
        }
        let text = bytes.extracting(opening + 1..<offset)
        if text.isEmpty { throw .empty(offset: opening) }
        offset += 1
        return unsafe text.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Parses `"[" entity-tag "]"`. The quoted text may contain brackets (RFC 9110 §8.8.3), and also spaces,
    /// as in the examples of RFC 4918.
    private static func takeEntityTag(
        in bytes: Span<UInt8>, at offset: inout Int
    ) throws(ParseError) -> EntityTag {
        let opening = offset
        offset = skipSpaces(bytes, from: offset + 1)
        var isWeak = false
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "W") {
            isWeak = true
            offset += 1
            try expect(UInt8(ascii: "/"), in: bytes, at: &offset, opening: opening)
        }
        try expect(UInt8(ascii: "\""), in: bytes, at: &offset, opening: opening)
        let quote = offset - 1
        var opaque: [UInt8] = []
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
            guard bytes[offset] >= 0x20 || bytes[offset] == UInt8(ascii: "\t"), bytes[offset] != 0x7F else {
                throw .unexpectedByte(bytes[offset], offset: offset)
            }
            opaque.append(bytes[offset])
            offset += 1
        }
        guard offset < bytes.count else { throw .unterminated(opening: UInt8(ascii: "\""), offset: quote) }
        offset = skipSpaces(bytes, from: offset + 1)
        try expect(UInt8(ascii: "]"), in: bytes, at: &offset, opening: opening)
        return EntityTag(opaque: opaque, isWeak: isWeak)
    }

    /// - Parameter opening: the offset of the bracket that is unterminated if the value ends here.
    private static func expect(
        _ byte: UInt8, in bytes: Span<UInt8>, at offset: inout Int, opening: Int
    ) throws(ParseError) {
        guard offset < bytes.count else { throw .unterminated(opening: bytes[opening], offset: opening) }
        guard bytes[offset] == byte else { throw .unexpectedByte(bytes[offset], offset: offset) }
        offset += 1
    }

    private static func skipSpaces(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var offset = start
        while offset < bytes.count,
            bytes[offset] == UInt8(ascii: " ") || bytes[offset] == UInt8(ascii: "\t")
        {
            offset += 1
        }
        return offset
    }

    /// Whether a byte may occur between angle brackets. Bytes outside ASCII are accepted, because some
    /// clients do not encode them.
    static func isURIByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">")
    }
}
