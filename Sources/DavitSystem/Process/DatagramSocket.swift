#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A Unix socket from which datagrams are sent to a service such as syslog.
package struct DatagramSocket: ~Copyable, Sendable {
    private let socket: FileDescriptor
    private let address: String

    /// - Parameter address: the path of the socket of the service, which need not exist yet.
    /// - Throws: the system error if no socket can be created, or if the path is too long.
    package init(to address: String) throws(SystemError) {
        guard address.hasPrefix("/"), address.utf8.count <= LocalAddress.limitBytes else {
            throw SystemError(errno: ENAMETOOLONG, call: "socket")
        }
        guard let socket = Socket.localDatagram() else { throw SystemError(errno: errno, call: "socket") }
        self.socket = socket
        self.address = address
    }

    /// Sends one datagram, to the service that currently listens at the address.
    /// - Throws: the system error; `again` if the service is too slow.
    package borrowing func send(_ bytes: borrowing Span<UInt8>) throws(SystemError) {
        let number = socket.rawValue
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe LocalAddress.withNotifyAddress(address) { name, length in
                unsafe sendto(number, bytes.baseAddress, bytes.count, 0, name, length)
            }
        }
        if result < 0 { throw SystemError(errno: errno, call: "sendto") }
    }
}
