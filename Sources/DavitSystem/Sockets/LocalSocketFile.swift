#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The file of a local socket. It is removed only if it still refers to that socket.
package struct LocalSocketFile: Sendable {
    private let folder: String
    private let name: String
    private let device: UInt64
    private let inode: UInt64

    /// Listens at `path`. Replaces a socket that no program is listening on; any other file is left
    /// unchanged.
    ///
    /// - Parameters:
    ///   - mode: the permission bits, which are set before the socket listens; write permission is required
    ///     to connect.
    ///   - backlog: the maximum number of pending connections.
    ///   - file: set to the socket's file.
    /// - Throws: `EADDRINUSE` if a program is listening there, `ENOTSOCK` if the file is not a socket.
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

    /// Removes the file if it still belongs to this socket. Must be called before the socket is closed: while
    /// the socket is open, its inode is not reused.
    package func remove() {
        // If removal fails, the next listener replaces the file.
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
        var exists = false
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            exists = unsafe lstat(path, &status) == 0
        }
        guard exists else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError(errno: ENOTSOCK, call: "bind") }
        do throws(SystemError) {
            _ = try LocalConnection(folder: folder, name: name, timeoutSeconds: 1)
        } catch {
            if error.isNotListening { return }
        }
        throw SystemError(errno: EADDRINUSE, call: "bind")
    }

    /// Returns the identity of the file; nil if it does not exist.
    private static func identity(
        _ folder: String, _ name: String
    ) throws(SystemError) -> (device: UInt64, inode: UInt64)? {
        var status = stat()
        var exists = false
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            exists = unsafe lstat(path, &status) == 0
        }
        return exists ? (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)) : nil
    }
}
