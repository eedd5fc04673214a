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

/// A network interface of this machine that is up.
package struct NetworkInterface: Hashable, Sendable {
    /// The name, such as `eth0`.
    package var name: String
    /// The number by which the system identifies the interface; greater than 0.
    package var index: UInt32
    package var isLoopback: Bool
    /// Whether the interface can send to several receivers.
    package var hasMulticast: Bool
    /// In the order of the system.
    package var addresses: [SocketAddress]

    package init(
        name: String, index: UInt32, isLoopback: Bool = false, hasMulticast: Bool = true,
        addresses: [SocketAddress]
    ) {
        self.name = name
        self.index = index
        self.isLoopback = isLoopback
        self.hasMulticast = hasMulticast
        self.addresses = addresses
    }

    /// Returns the interfaces that are up and have an address, in the order of the system.
    package static func all() -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var interfaces: [NetworkInterface] = []
        var indexes: [String: UInt32] = [:]
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            let flags = UInt32(truncatingIfNeeded: unsafe entry.pointee.ifa_flags)
            guard flags & Flags.up != 0, let raw = unsafe entry.pointee.ifa_addr else { continue }
            let name = unsafe String(cString: entry.pointee.ifa_name)
            if let index = unsafe linkIndex(at: raw) { indexes[name] = index }
            guard let address = unsafe InterfaceAddresses.address(at: raw) else { continue }
            if let known = interfaces.firstIndex(where: { $0.name == name }) {
                interfaces[known].addresses.append(address)
                continue
            }
            interfaces.append(
                NetworkInterface(
                    name: name, index: 0, isLoopback: flags & Flags.loopback != 0,
                    hasMulticast: flags & Flags.multicast != 0, addresses: [address]))
        }
        return interfaces.compactMap { interface in
            guard let index = indexes[interface.name] else { return nil }
            var interface = interface
            interface.index = index
            return interface
        }
    }

    /// Returns the index of the interface in a link-layer address. `if_nametoindex` would need a system call for each name, which
    /// a sandbox does not permit.
    private static func linkIndex(at raw: UnsafeMutablePointer<sockaddr>) -> UInt32? {
        let bytes = UnsafeRawPointer(raw)
        #if canImport(Darwin)
        guard unsafe Int32(raw.pointee.sa_family) == AF_LINK else { return nil }
        // struct sockaddr_dl: length (1), family (1), index (2).
        return unsafe UInt32(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        #else
        guard unsafe Int32(raw.pointee.sa_family) == AF_PACKET else { return nil }
        // struct sockaddr_ll: family (2), protocol (2), index (4).
        return unsafe bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        #endif
    }

    /// The flags of interfaces. C libraries declare them with different types.
    private enum Flags {
        static let up: UInt32 = 0x1
        static let loopback: UInt32 = 0x8
        #if canImport(Darwin)
        static let multicast: UInt32 = 0x8000
        #else
        static let multicast: UInt32 = 0x1000
        #endif
    }
}

/// Reports that interfaces or their addresses may have changed.
package final class InterfaceMonitor: Sendable {
    private let socket: FileDescriptor

    /// Becomes readable after a change.
    package var descriptor: Int32 { socket.rawValue }

    /// Begins to observe changes.
    package init() throws(SystemError) {
        #if canImport(Darwin)
        let number = try checked("socket") { Darwin.socket(PF_ROUTE, SOCK_RAW, 0) }
        Socket.prepare(number)
        #else
        let number = try checked("socket") { davit_watch_interfaces() }
        #endif
        socket = FileDescriptor(owning: number)
    }

    /// Reads all reports, whose content is not needed. Does not block.
    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let number = socket.rawValue
        while true {
            let outcome = unsafe bytes.withUnsafeMutableBytes { unsafe Socket.receive(number, into: $0) }
            switch outcome {
            case .bytes: continue
            // ENOBUFS means that reports were dropped; they count as read.
            case .ended, .wouldBlock, .failed: return
            }
        }
    }
}
