#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The name that a local socket has in the file system, as long as it is this socket's.
package struct LocalSocketFile: Sendable {
    private let folder: String
    private let name: String
    private let device: UInt64
    private let inode: UInt64

    /// Listens at `path`. A socket that is there and that nobody listens to any more is replaced; any other file is
    /// left alone.
    ///
    /// - Parameters:
    ///   - mode: the permission bits; who may write may connect. They hold before anybody can.
    ///   - backlog: how many connections may wait.
    ///   - file: becomes the name.
    /// - Throws: `EADDRINUSE` if somebody listens there, or the file is no socket.
    package static func listen(
        path: String, mode: UInt32, backlog: Int32, file: inout LocalSocketFile?
    ) throws(SystemError) -> FileDescriptor {
        let (folder, name) = split(path)
        try checkFree(folder, name)
        let socket = try LocalListener.listen(folder: folder, name: name, mode: mode, backlog: backlog)
        guard let (device, inode) = try identity(folder, name) else {
            throw SystemError(errno: ENOENT, call: "lstat")
        }
        file = LocalSocketFile(folder: folder, name: name, device: device, inode: inode)
        return socket
    }

    /// Removes the name, if it is still that of the socket: while that is open, nothing else gets its inode. So to be
    /// called before the socket is closed.
    package func remove() {
        // What cannot be removed is replaced by the next listener.
        guard let (device, inode) = try? Self.identity(folder, name), device == self.device,
            inode == self.inode
        else { return }
        try? LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            _ = unsafe unlink(path)
        }
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }

    private static func checkFree(_ folder: String, _ name: String) throws(SystemError) {
        var status = stat()
        var isThere = false
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            isThere = unsafe lstat(path, &status) == 0
        }
        guard isThere else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError(errno: EADDRINUSE, call: "bind") }
        do throws(SystemError) {
            _ = try LocalConnection(folder: folder, name: name, patienceSeconds: 1)
        } catch {
            if error.meansNobodyListens { return }
        }
        throw SystemError(errno: EADDRINUSE, call: "bind")
    }

    /// Nil if nothing has the name.
    private static func identity(
        _ folder: String, _ name: String
    ) throws(SystemError) -> (device: UInt64, inode: UInt64)? {
        var status = stat()
        var isThere = false
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            isThere = unsafe lstat(path, &status) == 0
        }
        return isThere ? (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)) : nil
    }
}
