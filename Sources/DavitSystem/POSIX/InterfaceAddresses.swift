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

/// The addresses of this machine.
package enum InterfaceAddresses {
    /// The address that the machine has towards the rest of the network: what to tell people who want to reach it.
    ///
    /// That of the interface with the default route; without one, the first of an interface that is up. Loopback and
    /// link-local addresses do not count. Nil for a machine without a network.
    package static func primary(_ family: SocketAddress.Family) -> SocketAddress? {
        // Blocks for documentation (RFC 5737, RFC 3849): no interface has them, so that the default route leads there.
        let elsewhere: SocketAddress
        switch family {
        case .ipv4: elsewhere = SocketAddress(family: .ipv4, high: 0, low: 0xC000_0201, scope: 0, port: 9)
        case .ipv6:
            elsewhere = SocketAddress(family: .ipv6, high: 0x2001_0db8 << 32, low: 1, scope: 0, port: 9)
        case .local: return nil
        }
        if let source = try? Socket.source(towards: elsewhere), source.isOfUse { return source }
        return all().first { $0.family == family && $0.isOfUse }
    }

    /// The addresses of all interfaces that are up, loopback included, in the order of the system.
    package static func all() -> [SocketAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard unsafe entry.pointee.ifa_flags & UInt32(truncatingIfNeeded: upFlag) != 0,
                let raw = unsafe entry.pointee.ifa_addr, let address = unsafe address(at: raw)
            else { continue }
            addresses.append(address)
        }
        return addresses
    }

    #if canImport(Darwin)
    private static let upFlag = IFF_UP
    #else
    private static let upFlag = 1
    #endif

    private static func address(at raw: UnsafeMutablePointer<sockaddr>) -> SocketAddress? {
        let size =
            switch Int32(unsafe raw.pointee.sa_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: 0
            }
        if size == 0 { return nil }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: size))
        }
        return SocketAddress(&storage)
    }
}

extension SocketAddress {
    /// 127.0.0.0/8, ::1 and local sockets: who connects there is on this machine.
    package var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        case .local: true
        }
    }

    /// 169.254.0.0/16 or fe80::/10.
    package var isLinkLocal: Bool {
        switch family {
        case .ipv4: low >> 16 == 0xA9FE
        case .ipv6: high >> 54 == 0x3FA
        case .local: false
        }
    }

    /// 0.0.0.0 or ::, which stand for all addresses.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    fileprivate var isOfUse: Bool { !isLoopback && !isLinkLocal && !isUnspecified }
}
