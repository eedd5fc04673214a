extension EntityTag {
    /// Parses `[ "W/" ] DQUOTE *etagc DQUOTE` (RFC 9110 §8.8.3); returns nil for anything else, including a
    /// tag with text before or after it.
    public static func parse(_ bytes: borrowing Span<UInt8>) -> EntityTag? {
        var index = 0
        guard let tag = parse(bytes, at: &index), index == bytes.count else { return nil }
        return tag
    }

    /// Parses the tag that starts at `index` and advances `index` past it.
    package static func parse(_ bytes: borrowing Span<UInt8>, at index: inout Int) -> EntityTag? {
        var start = index
        var isWeak = false
        if start + 1 < bytes.count, bytes[start] == UInt8(ascii: "W"), bytes[start + 1] == UInt8(ascii: "/") {
            isWeak = true
            start += 2
        }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
        start += 1
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            // etagc: visible ASCII except the quote, and obs-text.
            guard bytes[end] > 32, bytes[end] != 127 else { return nil }
            end += 1
        }
        guard end < bytes.count else { return nil }
        index = end + 1
        return EntityTag(opaque: [UInt8](copying: bytes.extracting(start..<end)), isWeak: isWeak)
    }
}

/// The value of If-Match and If-None-Match (RFC 9110 §13.1.1, §13.1.2).
public enum EntityTagList: Hashable, Sendable {
    /// `*`: any current representation.
    case any
    /// A non-empty list of tags.
    case tags([EntityTag])

    /// Parses `"*" / #entity-tag`; returns nil for anything else, including an empty list.
    public static func parse(_ bytes: borrowing Span<UInt8>) -> EntityTagList? {
        if bytes.count == 1, bytes[0] == UInt8(ascii: "*") { return .any }
        var tags: [EntityTag] = []
        var index = 0
        var needsComma = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: ",") {
                needsComma = false
                index += 1
            } else if byte.isWhitespace {
                index += 1
            } else {
                guard !needsComma, let tag = EntityTag.parse(bytes, at: &index) else { return nil }
                tags.append(tag)
                needsComma = true
            }
        }
        return tags.isEmpty ? nil : .tags(tags)
    }
}
