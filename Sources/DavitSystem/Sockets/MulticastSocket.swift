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

/// Sockets for the datagrams of a multicast group on one network interface. Does not block.
package final class MulticastSocket: Sendable {
    private let receiver: FileDescriptor
    private let sender: FileDescriptor
    private let group: SocketAddress

    /// Whether this system is supported.
    package static var isAvailable: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// Becomes readable when a datagram to the group arrives.
    package var groupDescriptor: Int32 { receiver.rawValue }
    /// Becomes readable when a datagram to the address of the interface arrives.
    package var ownDescriptor: Int32 { sender.rawValue }

    /// Joins a group. Other programs on this machine can join it on the same port.
    /// - Parameters:
    ///   - group: the address of the group, and the port of all datagrams.
    ///   - index: of the interface.
    ///   - own: an address of the interface, from which datagrams are sent.
    package init(group: SocketAddress, onInterface index: UInt32, from own: SocketAddress) throws(SystemError)
    {
        self.group = group
        receiver = FileDescriptor(
            owning: try checked("socket") {
                unsafe group.withSystemAddress { unsafe multicastReceiver($0, $1, index) }
            })
        let source = SocketAddress(
            family: own.family, high: own.high, low: own.low,
            scope: own.isLinkLocal && own.family == .ipv6 ? index : 0,
            port: group.port)
        sender = FileDescriptor(
            owning: try checked("socket") {
                unsafe source.withSystemAddress { unsafe multicastSender($0, $1, index) }
            })
    }

    /// Returns the next datagram, and where it comes from; nil if there is none.
    /// - Parameters:
    ///   - descriptor: one of those of this object.
    ///   - limit: the maximum number of bytes; the rest of a longer datagram is dropped.
    package func receive(on descriptor: Int32, limit: Int) -> (bytes: [UInt8], source: SocketAddress)? {
        var bytes = [UInt8](repeating: 0, count: limit)
        var storage = sockaddr_storage()
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe receiveDatagram(descriptor, buffer, &storage)
        }
        guard count >= 0, let source = SocketAddress(&storage) else { return nil }
        bytes.removeLast(limit - count)
        return (bytes, source)
    }

    /// Sends a datagram to one receiver. It is lost if the system has no space for it.
    package func send(_ bytes: [UInt8], to receiver: SocketAddress) {
        let number = sender.rawValue
        _ = unsafe bytes.withUnsafeBytes { bytes in
            unsafe receiver.withSystemAddress { address, length in
                unsafe sendto(number, bytes.baseAddress, bytes.count, 0, address, length)
            }
        }
    }

    /// Sends a datagram to the group.
    package func sendToGroup(_ bytes: [UInt8]) { send(bytes, to: group) }
}

#if os(Linux)
private func multicastReceiver(
    _ group: UnsafePointer<sockaddr>, _ length: socklen_t, _ interface: UInt32
) -> Int32 { unsafe davit_multicast_receiver(group, length, interface) }

private func multicastSender(
    _ own: UnsafePointer<sockaddr>, _ length: socklen_t, _ interface: UInt32
) -> Int32 { unsafe davit_multicast_sender(own, length, interface) }

private func receiveDatagram(
    _ number: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ source: UnsafeMutablePointer<sockaddr_storage>
) -> Int { unsafe davit_receive_datagram(number, buffer.baseAddress, buffer.count, source) }
#else
private func multicastReceiver(_: UnsafePointer<sockaddr>, _: socklen_t, _: UInt32) -> Int32 { unsupported() }
private func multicastSender(_: UnsafePointer<sockaddr>, _: socklen_t, _: UInt32) -> Int32 { unsupported() }
private func receiveDatagram(
    _: Int32, _: UnsafeMutableRawBufferPointer, _: UnsafeMutablePointer<sockaddr_storage>
) -> Int { Int(unsupported()) }

private func unsupported() -> Int32 {
    errno = ENOTSUP
    return -1
}
#endif
