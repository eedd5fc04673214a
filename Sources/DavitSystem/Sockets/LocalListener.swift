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

/// A listening socket in a folder, for connections from programs on the same machine.
package struct LocalListener: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let folder: String
    private let name: String

    /// The descriptor, for waiting for connections.
    package var number: Int32 { descriptor.rawValue }

    /// Creates the socket and replaces any file with this name. The caller must know that no program is
    /// listening there.
    ///
    /// Only the user of this process and root can connect: the mode is set to 0600 before the socket listens.
    package init(folder: String, name: String) throws(SystemError) {
        descriptor = try Self.listen(folder: folder, name: name, mode: 0o600, backlog: 16)
        self.folder = folder
        self.name = name
    }

    /// Creates a non-blocking socket that listens at a path, and replaces any file there.
    ///
    /// - Parameter mode: the permission bits, which are set before the socket listens.
    static func listen(
        folder: String, name: String, mode: UInt32, backlog: Int32
    ) throws(SystemError) -> FileDescriptor {
        let descriptor = try makeSocket()
        let number = descriptor.rawValue
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            guard unsafe unlink(path) == 0 || errno == ENOENT else {
                throw SystemError(errno: errno, call: "unlink")
            }
            let bound = unsafe LocalAddress.withSystemAddress(path) { unsafe bind(number, $0, $1) }
            guard bound == 0 else { throw SystemError(errno: errno, call: "bind") }
            guard unsafe chmod(path, mode_t(mode)) == 0, listen(number, backlog) == 0 else {
                let error = SystemError(errno: errno, call: "listen")
                unsafe unlink(path)
                throw error
            }
        }
        return descriptor
    }

    /// Accepts the next pending connection; returns nil if there is none, or if it failed.
    /// - Throws: an error if no descriptor or memory is left; the connection remains pending.
    package func accept() throws(SystemError) -> LocalConnection? {
        let (number, code) = uninterrupted {
            #if canImport(Darwin)
            Darwin.accept(descriptor.rawValue, nil, nil)
            #else
            accept4(descriptor.rawValue, nil, nil, DAVIT_SOCK_CLOEXEC)
            #endif
        }
        if number >= 0 { return LocalConnection(taking: FileDescriptor(owning: number)) }
        switch code {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw SystemError(errno: code, call: "accept")
        default: return nil
        }
    }

    /// Removes the socket file, so that no program can connect anymore.
    package func removeName() {
        // If removal fails, the next listener replaces the file.
        try? LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            _ = unsafe unlink(path)
        }
    }

    private static func makeSocket() throws(SystemError) -> FileDescriptor {
        #if canImport(Darwin)
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType, 0) }
        Socket.prepare(number)
        #else
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType | DAVIT_SOCK_FLAGS, 0) }
        #endif
        return FileDescriptor(owning: number)
    }

    private static func listen(_ number: Int32, _ backlog: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.listen(number, backlog)
        #elseif canImport(Musl)
        Musl.listen(number, backlog)
        #else
        Darwin.listen(number, backlog)
        #endif
    }
}
