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

/// Operations on sockets, most of which are non-blocking stream sockets.
package enum Socket {
    /// The result of a transfer.
    package enum Outcome: Equatable, Sendable {
        case bytes(Int)
        /// The peer has closed its sending side or, when sending a file, the file has ended.
        case ended
        case wouldBlock
        case failed(SystemError)
    }

    /// The result of accepting a connection.
    package enum AcceptOutcome: ~Copyable {
        case accepted(FileDescriptor, SocketAddress)
        case wouldBlock
        /// The connection was closed before it was accepted, or another transient error occurred: try again.
        case passed
        /// No descriptor or memory is left; the connection remains pending.
        case exhausted
    }

    #if os(Linux)
    static let streamType = DAVIT_SOCK_STREAM
    private static let datagramType = DAVIT_SOCK_DGRAM
    private static let protocolTCP = DAVIT_IPPROTO_TCP
    private static let protocolIPv6 = DAVIT_IPPROTO_IPV6
    #else
    static let streamType = SOCK_STREAM
    private static let datagramType = SOCK_DGRAM
    private static let protocolTCP = IPPROTO_TCP
    private static let protocolIPv6 = IPPROTO_IPV6
    #endif

    /// Creates a listening socket at `address`. An IPv6 socket accepts only IPv6.
    /// - Parameter backlog: the maximum number of pending connections; the system may impose a lower limit.
    package static func listen(on address: SocketAddress, backlog: Int32) throws(SystemError)
        -> FileDescriptor
    {
        let socket = try make(address.family)
        let number = socket.rawValue
        try set(number, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == .ipv6 { try set(number, protocolIPv6, IPV6_V6ONLY, 1) }
        // Accepted connections inherit the option.
        try set(number, protocolTCP, TCP_NODELAY, 1)
        let result = unsafe address.withSystemAddress { unsafe bind(number, $0, $1) }
        if result != 0 { throw SystemError(errno: errno, call: "bind") }
        #if canImport(Glibc)
        let listening = Glibc.listen(number, backlog)
        #elseif canImport(Musl)
        let listening = Musl.listen(number, backlog)
        #else
        let listening = Darwin.listen(number, backlog)
        #endif
        if listening != 0 { throw SystemError(errno: errno, call: "listen") }
        return socket
    }

    /// Returns the address that a socket is bound to.
    package static func localAddress(of socket: Int32) throws(SystemError) -> SocketAddress {
        var storage = sockaddr_storage()
        let result = unsafe withGenericPointer(to: &storage) { unsafe getsockname(socket, $0, $1) }
        guard result == 0, let address = SocketAddress(&storage) else {
            throw SystemError(errno: errno, call: "getsockname")
        }
        return address
    }

    /// Whether an IPv6 socket also accepts IPv4 connections. False for other sockets.
    package static func acceptsBothFamilies(_ socket: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(socket, Int32(protocolIPv6), IPV6_V6ONLY, &value, &length) == 0 && value == 0
    }

    /// Accepts the next pending connection.
    package static func accept(from listener: Int32) -> AcceptOutcome {
        var storage = sockaddr_storage()
        let (number, code) = uninterrupted {
            unsafe withGenericPointer(to: &storage) { address, length in
                #if canImport(Darwin)
                unsafe Darwin.accept(listener, address, length)
                #else
                unsafe accept4(listener, address, length, DAVIT_SOCK_FLAGS)
                #endif
            }
        }
        if number >= 0 {
            #if canImport(Darwin)
            prepare(number)
            #endif
            let socket = FileDescriptor(owning: number)
            // Apple's systems return no address for the peer of a local socket.
            if Int32(storage.ss_family) == AF_UNSPEC { return .accepted(socket, .local) }
            guard let peer = SocketAddress(&storage) else { return .passed }
            return .accepted(socket, peer)
        }
        switch code {
        case EAGAIN: return .wouldBlock
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
        default: return .passed
        }
    }

    /// Connects and blocks until the connection is established; the socket stays blocking. For clients and
    /// tests.
    package static func connect(to address: SocketAddress) throws(SystemError) -> FileDescriptor {
        let socket = try connect(to: address, type: streamType)
        sendWithoutDelay(socket.rawValue)
        return socket
    }

    /// Returns the local address from which datagrams to `address` would be sent. Sends nothing.
    /// - Throws: an error if there is no route to `address`.
    package static func source(towards address: SocketAddress) throws(SystemError) -> SocketAddress {
        let socket = try connect(to: address, type: datagramType)
        var source = try localAddress(of: socket.rawValue)
        source.port = 0
        return source
    }

    private static func connect(
        to address: SocketAddress, type: Int32
    ) throws(SystemError) -> FileDescriptor {
        let number = try checked("socket") {
            socket(domain(of: address.family), type, 0)
        }
        let connection = FileDescriptor(owning: number)
        let result = unsafe address.withSystemAddress { address, length in
            #if canImport(Glibc)
            unsafe Glibc.connect(number, address, length)
            #elseif canImport(Musl)
            unsafe Musl.connect(number, address, length)
            #else
            unsafe Darwin.connect(number, address, length)
            #endif
        }
        if result != 0 { throw SystemError(errno: errno, call: "connect") }
        return connection
    }

    /// Shuts down the sending side; receiving continues.
    package static func shutDownWriting(_ socket: Int32) {
        #if os(Linux)
        _ = shutdown(socket, DAVIT_SHUT_WR)
        #else
        _ = shutdown(socket, SHUT_WR)
        #endif
    }

    /// Shuts down both directions; the descriptor stays open.
    package static func shutDown(_ socket: Int32) {
        #if os(Linux)
        _ = shutdown(socket, DAVIT_SHUT_RDWR)
        #else
        _ = shutdown(socket, SHUT_RDWR)
        #endif
    }

    /// Returns the number of bytes that were sent and not acknowledged by the peer; 0 if unknown.
    package static func outstandingBytes(_ socket: Int32) -> Int {
        #if os(Linux)
        return max(0, Int(davit_outstanding_bytes(socket)))
        #else
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(socket, SOL_SOCKET, SO_NWRITE, &value, &length) == 0 ? max(0, Int(value)) : 0
        #endif
    }

    /// Sets the sizes of the receive and send buffers; nil leaves a size unchanged.
    package static func setBufferSizes(_ socket: Int32, receive: Int32?, send: Int32?) throws(SystemError) {
        if let receive { try set(socket, SOL_SOCKET, SO_RCVBUF, receive) }
        if let send { try set(socket, SOL_SOCKET, SO_SNDBUF, send) }
    }

    /// Configures the socket so that closing it resets the connection.
    package static func setReset(_ socket: Int32) throws(SystemError) {
        var value = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        let result = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, size)
        if result != 0 { throw SystemError(errno: errno, call: "setsockopt") }
    }

    /// Sets the timeout of calls on a blocking socket.
    package static func setTimeout(_ socket: Int32, seconds: Int) throws(SystemError) {
        var limit = timeval()
        limit.tv_sec = .init(seconds)
        let size = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            let result = unsafe setsockopt(socket, SOL_SOCKET, option, &limit, size)
            if result != 0 { throw SystemError(errno: errno, call: "setsockopt") }
        }
    }

    /// Acknowledges received data immediately, on systems with such an option. TCP otherwise waits for an opportunity to
    /// send the acknowledgment together with data, for about 40 ms. A peer that uses Nagle's algorithm sends the next
    /// small packet only after the acknowledgment.
    package static func acknowledge(_ socket: Int32) {
        #if os(Linux)
        try? set(socket, protocolTCP, TCP_QUICKACK, 1)
        #endif
    }

    /// Disables Nagle's algorithm; has no effect on sockets other than TCP.
    static func sendWithoutDelay(_ socket: Int32) { try? set(socket, protocolTCP, TCP_NODELAY, 1) }

    /// Creates a non-blocking local datagram socket; returns nil if no descriptor is left.
    static func localDatagram() -> FileDescriptor? {
        #if canImport(Darwin)
        let number = socket(AF_UNIX, SOCK_DGRAM, 0)
        if number >= 0 { prepare(number) }
        #else
        let number = socket(AF_UNIX, DAVIT_SOCK_DGRAM | DAVIT_SOCK_FLAGS, 0)
        #endif
        return number >= 0 ? FileDescriptor(owning: number) : nil
    }

    private static func make(_ family: SocketAddress.Family) throws(SystemError) -> FileDescriptor {
        let domain = domain(of: family)
        #if canImport(Darwin)
        let number = try checked("socket") { socket(domain, streamType, 0) }
        prepare(number)
        #else
        let number = try checked("socket") { socket(domain, streamType | DAVIT_SOCK_FLAGS, 0) }
        #endif
        return FileDescriptor(owning: number)
    }

    private static func domain(of family: SocketAddress.Family) -> Int32 {
        switch family {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .local: AF_UNIX
        }
    }

    #if canImport(Darwin)
    static func prepare(_ number: Int32) {
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        // Apple systems have no MSG_NOSIGNAL.
        try? set(number, SOL_SOCKET, SO_NOSIGPIPE, 1)
    }
    #endif

    private static func set(
        _ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32
    ) throws(SystemError) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe setsockopt(socket, level, option, &value, size)
        if result != 0 { throw SystemError(errno: errno, call: "setsockopt") }
    }

    private static func withGenericPointer<R>(
        to storage: inout sockaddr_storage,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> R
    ) -> R {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, &length)
            }
        }
    }
}

extension SystemError {
    /// The reason why an address could not be bound.
    package enum BindingKind { case addressInUse, notASocket, notPermitted, addressNotAvailable, other }

    package var bindingKind: BindingKind {
        switch errno {
        case EADDRINUSE: .addressInUse
        case ENOTSOCK: .notASocket
        case EACCES, EPERM: .notPermitted
        case EADDRNOTAVAIL, EAFNOSUPPORT: .addressNotAvailable
        default: .other
        }
    }
}
