import DavitHTTP
import Testing

struct HTTPDateTests {
    static let now = Timestamp(seconds: 1_767_322_800)  // 2026-01-02T03:00:00Z

    static func parse(_ text: String, now: Timestamp = now) -> Timestamp? {
        HTTPDate.parse(Array(text.utf8).span, now: now)
    }

    /// RFC 9110 §5.6.7.
    static let dates: [(text: String, seconds: Int64)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Sat Jan 17 00:00:00 2026", 1_768_608_000),
        // A leap second is treated as the following second.
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        // The weekday must be a valid name but is not checked.
        ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ]

    @Test(arguments: dates)
    func validDatesAreParsed(text: String, seconds: Int64) {
        #expect(Self.parse(text) == Timestamp(seconds: seconds))
    }

    @Test(arguments: [
        "", ",", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov 006 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun, +6 Nov 1994 08:49:37 GMT", "784111777",
        "1994-11-06T08:49:37Z",
    ])
    func invalidDatesAreRefused(text: String) { #expect(Self.parse(text) == nil) }

    @Test func everyTruncationIsRefused() {
        for (text, _) in Self.dates {
            for count in 0..<text.utf8.count { #expect(Self.parse(String(text.prefix(count))) == nil) }
        }
    }

    /// The century of a two-digit year: the latest year at most 50 years in the future.
    static let centuries: [(year: String, now: String, parsed: String)] = [
        ("94", "2026-01-02T03:00:00Z", "1994"), ("26", "2026-01-02T03:00:00Z", "2026"),
        ("75", "2026-01-02T03:00:00Z", "2075"), ("77", "2026-01-02T03:00:00Z", "1977"),
        ("10", "2090-01-02T03:00:00Z", "2110"), ("99", "1999-12-31T23:59:59Z", "1999"),
        ("00", "1999-12-31T23:59:59Z", "2000"),
    ]

    @Test(arguments: centuries)
    func twoDigitYearsAreAtMost50YearsAhead(year: String, now: String, parsed: String) throws {
        let nowYear = try #require(Int64(now.prefix(4)))
        // The instant within the year is irrelevant here; `fiftyYearsAreExactToTheSecond` tests it.
        let instant = Timestamp(seconds: (nowYear - 1970) * 31_556_952 + 86_400)
        let time = try #require(Self.parse("Sunday, 06-Nov-\(year) 08:49:37 GMT", now: instant))
        #expect(text(HTTPDate.iso8601(time)).hasPrefix(parsed))
    }

    @Test func fiftyYearsAreExactToTheSecond() throws {
        let now = try #require(Self.parse("Fri, 02 Jan 2026 03:00:00 GMT"))
        let within = try #require(Self.parse("Thursday, 02-Jan-76 03:00:00 GMT", now: now))
        let beyond = try #require(Self.parse("Thursday, 02-Jan-76 03:00:01 GMT", now: now))
        #expect(text(HTTPDate.iso8601(within)) == "2076-01-02T03:00:00Z")
        #expect(text(HTTPDate.iso8601(beyond)) == "1976-01-02T03:00:01Z")
    }

    @Test func datesBeyondTheRangeAreClamped() throws {
        let late = try #require(Self.parse("Fri, 31 Dec 9999 23:59:59 GMT"))
        #expect(late.seconds == Int64.max / 1_000_000_000)
        let early = try #require(Self.parse("Fri, 31 Dec 0001 23:59:59 GMT"))
        #expect(early.seconds == -(Int64.max / 1_000_000_000))
    }

    @Test func formattedInstantsAreRoundedDown() {
        let time = Timestamp(nanoseconds: 784_111_777_999_999_999)
        #expect(text(HTTPDate.imf(time)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(text(HTTPDate.iso8601(time)) == "1994-11-06T08:49:37Z")
        let before = Timestamp(nanoseconds: -1)
        #expect(text(HTTPDate.imf(before)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    /// Compares with a naive calendar that advances day by day.
    @Test func datesMatchANaiveCalendar() {
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var year = 1880
        var month = 1
        var day = 1
        var weekday = 4  // 1880-01-01 was a Thursday.
        var seconds: Int64 = -2_840_140_800
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        while year < 2110 {
            let time = Timestamp(seconds: seconds + 3661)
            let date = "\(weekdays[weekday]), \(padded(day)) \(months[month - 1]) \(year) 01:01:01 GMT"
            let imf = HTTPDate.imf(time)
            if text(imf) != date || HTTPDate.parse(imf.span, now: Self.now) != time {
                Issue.record("\(date) became \(text(imf))")
                return
            }
            let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            day += 1
            if day > lengths[month - 1] { (day, month) = (1, month + 1) }
            if month > 12 { (month, year) = (1, year + 1) }
            weekday = (weekday + 1) % 7
            seconds += 86_400
        }
    }
}
