import DavitHTTP
import Testing

/// Arithmetic at the limits of the timestamp range.
struct TimestampRangeTests {
    static let first = Timestamp(nanoseconds: .min)
    static let last = Timestamp(nanoseconds: .max)

    @Test func secondsSaturate() {
        #expect(Timestamp(seconds: 9_223_372_036) == Timestamp(nanoseconds: 9_223_372_036_000_000_000))
        // 9999-12-31 is used by certificates without an expiration date.
        for seconds: Int64 in [9_223_372_037, 253_402_300_799, .max] {
            #expect(Timestamp(seconds: seconds) == Self.last)
            #expect(Timestamp(seconds: -seconds) == Self.first)
        }
        #expect(Timestamp(seconds: .min) == Self.first)
    }

    @Test func sumsSaturate() {
        #expect(Self.last.adding(seconds: 1) == Self.last)
        #expect(Self.first.adding(seconds: -1) == Self.first)
        #expect(Self.last.adding(seconds: -1) < Self.last)
        for start in [Self.first, Timestamp(seconds: 0), Self.last] {
            #expect(start.adding(seconds: .max) > Self.first)
            #expect(start.adding(seconds: .min) <= start)
        }
        #expect(Timestamp(seconds: 5).adding(seconds: -10) == Timestamp(seconds: -5))
    }

    static let days: [(days: Int, result: Timestamp)] = [
        (0, Timestamp(seconds: 0)), (1, Timestamp(seconds: -86_400)), (-1, Timestamp(seconds: 86_400)),
        (.max, first), (.max / 86_400, first), (200_000, first), (.min, last), (-200_000, last),
    ]

    @Test(arguments: days)
    func daysSaturate(days: Int, result: Timestamp) {
        #expect(Timestamp(seconds: 0).subtracting(days: days) == result)
    }

    static let distances: [(from: Timestamp, to: Timestamp, seconds: Int64)] = [
        (Timestamp(seconds: 1), Timestamp(seconds: 1), 0), (Timestamp(seconds: 2), Timestamp(seconds: 1), 0),
        (Timestamp(seconds: 1), Timestamp(nanoseconds: 1_000_000_001), 1),
        (Timestamp(seconds: 1), Timestamp(seconds: 2), 1), (first, last, 9_223_372_037),
        (Timestamp(seconds: 0), last, 9_223_372_037), (last, first, 0),
    ]

    @Test(arguments: distances)
    func distancesSaturate(from: Timestamp, to: Timestamp, seconds: Int64) {
        #expect(to.secondsRoundedUp(since: from) == seconds)
    }

    @Test func limitsAreFormatted() {
        #expect(String(decoding: HTTPDate.imf(Self.last), as: UTF8.self) == "Fri, 11 Apr 2262 23:47:16 GMT")
        #expect(String(decoding: HTTPDate.imf(Self.first), as: UTF8.self) == "Tue, 21 Sep 1677 00:12:43 GMT")
        for (time, expected) in [
            (Self.last, "2262-04-11T23:47:16.854Z"), (Self.first, "1677-09-21T00:12:43.145Z"),
            (Timestamp(nanoseconds: -1), "1969-12-31T23:59:59.999Z"),
        ] {
            var text: [UInt8] = []
            HTTPDate.appendISO8601WithMilliseconds(time, to: &text)
            #expect(String(decoding: text, as: UTF8.self) == expected)
        }
    }
}
