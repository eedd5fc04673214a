/// One end of a connection: an Internet address and a port, or that it is local to the machine.
///
/// Holds numbers only; text is made when it is asked for.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Sendable {
        case ipv4, ipv6
        /// A socket in the file system, which has no address and no port.
        case local
    }

    public let family: Family
    /// The address in the order of the network; an IPv4 address is the last four bytes of `low`.
    package let high: UInt64
    package let low: UInt64
    /// The interface of a link-local IPv6 address, as the system numbers it; else 0.
    public let scope: UInt32
    public let port: UInt16

    package init(family: Family, high: UInt64, low: UInt64, scope: UInt32 = 0, port: UInt16) {
        self.family = family
        self.high = high
        self.low = low
        self.scope = scope
        self.port = port
    }

    public static func ipv4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16) -> NetworkAddress {
        let low = UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
        return NetworkAddress(family: .ipv4, high: 0, low: low, port: port)
    }

    /// An end of a socket in the file system.
    public static let local = NetworkAddress(family: .local, high: 0, low: 0, port: 0)

    public var isIPv6: Bool { family == .ipv6 }

    /// The address of this machine for itself: 127.0.0.0/8 and ::1, and what is local anyway.
    public var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        case .local: true
        }
    }

    /// The address alone; nil for what is local.
    public var address: IPAddress? {
        switch family {
        case .ipv4: IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
        case .ipv6: IPAddress(ipv6High: high, low: low)
        case .local: nil
        }
    }

    /// The address in the order of the network: 4 bytes or 16; none for what is local.
    public var bytes: [UInt8] {
        let own: Range<UInt64> =
            switch family {
            case .ipv4: 12..<16
            case .ipv6: 0..<16
            case .local: 0..<0
            }
        return own.map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> ((7 - index % 8) * 8))
        }
    }

    /// The address as text, without port and brackets (RFC 5952 §4); a scope stands behind it as `%2`. `unix:` for what
    /// is local.
    public var host: String {
        switch family {
        case .local: "unix:"
        // Short enough for a string without memory of its own.
        case .ipv4: AddressText.string(capacity: 15) { $0.appendIPv4(UInt32(truncatingIfNeeded: low)) }
        case .ipv6:
            AddressText.string(capacity: 56) { text in
                text.appendIPv6(high, low)
                if scope == 0 { return }
                text.append(UInt8(ascii: "%"))
                text.appendNumber(scope, radix: 10)
            }
        }
    }

    /// Address and port, as they stand in a URL: `192.0.2.7:80`, `[2001:db8::1]:80`.
    public var description: String {
        switch family {
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        case .local: host
        }
    }
}
