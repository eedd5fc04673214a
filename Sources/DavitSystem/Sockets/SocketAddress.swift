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

/// An Internet address with a port, or the placeholder for the peer of a local socket.
package struct SocketAddress: Hashable, Sendable {
    package enum Family: Sendable { case ipv4, ipv6, local }

    package let family: Family
    /// The address, most significant byte first. An IPv4 address occupies the lower 32 bits of `low`.
    package let high: UInt64
    package let low: UInt64
    /// The index of the interface of a link-local IPv6 address; 0 for other addresses.
    package let scope: UInt32
    package var port: UInt16

    package init(family: Family, high: UInt64, low: UInt64, scope: UInt32, port: UInt16) {
        self.family = family
        self.high = high
        self.low = low
        self.scope = scope
        self.port = port
    }
}

extension SocketAddress {
    /// Converts an address from the system; nil for unsupported families.
    init?(_ storage: inout sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let raw = unsafe withUnsafeBytes(of: &storage) { unsafe $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(
                family: .ipv4, high: 0, low: UInt64(UInt32(bigEndian: raw.sin_addr.s_addr)), scope: 0,
                port: UInt16(bigEndian: raw.sin_port))
        case AF_INET6:
            let raw = unsafe withUnsafeBytes(of: &storage) { unsafe $0.loadUnaligned(as: sockaddr_in6.self) }
            var address = raw.sin6_addr
            let (high, low) = unsafe withUnsafeBytes(of: &address) { bytes in
                unsafe (
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let port = UInt16(bigEndian: raw.sin6_port)
            // The IPv4-mapped form that a dual-stack socket reports (RFC 4291 §2.5.5.2).
            if high == 0, low >> 32 == 0xFFFF {
                self.init(family: .ipv4, high: 0, low: low & 0xFFFF_FFFF, scope: 0, port: port)
            } else {
                self.init(family: .ipv6, high: high, low: low, scope: raw.sin6_scope_id, port: port)
            }
        case AF_UNIX: self = .local
        default: return nil
        }
    }

    /// Calls `body` with the system's representation of the address.
    func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        switch family {
        case .ipv4:
            var raw = sockaddr_in()
            #if canImport(Darwin)
            raw.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
            #endif
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = port.bigEndian
            raw.sin_addr.s_addr = UInt32(truncatingIfNeeded: low).bigEndian
            return unsafe Self.withPointer(to: &raw, body)
        case .ipv6:
            var raw = sockaddr_in6()
            #if canImport(Darwin)
            raw.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
            #endif
            raw.sin6_family = sa_family_t(AF_INET6)
            raw.sin6_port = port.bigEndian
            raw.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &raw.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe Self.withPointer(to: &raw, body)
        case .local:
            // An address without a name: the system refuses to bind or connect to it.
            return unsafe Self.withUnnamed(body)
        }
    }

    private static func withUnnamed<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var raw = sockaddr()
        raw.sa_family = sa_family_t(AF_UNIX)
        return unsafe withPointer(to: &raw, body)
    }

    private static func withPointer<Raw, R>(
        to raw: inout Raw, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        unsafe withUnsafePointer(to: &raw) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(MemoryLayout<Raw>.size))
            }
        }
    }
}

extension SocketAddress {
    /// The reason why a host name could not be resolved.
    package enum LookUpError: Error, Sendable {
        case unknown
        /// The resolver did not respond; the failure may be temporary.
        case failed
    }

    /// Resolves a host name or a numeric address; the system's preferred address is first. Blocks.
    package static func lookUp(host: String, port: UInt16) throws(LookUpError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Socket.streamType
        unsafe hints.ai_flags = AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { throw code == EAI_AGAIN ? .failed : .unknown }
        defer { unsafe freeaddrinfo(list) }

        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            var storage = sockaddr_storage()
            if let address = unsafe entry.pointee.ai_addr {
                let count = min(Int(unsafe entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
                unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                    unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
                }
                if var found = SocketAddress(&storage) {
                    found.port = port
                    if !addresses.contains(found) { addresses.append(found) }
                }
            }
            unsafe next = entry.pointee.ai_next
        }
        if addresses.isEmpty { throw .unknown }
        return addresses
    }

    /// The peer of a local socket.
    package static let local = SocketAddress(family: .local, high: 0, low: 0, scope: 0, port: 0)

    /// Returns the address 127.0.0.1.
    package static func ipv4Loopback(port: UInt16) -> SocketAddress {
        SocketAddress(family: .ipv4, high: 0, low: 0x7F00_0001, scope: 0, port: port)
    }

    /// Returns the address ::1.
    package static func ipv6Loopback(port: UInt16) -> SocketAddress {
        SocketAddress(family: .ipv6, high: 0, low: 1, scope: 0, port: port)
    }

    /// Returns the address 0.0.0.0, which means all IPv4 addresses.
    package static func ipv4Any(port: UInt16) -> SocketAddress {
        SocketAddress(family: .ipv4, high: 0, low: 0, scope: 0, port: port)
    }

    /// Returns the address ::, which means all IPv6 addresses.
    package static func ipv6Any(port: UInt16) -> SocketAddress {
        SocketAddress(family: .ipv6, high: 0, low: 0, scope: 0, port: port)
    }
}
