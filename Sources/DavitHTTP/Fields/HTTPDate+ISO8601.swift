extension HTTPDate {
    /// Parses `date-time` of RFC 3339 §5.6, used by `creationdate` (RFC 4918 §15.1):
    /// `2026-11-21T17:53:08.5+01:00`.
    ///
    /// Ignores the case of letters and treats a leap second as the following second. Returns nil for anything
    /// else, and for years that are not entirely within the range of ``Timestamp``.
    public static func parseISO8601(_ text: borrowing Span<UInt8>) -> Timestamp? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10].lowercasedASCII == UInt8(ascii: "t"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"),
            let year = digits(text, 0..<4), let month = digits(text, 5..<7), let day = digits(text, 8..<10),
            let hour = digits(text, 11..<13), let minute = digits(text, 14..<16),
            let second = digits(text, 17..<19),
            (1678...2261).contains(year),
            let time = CivilTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var index = 19
        var nanoseconds: Int64 = 0
        if text[index] == UInt8(ascii: ".") {
            let start = index + 1
            index = start
            while index < text.count, text[index].isDigit { index += 1 }
            guard index > start, let value = digits(text, start..<min(index, start + 9)) else { return nil }
            nanoseconds = value
            for _ in min(index - start, 9)..<9 { nanoseconds *= 10 }
        }
        guard let offset = offset(text, from: index) else { return nil }
        let seconds = time.timestamp.seconds - offset
        return Timestamp(nanoseconds: Timestamp(seconds: seconds).nanoseconds &+ nanoseconds)
    }

    /// Parses `Z`, or an offset in hours and minutes; returns seconds east of UTC.
    private static func offset(_ text: borrowing Span<UInt8>, from start: Int) -> Int64? {
        guard start < text.count else { return nil }
        if text.count == start + 1 { return text[start].lowercasedASCII == UInt8(ascii: "z") ? 0 : nil }
        guard text.count == start + 6, text[start + 3] == UInt8(ascii: ":"),
            let hours = digits(text, start + 1..<start + 3),
            let minutes = digits(text, start + 4..<start + 6),
            hours < 24, minutes < 60
        else { return nil }
        switch text[start] {
        case UInt8(ascii: "+"): return hours * 3600 + minutes * 60
        case UInt8(ascii: "-"): return -(hours * 3600 + minutes * 60)
        default: return nil
        }
    }

    private static func digits(_ text: borrowing Span<UInt8>, _ range: Range<Int>) -> Int64? {
        text.extracting(range).decimalValue
    }
}
