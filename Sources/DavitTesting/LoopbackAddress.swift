internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Loopback addresses for tests that close a port and expect to find it free later.
public enum LoopbackAddress {
    private static let count = Atomic<UInt8>(0)

    /// Returns an IPv4 address on which nothing else listens and from which nothing connects: on 127.0.0.1, any
    /// connection of another test could take the port in the meantime. Returns 127.0.0.1 on systems that have no other
    /// loopback addresses.
    public static func own() -> String {
        #if os(Linux)
        let process = getpid()
        // Each process has 254 addresses, and those of processes that run at the same time differ.
        let number = count.add(1, ordering: .relaxed).oldValue % 254 + 1
        return "127.\(64 + ((process >> 8) & 63)).\(process & 255).\(number)"
        #else
        return "127.0.0.1"
        #endif
    }
}
