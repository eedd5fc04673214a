#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Addresses of local sockets: paths, which must be short.
enum LocalAddress {
    /// The longest path that fits, in bytes: 107 on Linux, 103 on Apple, with the NUL behind it.
    static let limitBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Lends a path to `name` in `folder` that fits into an address.
    ///
    /// - Throws: `ENAMETOOLONG` where there is no short way to a folder that lies deep, as on Apple systems.
    static func withPath(
        of name: String, in folder: String, _ body: (String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let path = folder + "/" + name
        if path.utf8.count <= limitBytes { return try body(path) }
        #if os(Linux)
        let number = try checked("open") { unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        let opened = FileDescriptor(owning: number)
        try body("/proc/self/fd/\(number)/\(name)")
        // The path leads somewhere until here.
        _ = consume opened
        #else
        throw SystemError(errno: ENAMETOOLONG, call: "bind")
        #endif
    }

    /// Hands the form the system wants to `body`.
    /// - Parameter path: as ``withPath(of:in:_:)`` lends it.
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
