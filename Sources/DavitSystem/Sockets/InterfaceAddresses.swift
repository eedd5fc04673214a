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

/// The network addresses of this machine.
package enum InterfaceAddresses {
    /// Returns the address at which other machines can reach this one, for display to users.
    ///
    /// This is the address of the interface with the default route or, without one, of the first interface
    /// that is up. Loopback and link-local addresses are skipped. Nil without a network.
    package static func primary(_ family: SocketAddress.Family) -> SocketAddress? {
        // Addresses reserved for documentation (RFC 5737, RFC 3849): no interface has them, so the default
        // route applies.
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

    /// Returns the addresses of all interfaces that are up, including loopback, in the order of the system.
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

    static func address(at raw: UnsafeMutablePointer<sockaddr>) -> SocketAddress? {
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
    /// Whether only this machine can connect to the address: 127.0.0.0/8, ::1, and local sockets.
    package var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        case .local: true
        }
    }

    /// Whether the address is link-local: 169.254.0.0/16 or fe80::/10.
    package var isLinkLocal: Bool {
        switch family {
        case .ipv4: low >> 16 == 0xA9FE
        case .ipv6: high >> 54 == 0x3FA
        case .local: false
        }
    }

    /// Whether the address is 0.0.0.0 or ::, which means all addresses.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    fileprivate var isOfUse: Bool { !isLoopback && !isLinkLocal && !isUnspecified }
}
