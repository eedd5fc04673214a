/// An endpoint of a connection: an IP address and port, or a Unix socket.
///
/// Stores only numbers; text is generated on demand.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an address.
    public enum Family: Sendable {
        /// An IP address of 4 or 16 bytes.
        case ipv4, ipv6
        /// A Unix socket, which has no address and no port.
        case local
    }

    /// The kind of this address.
    public let family: Family
    /// The address as a 128-bit number in two halves; an IPv4 address is in the last 32 bits of `low`.
    package let high: UInt64
    package let low: UInt64
    /// The interface index of a link-local IPv6 address; else 0.
    public let scope: UInt32
    /// The port; 0 for Unix sockets.
    public let port: UInt16

    package init(family: Family, high: UInt64, low: UInt64, scope: UInt32 = 0, port: UInt16) {
        self.family = family
        self.high = high
        self.low = low
        self.scope = scope
        self.port = port
    }

    /// Creates the IPv4 address `a.b.c.d` with a port.
    public static func ipv4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16) -> NetworkAddress {
        let low = UInt64(a) << 24 | UInt64(b) << 16 | UInt64(c) << 8 | UInt64(d)
        return NetworkAddress(family: .ipv4, high: 0, low: low, port: port)
    }

    /// An endpoint of a Unix socket.
    public static let local = NetworkAddress(family: .local, high: 0, low: 0, port: 0)

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { family == .ipv6 }

    /// Whether this is a loopback address, 127.0.0.0/8 or ::1, or a Unix socket.
    public var isLoopback: Bool {
        switch family {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        case .local: true
        }
    }

    /// The IP address without port; nil for Unix sockets.
    public var address: IPAddress? {
        switch family {
        case .ipv4: IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
        case .ipv6: IPAddress(ipv6High: high, low: low)
        case .local: nil
        }
    }

    /// The address in network byte order: 4 or 16 bytes; empty for Unix sockets.
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

    /// The address as text without port and brackets (RFC 5952 §4), followed by its scope, if any, as `%2`.
    /// `unix:` for Unix sockets.
    public var host: String {
        switch family {
        case .local: "unix:"
        // Short enough for a string without heap allocation.
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

    /// Address and port in URL syntax: `192.0.2.7:80`, `[2001:db8::1]:80`.
    public var description: String {
        switch family {
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        case .local: host
        }
    }
}
