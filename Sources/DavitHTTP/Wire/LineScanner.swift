/// Finds the end of a line and rejects bytes not allowed in a head.
enum LineScanner {
    enum Result: Equatable {
        /// The line ends with the CR at this index; its LF follows.
        case line(carriageReturn: Int)
        /// No line end found; all bytes before this index have been scanned.
        case incomplete(resume: Int)
        /// NUL, another control character, a CR without LF or an LF without CR. RFC 9112 §2.2 allows
        /// recipients to accept a bare LF as a line terminator, but servers that disagree on this split
        /// messages differently, so it is rejected.
        case forbiddenByte
    }

    /// Scans `bytes[start..<end]` eight bytes at a time.
    ///
    /// The result depends only on the bytes up to the position that it reports, not on how they were
    /// received.
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
            // The lowest bit set in either term is exact; a borrow affects only bytes above it.
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
