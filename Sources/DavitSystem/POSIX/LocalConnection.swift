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

/// A connection with another program of the same machine. Its calls block, up to a limit.
package struct LocalConnection: ~Copyable, Sendable {
    private let descriptor: FileDescriptor

    /// Its number, for ``Socket/shutDown(_:)`` by another thread while this object lives.
    package var number: Int32 { descriptor.rawValue }

    /// Connects to the listener of that name.
    ///
    /// - Parameter patienceSeconds: how long one call, this one included, waits; at least 1.
    /// - Throws: ``SystemError/meansNobodyListens`` is true if nobody does.
    package init(folder: String, name: String, patienceSeconds: Int) throws(SystemError) {
        #if canImport(Darwin)
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType, 0) }
        #else
        let number = try checked("socket") { socket(AF_UNIX, Socket.streamType | DAVIT_SOCK_CLOEXEC, 0) }
        #endif
        let descriptor = FileDescriptor(owning: number)
        Self.prepare(number)
        try Socket.setTimeout(number, seconds: patienceSeconds)
        try LocalAddress.withPath(of: name, in: folder) { (path) throws(SystemError) in
            _ = try checked("connect") { () -> Int32 in
                unsafe LocalAddress.withSystemAddress(path) { unsafe Self.connect(number, $0, $1) }
            }
        }
        self.descriptor = descriptor
    }

    /// - Parameter descriptor: of a connected socket.
    init(taking descriptor: consuming FileDescriptor) {
        Self.prepare(descriptor.rawValue)
        self.descriptor = descriptor
    }

    /// Apple has no flags for new sockets, and those that are accepted inherit that the listener does not block.
    private static func prepare(_ number: Int32) {
        #if canImport(Darwin)
        Socket.prepare(number)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK)
        #endif
    }

    /// Lets calls that wait longer than so many seconds, at least 1, fail with `EAGAIN`.
    package func setPatience(seconds: Int) throws(SystemError) {
        try Socket.setTimeout(number, seconds: seconds)
    }

    /// Waits for bytes, 4096 at most; none at the end.
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

    /// Who was at the other end when it connected; nil if the system does not say.
    package var peerUser: UInt32? {
        #if canImport(Darwin)
        var user = uid_t()
        var group = gid_t()
        return unsafe getpeereid(number, &user, &group) == 0 ? user : nil
        #else
        return UInt32(exactly: davit_peer_user(number))
        #endif
    }

    /// The user this process acts as.
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
    /// No such name, or its listener has gone.
    package var meansNobodyListens: Bool { errno == ENOENT || errno == ECONNREFUSED }
}
