/// Date formats of HTTP and WebDAV (RFC 9110 §5.6.7, RFC 4918 §15.1), and of logs. Times are formatted in
/// whole seconds, except in logs with milliseconds. All formats are independent of the locale.
public enum HTTPDate {
    private static let weekdays: StaticString = "SunMonTueWedThuFriSat"
    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"

    /// Returns a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func imf(_ timestamp: Timestamp) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(29)
        appendIMF(timestamp, to: &text)
        return text
    }

    /// Appends the result of ``imf(_:)``, 29 bytes.
    public static func appendIMF(_ timestamp: Timestamp, to buffer: inout [UInt8]) {
        let time = CivilTime(timestamp)
        append(29, to: &buffer) { text in
            text.append(name: CivilTime.weekday(of: timestamp), of: weekdays)
            text.append(", ")
            text.append(twoDigits: time.day)
            text.append(" ")
            text.append(name: Int(time.month) - 1, of: months)
            text.append(" ")
            text.append(year: time.year)
            text.append(" ")
            text.append(timeOf: time)
            text.append(" GMT")
        }
    }

    /// Returns a date such as `1994-11-06T08:49:37Z` (RFC 3339), for `creationdate`.
    public static func iso8601(_ timestamp: Timestamp) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(20)
        appendISO8601(timestamp, to: &text)
        return text
    }

    /// Appends the result of ``iso8601(_:)``, 20 bytes.
    public static func appendISO8601(_ timestamp: Timestamp, to buffer: inout [UInt8]) {
        let time = CivilTime(timestamp)
        append(20, to: &buffer) { text in
            text.append(isoOf: time)
            text.append("Z")
        }
    }

    /// Appends `1994-11-06T08:49:37.123Z`, 24 bytes, for logs.
    package static func appendISO8601WithMilliseconds(_ timestamp: Timestamp, to buffer: inout [UInt8]) {
        let time = CivilTime(timestamp)
        let fraction = timestamp.nanoseconds % 1_000_000_000
        let milliseconds = (fraction < 0 ? fraction + 1_000_000_000 : fraction) / 1_000_000
        append(24, to: &buffer) { text in
            text.append(isoOf: time)
            text.append(".")
            text.append(digit: milliseconds / 100)
            text.append(twoDigits: milliseconds)
            text.append("Z")
        }
    }

    /// Appends a date in the Common Log Format such as `06/Nov/1994:08:49:37 +0000`, 26 bytes.
    package static func appendLogTime(_ timestamp: Timestamp, to buffer: inout [UInt8]) {
        let time = CivilTime(timestamp)
        append(26, to: &buffer) { text in
            text.append(twoDigits: time.day)
            text.append("/")
            text.append(name: Int(time.month) - 1, of: months)
            text.append("/")
            text.append(year: time.year)
            text.append(":")
            text.append(timeOf: time)
            text.append(" +0000")
        }
    }

    /// Appends exactly `count` bytes, which `write` must append to its argument.
    @inline(__always)
    private static func append(_ count: Int, to buffer: inout [UInt8], _ write: (inout DateText) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { room in
            var text = unsafe DateText(room: room)
            write(&text)
            precondition(text.count == count)
            unsafe buffer.append(contentsOf: UnsafeBufferPointer(room))
        }
    }

    /// The text of a date, in memory of a fixed size: unlike an array, it never grows, so that appending a
    /// byte requires only a bounds check.
    @safe private struct DateText {
        let room: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(room: UnsafeMutableBufferPointer<UInt8>) { unsafe self.room = unsafe room }

        mutating func append(_ byte: UInt8) {
            precondition(unsafe count < room.count)
            unsafe room.initializeElement(at: count, to: byte)
            count += 1
        }

        mutating func append(_ literal: StaticString) {
            for index in 0..<literal.utf8CodeUnitCount { unsafe append(literal.utf8Start[index]) }
        }

        mutating func append(digit: Int64) { append(UInt8(truncatingIfNeeded: 48 + digit % 10)) }

        mutating func append(twoDigits number: Int64) {
            append(digit: number / 10)
            append(digit: number)
        }

        mutating func append(year: Int64) {
            append(twoDigits: year / 100)
            append(twoDigits: year)
        }

        mutating func append(name index: Int, of names: StaticString) {
            for offset in 0..<3 { unsafe append(names.utf8Start[index * 3 + offset]) }
        }

        mutating func append(timeOf time: CivilTime) {
            append(twoDigits: time.hour)
            append(":")
            append(twoDigits: time.minute)
            append(":")
            append(twoDigits: time.second)
        }

        mutating func append(isoOf time: CivilTime) {
            append(year: time.year)
            append("-")
            append(twoDigits: time.month)
            append("-")
            append(twoDigits: time.day)
            append("T")
            append(timeOf: time)
        }
    }

    /// Parses any of the three formats of RFC 9110 §5.6.7; returns nil for other formats and invalid dates.
    /// The weekday must be a valid name but need not match the date.
    ///
    /// - Parameter now: determines the century of an RFC 850 date: the latest year that is at most 50 years
    ///   in the future.
    public static func parse(_ bytes: borrowing Span<UInt8>, now: Timestamp) -> Timestamp? {
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else { return parseAsctime(bytes) }
        if comma == 3 { return parseIMF(bytes) }
        return parseRFC850(bytes, comma: comma, now: now)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func parseIMF(_ text: borrowing Span<UInt8>) -> Timestamp? {
        guard text.count == 29, name(at: 0, of: text, in: weekdays) != nil,
            matches(text, at: 3, ", "), text[7] == 32, text[11] == 32, text[16] == 32,
            matches(text, at: 25, " GMT"),
            let day = number(text, 5, 2), let month = name(at: 8, of: text, in: months),
            let year = number(text, 12, 4)
        else { return nil }
        return civil(year: year, month: month, day: day, text, timeAt: 17)?.timestamp
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func parseRFC850(
        _ text: borrowing Span<UInt8>, comma: Int, now: Timestamp
    ) -> Timestamp? {
        guard text.count == comma + 24, isLongWeekday(text, length: comma),
            matches(text, at: comma, ", "), text[comma + 4] == 45, text[comma + 8] == 45,
            text[comma + 11] == 32, matches(text, at: comma + 20, " GMT"),
            let day = number(text, comma + 2, 2), let month = name(at: comma + 5, of: text, in: months),
            let shortYear = number(text, comma + 9, 2)
        else { return nil }
        let current = CivilTime(now)
        var limit = current
        limit.year += 50
        // Try the next century first and take the latest year that is not too far in the future.
        for century in [1, 0, -1] as [Int64] {
            let year = (current.year / 100 + century) * 100 + shortYear
            guard let time = civil(year: year, month: month, day: day, text, timeAt: comma + 12) else {
                continue
            }
            if time.seconds <= limit.seconds { return time.timestamp }
        }
        return nil
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private static func parseAsctime(_ text: borrowing Span<UInt8>) -> Timestamp? {
        guard text.count == 24, name(at: 0, of: text, in: weekdays) != nil, text[3] == 32,
            let month = name(at: 4, of: text, in: months), text[7] == 32, text[10] == 32, text[19] == 32,
            let day = text[8] == 32 ? number(text, 9, 1) : number(text, 8, 2),
            let year = number(text, 20, 4)
        else { return nil }
        return civil(year: year, month: month, day: day, text, timeAt: 11)?.timestamp
    }

    /// Combines a parsed date with `hour ":" minute ":" second` at `start`.
    private static func civil(
        year: Int64, month: Int, day: Int64, _ text: borrowing Span<UInt8>, timeAt start: Int
    ) -> CivilTime? {
        guard text[start + 2] == 58, text[start + 5] == 58, let hour = number(text, start, 2),
            let minute = number(text, start + 3, 2), let second = number(text, start + 6, 2)
        else { return nil }
        return CivilTime(
            year: year, month: Int64(month + 1), day: day, hour: hour, minute: minute, second: second)
    }

    /// Parses exactly `count` digits.
    private static func number(_ text: borrowing Span<UInt8>, _ start: Int, _ count: Int) -> Int64? {
        text.extracting(start..<start + count).decimalValue
    }

    private static func matches(
        _ text: borrowing Span<UInt8>, at start: Int, _ literal: StaticString
    ) -> Bool {
        for index in 0..<literal.utf8CodeUnitCount {
            if unsafe text[start + index] != literal.utf8Start[index] { return false }
        }
        return true
    }

    /// Returns the index of the three-letter name at `start`. Names are case-sensitive (§5.6.7).
    private static func name(
        at start: Int, of text: borrowing Span<UInt8>, in names: StaticString
    ) -> Int? {
        for index in 0..<names.utf8CodeUnitCount / 3 {
            let name = unsafe names.utf8Start + index * 3
            if unsafe text[start] == name[0] && text[start + 1] == name[1] && text[start + 2] == name[2] {
                return index
            }
        }
        return nil
    }

    private static func isLongWeekday(_ text: borrowing Span<UInt8>, length: Int) -> Bool {
        let names: [StaticString] = [
            "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
        ]
        for name in names where name.utf8CodeUnitCount == length && matches(text, at: 0, name) { return true }
        return false
    }
}

extension HTTPFields {
    /// Appends a field with a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public mutating func append(_ name: FieldName, _ date: Timestamp) {
        append(name) { HTTPDate.appendIMF(date, to: &$0) }
    }
}
