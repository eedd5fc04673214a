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

/// A connection to another program on the same machine. Its calls block, up to the timeout if one is set.
package struct LocalConnection: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// The descriptor, which another thread may pass to ``Socket/shutDown(_:)`` during the lifetime of this
    /// value.
    package var number: Int32 { descriptor.rawValue }

    /// Connects to the listener with this name.
    ///
    /// - Parameter timeoutSeconds: the timeout of each call, including this one; at least 1.
    /// - Throws: an error with ``SystemError/isNotListening`` if no program is listening.
    package init(folder: String, name: String, timeoutSeconds: Int) throws(SystemError) {
        #if canImport(Darwin)
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType, 0) }
        #else
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType | DAVIT_SOCK_CLOEXEC, 0) }
        #endif
        let descriptor = FileDescriptor(owning: number)
        Self.prepare(number)
        try Socket.setTimeout(number, seconds: timeoutSeconds)
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            _ = try checked("connect") { () -> Int32 in
                unsafe LocalAddress.withSystemAddress(path) { unsafe Self.connect(number, $0, $1) }
            }
        }
        self.descriptor = descriptor
    }

    /// - Parameter descriptor: a connected socket.
    init(taking descriptor: consuming FileDescriptor) {
        Self.prepare(descriptor.rawValue)
        self.descriptor = descriptor
    }

    /// On Apple systems, where sockets cannot be created with flags, sets the flags of a socket and makes it
    /// blocking, because an accepted socket inherits the non-blocking mode of the listener. Does nothing on
    /// other systems.
    private static func prepare(_ number: Int32) {
        #if canImport(Darwin)
        Socket.prepare(number)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK)
        #endif
    }

    /// Sets the timeout, at least 1 second, after which calls fail with `EAGAIN`.
    package func setTimeout(seconds: Int) throws(SystemError) {
        try Socket.setTimeout(number, seconds: seconds)
    }

    /// Waits for input and returns at most 4096 bytes; an empty array at the end of the stream.
    package func receive() throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let outcome = unsafe bytes.withUnsafeMutableBytes { unsafe Socket.receive(number, into: $0) }
        switch outcome {
        case .bytes(let count): return Array(bytes[..<count])
        case .ended: return []
        case .wouldBlock: throw SystemError(errno: EAGAIN, call: "recv")
        case .failed(let error): throw error
        }
    }

    /// Sends all of `bytes`.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let outcome = unsafe rest.withUnsafeBytes { unsafe Socket.send(number, $0) }
            switch outcome {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock, .ended: throw SystemError(errno: EAGAIN, call: "send")
            case .failed(let error): throw error
            }
        }
    }

    /// The user ID of the peer when it connected; nil if the system does not provide it.
    package var peerUser: UInt32? {
        #if canImport(Darwin)
        var user = uid_t()
        var group = gid_t()
        return unsafe getpeereid(number, &user, &group) == 0 ? user : nil
        #else
        return UInt32(exactly: davit_peer_user(number))
        #endif
    }

    /// The effective user ID of this process.
    package static var ownUser: UInt32 { geteuid() }

    private static func connect(
        _ number: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) -> Int32 {
        #if canImport(Glibc)
        unsafe Glibc.connect(number, address, length)
        #elseif canImport(Musl)
        unsafe Musl.connect(number, address, length)
        #else
        unsafe Darwin.connect(number, address, length)
        #endif
    }
}

extension SystemError {
    /// Whether the socket does not exist, or no program is listening on it.
    package var isNotListening: Bool { errno == ENOENT || errno == ECONNREFUSED }
}
