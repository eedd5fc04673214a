import DavitSystem
import Testing

struct ClockTests {
    static let readings: [(seconds: Int64, fraction: Int64, nanoseconds: Int64)] = [
        (0, 0, 0), (1, 5, 1_000_000_005), (1_795_000_000, 999_999_999, 1_795_000_000_999_999_999),
        // 2262-04-11T23:47:16.854775807Z is the largest time that an Int64 holds; later times saturate.
        (9_223_372_036, 854_775_806, .max - 1), (9_223_372_036, 854_775_807, .max),
        (9_223_372_036, 854_775_808, .max), (9_223_372_037, 0, .max), (9_223_372_036_854, 0, .max),
        (.max, 999_999_999, .max),
        (-1, 0, 0), (-1, 999_999_999, 0), (.min, 0, 0),
    ]

    @Test(arguments: readings)
    func clockReadingsSaturate(seconds: Int64, fraction: Int64, nanoseconds: Int64) {
        #expect(Clock.nanoseconds(seconds: seconds, fraction: fraction) == nanoseconds)
    }

    static let fileTimes: [(seconds: Int64, fraction: Int64, nanoseconds: Int64)] = [
        (-1, 0, -1_000_000_000), (-1, 999_999_999, -1), (-9_223_372_036, 0, -9_223_372_036_000_000_000),
        (-9_223_372_038, 0, .min), (.min, 999_999_999, .min),
        // The year 292,277,026,596, which some file systems can store.
        (.max, 999_999_999, .max), (9_223_372_036, 999_999_999, .max),
    ]

    @Test(arguments: fileTimes)
    func fileTimesSaturate(seconds: Int64, fraction: Int64, nanoseconds: Int64) {
        #expect(Clock.signedNanoseconds(seconds: seconds, fraction: fraction) == nanoseconds)
    }
}
