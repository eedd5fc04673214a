#if os(Linux)
internal import CLinux
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Resource limits of this process.
package enum ResourceLimits {
    /// The current maximum number of open descriptors.
    package static var descriptorLimit: Int {
        var limit = rlimit()
        guard get(&limit) == 0 else { return 256 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft descriptor limit to the hard limit, and returns the resulting limit.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        guard get(&limit) == 0 else { return descriptorLimit }
        #if canImport(Darwin)
        // Values above OPEN_MAX are rejected, regardless of the hard limit.
        limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = limit.rlim_max
        #endif
        _ = set(&limit)
        return descriptorLimit
    }

    private static func get(_ limit: inout rlimit) -> Int32 {
        #if os(Linux)
        unsafe davit_get_descriptor_limit(&limit)
        #else
        unsafe getrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }

    private static func set(_ limit: inout rlimit) -> Int32 {
        #if os(Linux)
        unsafe davit_set_descriptor_limit(&limit)
        #else
        unsafe setrlimit(RLIMIT_NOFILE, &limit)
        #endif
    }
}
