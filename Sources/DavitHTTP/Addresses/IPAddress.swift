/// A numeric IP address. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) is converted to
/// the IPv4 address, because both identify the same host.
public struct IPAddress: Hashable, Sendable {
    /// Whether this is an IPv4 address; false for IPv6.
    public let isIPv4: Bool
    /// The address as a 128-bit number in two halves; an IPv4 address is in the last 32 bits of `low`.
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

    /// Parses an address without brackets, port, zone, or leading zeros in IPv4; returns nil for anything
    /// else.
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

    /// Parses an address with optional brackets and an optional port, which is ignored: `192.0.2.1:80`,
    /// `[2001:db8::1]:80`, `2001:db8::1` (`node` of RFC 7239 §6, and the format of `X-Forwarded-For`).
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

    /// Whether the text is empty, or a colon followed by a port of one to five digits.
    private static func isPort(_ text: borrowing Span<UInt8>) -> Bool {
        if text.isEmpty { return true }
        guard text[0] == UInt8(ascii: ":"), text.count <= 6 else { return false }
        return text.extracting(1..<text.count).decimalValue.map { $0 <= 65535 } ?? false
    }

    /// The address in the format of RFC 5952: lower case, the longest run of zero groups as `::`, without
    /// brackets.
    public var text: String {
        NetworkAddress(family: isIPv4 ? .ipv4 : .ipv6, high: high, low: low, port: 0).host
    }
}
