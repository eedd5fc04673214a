#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The clocks of the system, in nanoseconds.
package enum Clock {
    /// Returns the monotonic time since an unspecified start.
    package static func now() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Like ``now()``, but cheaper and up to a few milliseconds late.
    package static func coarseNow() -> Int64 {
        #if os(Linux)
        read(CLOCK_MONOTONIC_COARSE)
        #else
        read(CLOCK_MONOTONIC)
        #endif
    }

    /// Returns the time since 1970-01-01T00:00:00Z, without leap seconds; it jumps when the clock is set.
    package static func wallNow() -> Int64 { read(CLOCK_REALTIME) }

    /// Like ``wallNow()``, but cheaper and up to a few milliseconds late.
    package static func coarseWallNow() -> Int64 {
        #if os(Linux)
        read(CLOCK_REALTIME_COARSE)
        #else
        read(CLOCK_REALTIME)
        #endif
    }

    #if os(Linux)
    /// Returns the time since the system was started, including the time in which it was suspended.
    static func sinceBoot() -> Int64 { read(CLOCK_BOOTTIME) }
    #endif

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // The call fails only for a clock that does not exist.
        _ = unsafe clock_gettime(clock, &time)
        return nanoseconds(seconds: Int64(time.tv_sec), fraction: Int64(time.tv_nsec))
    }

    /// Converts a clock reading to nanoseconds, clamped to 0 through `Int64.max`: wall-clock times before
    /// 1970 become 1970, and times after 2262-04-11 become the end of the range.
    package static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        max(0, signedNanoseconds(seconds: seconds, fraction: fraction))
    }

    /// Returns a time in nanoseconds, clamped to the range of `Int64`: the years 1677 to 2262.
    package static func signedNanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(fraction)
        return sumOverflow ? .max : sum
    }
}
