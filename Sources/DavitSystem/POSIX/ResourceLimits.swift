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

/// Limits the system puts on this process.
package enum ResourceLimits {
    /// How many descriptors the process may have open at the moment.
    package static var descriptorLimit: Int {
        var limit = rlimit()
        guard get(&limit) == 0 else { return 256 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft limit of descriptors to the hard one, and returns what it then is.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        guard get(&limit) == 0 else { return descriptorLimit }
        #if canImport(Darwin)
        // More than OPEN_MAX is refused there, whatever the hard limit says.
        limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = limit.rlim_max
        #endif
        _ = set(&limit)
        return descriptorLimit
    }

    /// Sets the soft limit.
    package static func setDescriptorLimit(_ count: Int) throws(SystemError) {
        var limit = rlimit()
        _ = try checked("getrlimit") { get(&limit) }
        limit.rlim_cur = rlim_t(count)
        _ = try checked("setrlimit") { set(&limit) }
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
