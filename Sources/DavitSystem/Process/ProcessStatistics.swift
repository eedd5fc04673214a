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

/// The resources that this process uses.
package struct ProcessStatistics: Hashable, Sendable {
    /// The processor time of all threads, in user and system mode, in seconds.
    package var cpuSeconds: Double
    /// The size of the memory in use in bytes; nil if the system does not report it in a file.
    package var residentBytes: Int64?
    /// The number of open descriptors; nil if unknown.
    package var openDescriptors: Int?
    package var descriptorLimit: Int
    /// The time at which the process was started, in seconds since 1970; nil if unknown.
    package var startSeconds: Double?

    /// Reads the current values. May block.
    package static func current() -> ProcessStatistics {
        var usage = rusage()
        // RUSAGE_SELF, whose type differs between C libraries.
        _ = unsafe getrusage(0, &usage)
        let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return ProcessStatistics(
            cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), residentBytes: residentBytes(),
            openDescriptors: openDescriptors(), descriptorLimit: ResourceLimits.descriptorLimit,
            startSeconds: startSeconds())
    }

    #if os(Linux)
    private static func residentBytes() -> Int64? {
        guard let file = try? SmallFile(reading: "/proc/self/statm") else { return nil }
        let words = String(decoding: file.bytes, as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int64(words[1]) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func openDescriptors() -> Int? {
        // One of the descriptors belongs to this listing.
        ((try? PrivateFolder.names(in: "/proc/self/fd")) ?? nil).map { max(0, $0.count - 1) }
    }

    /// Computes the start from the age of the process, because `/proc/self/stat` counts from the start of the system.
    private static func startSeconds() -> Double? {
        guard let stat = try? SmallFile(reading: "/proc/self/stat") else { return nil }
        // The name of the program, in parentheses, may contain spaces and parentheses.
        let rest = stat.bytes.split(separator: UInt8(ascii: ")")).last ?? []
        let fields = String(decoding: rest, as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        let age = Double(Clock.sinceBoot()) / 1e9 - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return Double(Clock.wallNow()) / 1e9 - max(0, age)
    }
    #else
    private static func residentBytes() -> Int64? { nil }
    private static func openDescriptors() -> Int? { nil }
    private static func startSeconds() -> Double? { nil }
    #endif
}
