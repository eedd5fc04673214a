#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Sockets that another program created.
extension Socket {
    /// Duplicates the descriptor of a listening stream socket. Both descriptors become non-blocking and
    /// close-on-exec, like other sockets of this process. The original stays open, so that another server can
    /// use it later.
    ///
    /// - Throws: `EINVAL` if the descriptor is not such a socket.
    package static func adoptListener(_ number: Int32) throws(SystemError) -> FileDescriptor {
        guard try option(number, SO_TYPE) == streamType, try option(number, SO_ACCEPTCONN) != 0 else {
            throw SystemError(errno: EINVAL, call: "getsockopt")
        }
        let flags = try checked("fcntl") { fcntl(number, F_GETFL) }
        _ = try checked("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
        _ = try checked("fcntl") { fcntl(number, F_SETFD, FD_CLOEXEC) }
        let second = FileDescriptor(owning: try checked("dup") { dup(number) })
        _ = fcntl(second.rawValue, F_SETFD, FD_CLOEXEC)
        // Has no effect on a local socket, which has no such option.
        sendWithoutDelay(number)
        return second
    }

    /// Returns the path of a local socket; nil for sockets of other families. Abstract names start with `@`
    /// instead of their NUL.
    package static func localPath(of socket: Int32) throws(SystemError) -> String? {
        var raw = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafeMutablePointer(to: &raw) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getsockname(socket, generic, &length)
            }
        }
        guard result == 0 else { throw SystemError(errno: errno, call: "getsockname") }
        guard Int32(raw.sun_family) == AF_UNIX else { return nil }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: raw.sun_path)
        var path = unsafe withUnsafeBytes(of: &raw.sun_path) { bytes in
            unsafe Array(bytes.prefix(max(0, Int(length) - offset)))
        }
        if path.first == 0 {
            path[0] = UInt8(ascii: "@")
        } else {
            path = Array(path.prefix { $0 != 0 })
        }
        return String(decoding: path, as: UTF8.self)
    }

    private static func option(_ socket: Int32, _ name: Int32) throws(SystemError) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 else {
            throw SystemError(errno: errno, call: "getsockopt")
        }
        return value
    }
}
