/// A numeric IP address. An IPv4 address that is mapped into IPv6 (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) is the IPv4
/// address: both name the same host.
public struct IPAddress: Hashable, Sendable {
    public let isIPv4: Bool
    /// The bits in the order of the network; those of an IPv4 address are the last 32 of `low`.
    package let high: UInt64
    package let low: UInt64

    package init(ipv4 bits: UInt32) {
        isIPv4 = true
        high = 0
        low = UInt64(bits)
    }

    package init(ipv6High high: UInt64, low: UInt64) {
        isIPv4 = high == 0 && low >> 32 == 0xFFFF
        self.high = high
        self.low = isIPv4 ? low & 0xFFFF_FFFF : low
    }

    /// Nil for anything but an address: no brackets, no port, no zone, no leading zeros in IPv4.
    public init?(_ text: String) {
        guard let address = text.utf8.withSpan({ IPAddress(parsing: $0) }) else { return nil }
        self = address
    }

    package init?(parsing text: borrowing Span<UInt8>) {
        if let bits = IPAddressText.ipv4(text) {
            self.init(ipv4: bits)
        } else if let (high, low) = IPAddressText.ipv6(text) {
            self.init(ipv6High: high, low: low)
        } else {
            return nil
        }
    }

    /// Parses an address that may have brackets, and a port which is dropped: `192.0.2.1:80`, `[2001:db8::1]:80`,
    /// `2001:db8::1` (`node` of RFC 7239 §6, and what stands in `X-Forwarded-For`).
    package init?(node text: borrowing Span<UInt8>) {
        if let address = IPAddress(parsing: text) {
            self = address
            return
        }
        guard let first = text.count > 0 ? text[0] : nil else { return nil }
        let end: Int
        let address: IPAddress?
        if first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = close + 1
            address = IPAddressText.ipv6(text.extracting(1..<close)).map {
                IPAddress(ipv6High: $0.high, low: $0.low)
            }
        } else {
            guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            end = colon
            address = IPAddressText.ipv4(text.extracting(0..<colon)).map { IPAddress(ipv4: $0) }
        }
        guard let address, Self.isPort(text.extracting(end..<text.count)) else { return nil }
        self = address
    }

    /// Nothing, or a colon and one to five digits.
    private static func isPort(_ text: borrowing Span<UInt8>) -> Bool {
        if text.isEmpty { return true }
        guard text[0] == UInt8(ascii: ":"), text.count <= 6 else { return false }
        return text.extracting(1..<text.count).decimalValue.map { $0 <= 65535 } ?? false
    }

    /// As RFC 5952 has it: in lower case, the longest run of zero groups as `::`, without brackets.
    public var text: String {
        NetworkAddress(family: isIPv4 ? .ipv4 : .ipv6, high: high, low: low, port: 0).host
    }
}
