internal import DavitHTTP

extension [UInt8] {
    /// Appends a byte: printable ASCII unchanged, all other bytes and the backslash as `\xNN`.
    mutating func appendEscaped(_ byte: UInt8) {
        if byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\\") {
            append(byte)
        } else {
            append(UInt8(ascii: "\\"))
            append(UInt8(ascii: "x"))
            append(HexText.digit(byte >> 4))
            append(HexText.digit(byte & 15))
        }
    }

    /// Appends a metadata value, in quotes if it is empty or contains a quote or a byte below 0x21.
    mutating func appendValue(_ bytes: some Collection<UInt8>) {
        let needsQuotes = bytes.isEmpty || bytes.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") }
        if needsQuotes { append(UInt8(ascii: "\"")) }
        for byte in bytes {
            if byte == UInt8(ascii: "\"") {
                append(contentsOf: #"\x22"#.utf8)
            } else {
                appendEscaped(byte)
            }
        }
        if needsQuotes { append(UInt8(ascii: "\"")) }
    }

    /// Appends a time in the form `2026-01-02T03:04:05.678Z`.
    mutating func appendTimestamp(nanoseconds: Int64) {
        let milliseconds = nanoseconds / 1_000_000
        let seconds = milliseconds / 1000
        let (year, month, day) = Self.civilDate(daysSinceEpoch: seconds / 86_400)
        appendDigits(year, count: 4)
        append(UInt8(ascii: "-"))
        appendDigits(month, count: 2)
        append(UInt8(ascii: "-"))
        appendDigits(day, count: 2)
        append(UInt8(ascii: "T"))
        appendDigits(seconds / 3600 % 24, count: 2)
        append(UInt8(ascii: ":"))
        appendDigits(seconds / 60 % 60, count: 2)
        append(UInt8(ascii: ":"))
        appendDigits(seconds % 60, count: 2)
        append(UInt8(ascii: "."))
        appendDigits(milliseconds % 1000, count: 3)
        append(UInt8(ascii: "Z"))
    }

    private mutating func appendDigits(_ number: Int64, count: Int) {
        var divisor: Int64 = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    /// Returns the Gregorian date of a day counted from 1970-01-01, computed in eras of 400 years that begin
    /// in March.
    private static func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}
