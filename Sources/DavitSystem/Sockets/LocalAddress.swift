#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Addresses of local sockets: paths of limited length.
enum LocalAddress {
    /// The maximum length of a path in bytes, without the NUL: 107 on Linux, 103 on Apple systems.
    static let limitBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Calls `body` with a path to `name` in `folder`. On Linux, the path fits into an address if `name` has
    /// at most 80 bytes.
    ///
    /// - Throws: `ENAMETOOLONG` if the path is too long and the system has no short alias for the folder, as
    ///   on Apple systems.
    static func withPath(
        of name: String, in folder: String, _ body: (String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let path = folder + "/" + name
        if path.utf8.count <= limitBytes { return try body(path) }
        #if os(Linux)
        let number = try checked("open") { unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let opened = FileDescriptor(owning: number)
        try body("/proc/self/fd/\(number)/\(name)")
        // Keep the folder open until here: the path refers to its descriptor.
        _ = consume opened
        #else
        throw SystemError(errno: ENAMETOOLONG, call: "bind")
        #endif
    }

    /// Calls `body` with the system's representation of the address.
    /// - Parameter path: a path from ``withPath(of:in:_:)``.
    static func withSystemAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var raw = sockaddr_un()
        #if canImport(Darwin)
        raw.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
        #endif
        raw.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &raw.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path.utf8.prefix(limitBytes))
        }
        return unsafe withUnsafePointer(to: &raw) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
