#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The clocks of the system, in nanoseconds.
package enum Clock {
    /// Never goes back; from an unspecified start.
    package static func now() -> Int64 { read(CLOCK_MONOTONIC) }

    /// As ``now()``, a few milliseconds behind and cheaper.
    package static func coarseNow() -> Int64 {
        #if os(Linux)
        read(CLOCK_MONOTONIC_COARSE)
        #else
        read(CLOCK_MONOTONIC)
        #endif
    }

    /// Since 1970-01-01T00:00:00Z, leap seconds not counted; jumps when somebody sets the clock.
    package static func wallNow() -> Int64 { read(CLOCK_REALTIME) }

    /// As ``wallNow()``, a few milliseconds behind and cheaper.
    package static func coarseWallNow() -> Int64 {
        #if os(Linux)
        read(CLOCK_REALTIME_COARSE)
        #else
        read(CLOCK_REALTIME)
        #endif
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // Fails only for a clock that does not exist.
        _ = unsafe clock_gettime(clock, &time)
        return nanoseconds(seconds: Int64(time.tv_sec), fraction: Int64(time.tv_nsec))
    }

    /// Converts a reading of a clock to nanoseconds, saturating at 0 and at `Int64.max`: wall clocks before 1970 read as
    /// 1970, and from 2262-04-11 on as the last moment of that range.
    package static func nanoseconds(seconds: Int64, fraction: Int64) -> Int64 {
        max(0, FileStatus.nanoseconds(seconds: seconds, fraction: fraction))
    }
}
