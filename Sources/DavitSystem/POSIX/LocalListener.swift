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

/// A socket with a name in a folder, which takes connections from programs of the same machine.
package struct LocalListener: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let folder: String
    private let name: String

    /// Its number, to wait for connections with.
    package var number: Int32 { descriptor.rawValue }

    /// Takes the place of whatever file has that name: the caller knows that nobody listens there.
    ///
    /// Nobody but the user of this process, and root, can connect: the mode is 0600 before it listens.
    package init(folder: String, name: String) throws(SystemError) {
        descriptor = try Self.listen(folder: folder, name: name, mode: 0o600, backlog: 16)
        self.folder = folder
        self.name = name
    }

    /// A socket that does not block and listens under a name, in place of whatever file has it.
    ///
    /// - Parameter mode: who can connect; it holds before anybody can.
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

    /// Takes the next connection that waits; nil if none does.
    /// - Throws: if there is no descriptor or no memory for it; it still waits then.
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

    /// Removes the name: nobody can connect any more.
    package func removeName() {
        // What cannot be removed is replaced by the next listener.
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
