/// Finds the end of a line, and refuses what no line of a head may hold.
enum LineScanner {
    enum Result: Equatable {
        /// The line ends with the CR at this index; its LF follows.
        case line(carriageReturn: Int)
        /// No end yet; everything before this index has been looked at.
        case incomplete(resume: Int)
        /// NUL, another control character, a CR without LF or an LF without CR. RFC 9112 §2.2 lets a
        /// recipient take a bare LF as a line end; two servers that differ in this split a message
        /// differently, so it is refused.
        case forbiddenByte
    }

    /// Looks at `bytes[start..<end]`, eight bytes at a time.
    ///
    /// A result depends only on the bytes up to where it was found, never on how they arrived.
    static func scan(_ bytes: borrowing Span<UInt8>, from start: Int, to end: Int) -> Result {
        var index = start
        while let found = firstControl(bytes, from: index, to: end) {
            switch bytes[found] {
            case 9:
                index = found + 1
            case 13:
                if found + 1 >= end { return .incomplete(resume: found) }
                return bytes[found + 1] == 10 ? .line(carriageReturn: found) : .forbiddenByte
            default:
                return .forbiddenByte
            }
        }
        return .incomplete(resume: end)
    }

    private static func firstControl(_ bytes: borrowing Span<UInt8>, from start: Int, to end: Int) -> Int? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        let raw = unsafe bytes.bytes
        while index + 8 <= end {
            let loaded = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: loaded)
            // The lowest bit set in either term is exact; a borrow can only disturb bytes above it.
            let belowSpace = (word &- ones &* 0x20) & ~word
            let delete = word ^ (ones &* 0x7F)
            let hits = (belowSpace | ((delete &- ones) & ~delete)) & (ones &* 0x80)
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end {
            if bytes[index].isControl { return index }
            index += 1
        }
        return nil
    }
}
